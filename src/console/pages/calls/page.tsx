import "./calls.css"
import { useMemo, useState } from "preact/hooks"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import { count } from "../../format/number.ts"
import { useNames } from "../../state/names.ts"
import type { PageProps } from "../../state/paths.ts"
import { navigate, query, setQuery } from "../../state/router.ts"
import { session, workspaceId } from "../../state/session.ts"
import { useNarrow } from "../../state/screen.ts"
import { Button } from "../../ui/button.tsx"
import { Check, Search } from "../../ui/field.tsx"
import { FirstCall } from "../../ui/first-call.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Menu } from "../../ui/menu.tsx"
import { RangePicker } from "../../ui/charts/range.tsx"
import { Empty, ErrorPanel, Skeleton } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Table } from "../../ui/table.tsx"
import { callColumns, chooseColumns, chosenColumns, COLUMN_NAMES, DEFAULT_COLUMNS } from "./columns.tsx"
import {
  activeFilters,
  callHref,
  clearFilters,
  clearFiltersAndOrder,
  describeFilter,
  namedListsOf,
  listPath,
  removeFilter,
  setStatus,
} from "./filters.ts"
import { Inspector } from "./inspector.tsx"
import { type Calls, useCalls } from "./use-calls.ts"

export default function CallsPage({ params }: PageProps) {
  const id = params["id"] ?? null
  const [isPaused, setPaused] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const isNarrow = useNarrow()
  const workspace = session.value?.kind === "management" ? workspaceId.value : null
  // A range that ends now is computed when the filters change, not when a row opens.
  const search = query.value.toString()
  const path = useMemo(() => listPath(workspace), [search, workspace])
  const calls = useCalls(path, { isHeld: isPaused || isScrolled || id !== null })
  useEscape(id === null ? undefined : () => navigate(callHref(null)), [id])
  const isShort = isNarrow || id !== null
  // Rows are rendered again if their columns change.
  const columns = useMemo(() => callColumns(isShort), [isShort, chosenColumns.value, search])
  return (
    <Page
      title="Calls"
      flush
      controls={
        <>
          <LiveSwitch calls={calls} isPaused={isPaused} onPause={setPaused} />
          <ColumnMenu />
          <RangePicker fallback="24h" />
        </>
      }
    >
      <div class={`calls ${id === null ? "" : "with-inspector"}`}>
        <div class="calls-list">
          <FilterBar />
          {calls.waiting > 0 && (
            <button type="button" class="new-calls" onClick={calls.showWaiting}>
              {calls.waiting} new {calls.waiting === 1 ? "call" : "calls"}
            </button>
          )}
          <div class="scroller" onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 40)}>
            {calls.error && calls.rows.length === 0 && (
              <ErrorPanel error={calls.error} retry={calls.reload}>
                {calls.error.status === 400 && (
                  <Button size="small" onClick={clearFiltersAndOrder}>
                    Clear filters and order
                  </Button>
                )}
              </ErrorPanel>
            )}
            {calls.isLoading && !calls.error && <Skeleton lines={20} shape="table" />}
            {calls.rows.length > 0 && (
              <Table
                label="Calls"
                columns={columns}
                rows={calls.rows}
                rowKey={(call) => call.id}
                href={(call) => callHref(call.id)}
                selected={id}
                onEnd={calls.loadMore}
              />
            )}
            {!calls.isLoading && calls.rows.length === 0 && !calls.error && <NoCalls />}
            {calls.error && calls.rows.length > 0 && (
              <ErrorPanel error={calls.error} retry={calls.hasMore ? calls.loadMore : calls.reload} />
            )}
            {calls.rows.length > 0 && (
              <p class="table-foot">
                {calls.hasMore
                  ? "Older calls load as you scroll."
                  : `${count(calls.rows.length)} calls, all of the range.`}
                {calls.truncated && " This order considers the newest 20,000 calls of the range."}
              </p>
            )}
          </div>
        </div>
        {id !== null && <Inspector key={id} id={id} rows={calls.rows} />}
      </div>
    </Page>
  )
}

function LiveSwitch({
  calls,
  isPaused,
  onPause,
}: {
  calls: Calls
  isPaused: boolean
  onPause: (paused: boolean) => void
}) {
  if (!calls.isConnected) return <Status tone="off">not live</Status>
  return (
    <Button kind="quiet" icon={isPaused ? "play" : "pause"} aria-pressed={isPaused} onClick={() => onPause(!isPaused)}>
      {isPaused ? "Paused" : "Live"}
    </Button>
  )
}

function ColumnMenu() {
  const chosen = chosenColumns.value
  return (
    <span class="only-wide">
      <Menu label="Columns" text="Columns" kind="quiet">
        <div class="column-choice" onClick={(event) => event.stopPropagation()}>
          {inChosenOrder(chosen).map(({ id, name }) => (
            <div class="row between" key={id}>
              <Check
                label={name}
                checked={chosen.includes(id)}
                onChange={(isOn) => chooseColumns(isOn ? [...chosen, id] : chosen.filter((each) => each !== id))}
              />
              {chosen.includes(id) && (
                <span class="row tight">
                  <MoveButton id={id} by={-1} label={`Move ${name} to the left`} />
                  <MoveButton id={id} by={1} label={`Move ${name} to the right`} />
                </span>
              )}
            </div>
          ))}
          <Button size="small" kind="quiet" onClick={() => chooseColumns(DEFAULT_COLUMNS)}>
            Default columns
          </Button>
        </div>
      </Menu>
    </span>
  )
}

/** The columns that are shown in their order, then the others. */
function inChosenOrder(chosen: readonly string[]) {
  const shown = chosen.flatMap((id) => COLUMN_NAMES.filter((column) => column.id === id))
  return [...shown, ...COLUMN_NAMES.filter(({ id }) => !chosen.includes(id))]
}

function MoveButton({ id, by, label }: { id: string; by: -1 | 1; label: string }) {
  const chosen = chosenColumns.value
  const from = chosen.indexOf(id)
  const isLast = from + by < 0 || from + by >= chosen.length
  const move = () => {
    const others = chosen.filter((each) => each !== id)
    chooseColumns([...others.slice(0, from + by), id, ...others.slice(from + by)])
  }
  return (
    <button type="button" class="button small quiet icon-only" aria-label={label} disabled={isLast} onClick={move}>
      {by < 0 ? "↑" : "↓"}
    </button>
  )
}

const OUTCOMES = [
  { value: "failed", label: "Failed" },
  { value: "refused", label: "Refused" },
  { value: "cancelled", label: "Cancelled" },
]

function FilterBar() {
  const filters = activeFilters()
  const names = useNames(namedListsOf(filters))
  const text = query.value.get("q") ?? ""
  const status = query.value.getAll("status")
  return (
    <div class="filter-bar">
      <Search
        label="Search calls"
        placeholder="Id, model, app, user, error"
        value={text}
        onChange={(q) => setQuery({ q })}
      />
      <div class="segmented" role="group" aria-label="Outcome">
        <button type="button" aria-pressed={status.length === 0} onClick={() => setStatus(null)}>
          All
        </button>
        {OUTCOMES.map(({ value, label }) => (
          <button key={value} type="button" aria-pressed={status.includes(value)} onClick={() => setStatus(value)}>
            {label}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="button quiet"
        aria-pressed={query.value.getAll("guardrail").includes("flag")}
        onClick={() => setQuery({ guardrail: query.value.getAll("guardrail").includes("flag") ? null : "flag" })}
      >
        Flagged
      </button>
      {filters
        .filter(({ name, value }) => name !== "status" || !OUTCOMES.some((outcome) => outcome.value === value))
        .map((filter) => (
          <button
            type="button"
            key={`${filter.name} ${filter.value}`}
            class="tag filter"
            title="Remove this filter"
            onClick={() => removeFilter(filter)}
          >
            <span class="truncate" dir="auto">
              {describeFilter(filter, names)}
            </span>
            <Icon name="close" size={12} />
          </button>
        ))}
      {(filters.length > 0 || text !== "") && (
        <Button size="small" kind="quiet" onClick={clearFilters}>
          Clear
        </Button>
      )}
    </div>
  )
}

function NoCalls() {
  const isFiltered = activeFilters().length > 0 || query.value.has("q")
  if (isFiltered)
    return (
      <Empty title="No calls match in this range">
        <p>Widen the range, or remove a filter.</p>
        <Button onClick={clearFilters}>Clear the filters</Button>
      </Empty>
    )
  return (
    <Empty title="No calls in this range">
      <p>
        Try one in the <a href="/playground">playground</a>, or from a terminal:
      </p>
      <FirstCall />
    </Empty>
  )
}
