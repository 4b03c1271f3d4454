import { useState } from "preact/hooks"
import { api, type ApiError } from "../../api/client.ts"
import { invalidate, type Query, useQuery } from "../../api/query.ts"
import type { ApiKey, McpServer } from "../../api/types.ts"
import { session } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { query } from "../../state/router.ts"
import { Button } from "../../ui/button.tsx"
import { Empty, ErrorPanel, Skeleton } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Count, Money } from "../../ui/values.tsx"
import { namesOf, setTools } from "./key-tools.tsx"
import { listTools, type Tool, type ToolList } from "./list-tools.ts"
import { RANGE, type ToolUsage } from "./usage.ts"

export type ToolQuery = Query<ToolList> & { isRequested: boolean; request: () => void }

/** The server's tools, loaded on demand, since the request leaves the gateway. */
export function useTools({ slug, id, updated_at: version }: McpServer): ToolQuery {
  const [isRequested, setRequested] = useState(false)
  const key = isRequested ? `/mcp/${slug} ${id} ${version ?? ""}` : null
  const list = useQuery(key, () => listTools(slug))
  return { ...list, isRequested, request: () => (isRequested ? list.refresh() : setRequested(true)) }
}

type Row = { slug: string; name: string; tool?: Tool; price: number; usage: ToolUsage | undefined }

const columns: readonly Column<Row>[] = [
  {
    id: "name",
    label: "Tool",
    width: "minmax(150px, 1fr)",
    narrow: "title",
    cell: ({ name, tool }) => (
      <span class="row nowrap">
        <code class="truncate" title={name}>
          {name}
        </code>
        {tool?.annotations?.readOnlyHint && <span class="tag">reads only</span>}
        {tool?.annotations?.destructiveHint && <span class="tag">may destroy</span>}
      </span>
    ),
  },
  {
    id: "description",
    label: "What the server declares",
    width: "minmax(160px, 2fr)",
    cell: ({ tool }) => {
      const text = tool?.description ?? tool?.title ?? tool?.annotations?.title
      if (text === undefined) return <span class="faint">–</span>
      return (
        <span class="quiet" title={text}>
          {text}
        </span>
      )
    },
  },
  {
    id: "price",
    label: "Price",
    width: "var(--money)",
    align: "right",
    narrow: "hide",
    cell: ({ price }) => <Money value={price} />,
  },
  {
    id: "calls",
    label: "Calls",
    width: "72px",
    align: "right",
    narrow: "lead",
    narrowLabel: "calls:",
    cell: ({ slug, name, usage }) =>
      usage === undefined ? <Count value={0} /> : <a href={callsHref(slug, name)}>{<Count value={usage.calls} />}</a>,
  },
  {
    id: "cost",
    label: "Spent",
    width: "var(--money)",
    align: "right",
    narrowLabel: "spent:",
    cell: ({ usage }) => <Money value={usage?.cost ?? 0} />,
  },
]

function callsHref(slug: string, tool: string): string {
  const range = new URLSearchParams({ model: `mcp/${slug}/${tool}` })
  for (const name of ["range", "from", "to"]) {
    const value = query.value.get(name) ?? (name === "range" && !query.value.has("from") ? RANGE : null)
    if (value !== null) range.set(name, value)
  }
  return `/calls?${range}`
}

function rowsOf(server: McpServer, tools: readonly Tool[], usage: readonly ToolUsage[]): Row[] {
  const { slug, allowed_tools: allowed, tool_prices_usd: prices, price_per_call_usd: price } = server
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const names = new Set([
    ...byName.keys(),
    ...(allowed ?? []),
    ...Object.keys(prices),
    ...usage.map(({ tool }) => tool),
  ])
  return [...names].toSorted().map((name) => {
    const tool = byName.get(name)
    const used = usage.find((each) => each.tool === name)
    return { slug, name, price: prices[name] ?? price, usage: used, ...(tool && { tool }) }
  })
}

type Props = { server: McpServer; list: ToolQuery; usage: readonly ToolUsage[] | undefined }

export function Tools({ server, list, usage = [] }: Props) {
  const { slug, enabled, allowed_tools: allowed } = server
  const isElsewhere = session.value?.workspace?.id !== server.workspace_id
  const rows = rowsOf(server, list.data?.tools ?? [], usage)
  const isLoading = list.isRequested && list.isLoading
  return (
    <section class="stack tight" aria-label="Tools">
      <div class="row between">
        <h2>Tools</h2>
        {enabled && !isElsewhere && (
          <Button busy={isLoading} onClick={list.request}>
            {list.data ? "List again" : "List tools"}
          </Button>
        )}
      </div>
      {isElsewhere && (
        <p class="quiet">
          The gateway calls the server with the key of your session, which belongs to another workspace (
          {session.value?.workspace?.name ?? "none"}). Sign in with a key of this workspace to list the tools.
        </p>
      )}
      {!enabled && <p class="quiet">The server is off. Turn it on to list its tools.</p>}
      {list.isRequested && list.error && <Failure slug={slug} error={list.error} retry={list.refresh} />}
      {isLoading && rows.length === 0 && <Skeleton lines={3} />}
      {rows.length > 0 && <Table label="Tools" bounded columns={columns} rows={rows} rowKey={({ name }) => name} />}
      {rows.length === 0 && !isLoading && !list.error && (
        <Empty title={list.data ? "The server lists no tool that your key may call" : "No tool is known yet"}>
          {!list.data && <p>“List tools” requests the tools of the server and shows whether it responds.</p>}
        </Empty>
      )}
      {list.data && (
        <p class="small quiet">
          {list.data.server === "" ? "The server" : list.data.server} lists {list.data.tools.length}{" "}
          {list.data.tools.length === 1 ? "tool" : "tools"} that the key of your session may call
          {allowed !== null && ", of those allowed on the server"}.
        </p>
      )}
    </section>
  )
}

/** A server lists tools only to keys that may call them, those of administrators included. */
function Failure({ slug, error, retry }: { slug: string; error: ApiError; retry: () => void }) {
  if (error.metadata["reason"] !== "mcp_tool_denied") return <ErrorPanel error={error} retry={retry} />
  const { name, hash } = session.value?.key ?? { name: "", hash: "" }
  const allow = async () => {
    const { data } = await api<{ data: ApiKey }>(`/keys/${hash}`)
    await setTools(data, slug, [...new Set([...namesOf(data, slug), "*"])])
    invalidate("/keys")
    retry()
  }
  return (
    <div class="notice warn">
      <strong>
        The key of your session, “{name}”, may call no tool of {slug}.
      </strong>
      <span>A server lists its tools only to a key that may call them. This is in the audit log.</span>
      <div class="row">
        <Button size="small" onClick={() => attempt(allow, `${name} may call ${slug}/*.`)}>
          Allow {slug}/* for this key and list
        </Button>
      </div>
    </div>
  )
}
