import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { Call } from "../../api/types.ts"
import { compact } from "../../format/number.ts"
import { query, setQuery } from "../../state/router.ts"
import { Status, type Tone } from "../../ui/status.tsx"
import type { Column } from "../../ui/table.tsx"
import { Count, Duration, Money, Time } from "../../ui/values.tsx"
import { addFilter, callHref, type FilterName } from "./filters.ts"

export function toneOf({ outcome }: Pick<Call, "outcome">): Tone {
  return outcome === "ok" ? "good" : outcome === "cancelled" ? "off" : outcome === "refused" ? "warn" : "bad"
}

/** The status, and how the call ended if the status does not show it. */
export function describeOutcome({ outcome, status, ending }: Pick<Call, "outcome" | "status" | "ending">): string {
  if (outcome === "ok") return "ok"
  if (outcome === "refused" || outcome === "cancelled") return outcome === "refused" ? `${status} refused` : "cancelled"
  return ["cut", "stalled", "timeout"].includes(ending) ? `${status} ${ending}` : String(status)
}

/** A value that becomes a filter: a click shows only it, Alt-click excludes it. */
export function FilterValue({
  name,
  value,
  children,
}: {
  name: FilterName
  value: string | null
  children?: ComponentChildren
}) {
  if (value === null || value === "") return <span class="faint">–</span>
  return (
    <button
      type="button"
      class="filter-value"
      title={`${value} · click: only this, Alt-click: without this`}
      onClick={(event) => addFilter(name, value, event.altKey)}
    >
      {children ?? value}
    </button>
  )
}

const SORTABLE: Record<string, string> = {
  time: "time",
  first: "first_token",
  duration: "duration",
  tokens: "tokens",
  cost: "cost",
}

function sortOf(column: string): Column<Call>["sort"] {
  const name = SORTABLE[column]
  if (name === undefined) return undefined
  const sort = query.value.get("sort") ?? "-time"
  const direction = sort === name ? "asc" : sort === `-${name}` ? "desc" : undefined
  // Newest first is the only order by time.
  const next = direction === "desc" && name !== "time" ? name : `-${name}`
  return { direction, onSort: () => setQuery({ sort: next === "-time" ? null : next }) }
}

const ALL: readonly (Omit<Column<Call>, "sort"> & { name: string })[] = [
  {
    id: "time",
    name: "Time",
    label: "Time",
    width: "84px",
    narrow: "lead",
    cell: ({ id, ended_at }) => (
      <a class="row-link" href={callHref(id)}>
        <Time at={ended_at} />
        <span class="visually-hidden">, call {id}</span>
      </a>
    ),
  },
  {
    id: "status",
    name: "Status",
    label: "Status",
    width: "104px",
    cell: (call) => (
      <FilterValue name="status" value={call.outcome === "failed" ? String(call.status) : call.outcome}>
        <Status tone={toneOf(call)} title={call.error?.message ?? call.ending}>
          {describeOutcome(call)}
        </Status>
      </FilterValue>
    ),
  },
  {
    id: "model",
    name: "Model",
    label: "Model",
    width: "minmax(150px, 2fr)",
    narrow: "title",
    cell: ({ model }) => <FilterValue name="model" value={model} />,
  },
  {
    id: "provider",
    name: "Provider",
    label: "Provider",
    width: "minmax(90px, 1fr)",
    optional: 4,
    cell: ({ provider }) => <FilterValue name="provider" value={provider} />,
  },
  {
    id: "key",
    name: "Key",
    label: "Key",
    width: "minmax(100px, 1.2fr)",
    optional: 2,
    narrow: "hide",
    cell: ({ key }) => (
      <FilterValue name="key" value={key.hash}>
        {key.name ?? key.label ?? key.hash.slice(0, 8)}
      </FilterValue>
    ),
  },
  {
    id: "app",
    name: "App",
    label: "App",
    width: "minmax(70px, 1fr)",
    optional: 6,
    narrow: "hide",
    cell: ({ app }) => <FilterValue name="app" value={app} />,
  },
  {
    id: "user",
    name: "User",
    label: "User",
    width: "minmax(70px, 1fr)",
    optional: 7,
    narrow: "hide",
    cell: ({ user }) => <FilterValue name="user" value={user} />,
  },
  {
    id: "session",
    name: "Session",
    label: "Session",
    width: "minmax(70px, 1fr)",
    optional: 8,
    narrow: "hide",
    cell: ({ session_id }) => <FilterValue name="session_id" value={session_id} />,
  },
  {
    id: "first",
    name: "First token",
    label: "First token",
    width: "84px",
    optional: 5,
    align: "right",
    narrow: "hide",
    cell: ({ first_token_ms }) => <Duration ms={first_token_ms} />,
  },
  {
    id: "duration",
    name: "Duration",
    label: "Duration",
    width: "76px",
    optional: 1,
    align: "right",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />,
  },
  {
    id: "tokens",
    name: "Tokens, in → out",
    label: "Tokens",
    width: "112px",
    optional: 3,
    align: "right",
    cell: ({ tokens }) => (
      <span class="num">
        {compact(tokens.prompt)} → {compact(tokens.completion)}
      </span>
    ),
  },
  {
    id: "cached",
    name: "Cached tokens",
    label: "Cached",
    width: "64px",
    optional: 9,
    align: "right",
    narrow: "hide",
    cell: ({ tokens }) => (tokens.cached === 0 ? <span class="faint">–</span> : <Count value={tokens.cached} />),
  },
  {
    id: "cost",
    name: "Cost",
    label: "Cost",
    width: "var(--money)",
    align: "right",
    cell: ({ cost, byok_cost }) => <Money value={cost + byok_cost} />,
  },
]

const NAME = "console.calls.columns"
export const DEFAULT_COLUMNS: readonly string[] = [
  "time",
  "status",
  "model",
  "provider",
  "key",
  "app",
  "first",
  "duration",
  "tokens",
  "cost",
]
export const COLUMN_NAMES = ALL.map(({ id, name }) => ({ id, name }))

function storedColumns(): readonly string[] {
  const stored = localStorage
    .getItem(NAME)
    ?.split(",")
    .filter((id) => ALL.some((column) => column.id === id))
  return stored && stored.length > 0 ? stored : DEFAULT_COLUMNS
}

/** Ids of the columns that are shown, in their order. */
export const chosenColumns = signal(storedColumns())

export function chooseColumns(ids: readonly string[]): void {
  chosenColumns.value = ids.includes("time") ? ids : ["time", ...ids]
  localStorage.setItem(NAME, chosenColumns.value.join(","))
}

export function callColumns(isNarrow: boolean): Column<Call>[] {
  const isChosen = chosenColumns.value.join() !== DEFAULT_COLUMNS.join()
  const ids = isNarrow ? ["time", "status", "model", "duration", "cost"] : chosenColumns.value
  return ids.flatMap((id) => {
    const column = ALL.find((each) => each.id === id)
    if (!column) return []
    const sort = sortOf(id)
    // Columns that a user has chosen are all shown.
    return [{ ...column, ...(isChosen && { optional: 0 }), ...(sort && { sort }) }]
  })
}
