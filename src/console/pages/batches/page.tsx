import "./batches.css"
import { useEffect } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { Batch } from "../../api/types.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery, withQuery } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Options } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { isUnfinished, ms, stateOf, titleOf } from "./batch.ts"
import { EXAMPLE_LINE, NewBatch } from "./new-batch.tsx"
import { Progress } from "./progress.tsx"
import { usePolling } from "../../ui/hooks/use-polling.ts"
import { POLL_MS, SETTLED_AFTER_MS } from "./timing.ts"

type BatchList = { data: Batch[]; has_more: boolean; last_id: string | null }
type Row = Batch & { cost: number | undefined }

const columns: readonly Column<Row>[] = [
  {
    id: "batch",
    label: "Batch",
    width: "minmax(160px, 2fr)",
    narrow: "title",
    cell: (batch) => (
      <a class="row-link" href={`/batches/${batch.id}`} title={batch.id}>
        {titleOf(batch)}
      </a>
    ),
  },
  {
    id: "status",
    label: "Status",
    width: "minmax(130px, 1fr)",
    cell: (batch) => {
      const { tone, text } = stateOf(batch)
      return <Status tone={tone}>{text}</Status>
    },
  },
  { id: "progress", label: "Requests", width: "minmax(210px, 1.6fr)", cell: (batch) => <Progress batch={batch} /> },
  {
    id: "endpoint",
    label: "Endpoint",
    width: "minmax(120px, 1fr)",
    optional: 3,
    narrow: "hide",
    cell: ({ endpoint, provider }) => (
      <span class="truncate">
        <code class="quiet">{endpoint}</code>
        {provider !== undefined && <span class="quiet"> at {provider}</span>}
      </span>
    ),
  },
  {
    id: "cost",
    label: "Cost",
    width: "var(--money)",
    optional: 1,
    align: "right",
    narrow: "lead",
    cell: ({ cost }) => <Money value={cost} />,
  },
  {
    id: "created",
    label: "Created",
    width: "90px",
    optional: 2,
    align: "right",
    cell: ({ created_at: at }) => <Time at={ms(at)} />,
  },
]

const STATES = [
  { value: "", label: "Any status" },
  { value: "unfinished", label: "Running" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
  { value: "expired", label: "Expired" },
  { value: "cancelled", label: "Cancelled" },
]

export default function BatchesPage() {
  const status = query.value.get("status")
  const after = query.value.get("after")
  const path = withParams("/batches", { limit: 50, status, after, workspace_id: workspaceId.value })
  const list = useGet<BatchList>(path)
  const costs = useCosts(path, list.data?.data ?? [])
  usePolling(list.data?.data.some(isUnfinished) ?? false, POLL_MS, list.refresh)
  return (
    <Page
      title="Batches"
      flush
      controls={
        <>
          <select
            class="input batch-filter"
            aria-label="Status"
            value={status ?? ""}
            onChange={({ currentTarget }) => setQuery({ status: currentTarget.value, after: null })}
          >
            <Options options={STATES} value={status ?? ""} />
          </select>
          {may("batches:write") && (
            <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>
              Start a batch
            </Button>
          )}
        </>
      }
    >
      <div class="scroller">
        <Loaded query={list} shape="table">
          {({ data, has_more: hasMore, last_id: last }) =>
            data.length === 0 ? (
              <NoBatch isFiltered={status !== null} />
            ) : (
              <>
                <Table
                  label="Batches"
                  columns={columns}
                  rows={data.map((batch) => ({ ...batch, cost: costs.get(batch.id) }))}
                  rowKey={({ id }) => id}
                  href={({ id }) => `/batches/${id}`}
                />
                <p class="table-foot">
                  Newest first.
                  {after !== null && <a href={withQuery({ after: null })}>Newest</a>}
                  {hasMore && <a href={withQuery({ after: last })}>Older</a>}
                </p>
              </>
            )
          }
        </Loaded>
      </div>
      {query.value.get("new") === "1" && <NewBatch onClose={() => setQuery({ new: null })} />}
    </Page>
  )
}

/** The cost is a sum over calls: it is read once, and again when a batch has ended, not with each poll. */
function useCosts(path: string, batches: readonly Batch[]): ReadonlyMap<string, number> {
  const withCosts = `${path}&include_cost=true`
  const { data } = useGet<BatchList>(withCosts)
  const running = batches.filter(isUnfinished).length
  useEffect(() => {
    invalidate(withCosts)
    const timer = setTimeout(() => invalidate(withCosts), SETTLED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [withCosts, running])
  return new Map(data?.data.map(({ id, cost = 0 }) => [id, cost]))
}

function NoBatch({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No batch has this status">
        <a href={withQuery({ status: null, after: null })}>Show all batches</a>
      </Empty>
    )
  return (
    <Empty title="No batches in this workspace">
      <p>
        A batch runs the requests of a JSONL file in the background, as ordinary calls of your key. Start one here, or
        with <code>client.batches.create</code> of an OpenAI SDK. Each line is one request:
      </p>
      <Code label="A line of the file" text={EXAMPLE_LINE} wrap />
    </Empty>
  )
}
