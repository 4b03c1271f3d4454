import "./mcp-servers.css"
import { withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import type { McpServer } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { matches } from "../../format/search.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Search } from "../../ui/field.tsx"
import { currentRange, RangePicker } from "../../ui/charts/range.tsx"
import { Empty, Loaded, NoMatch } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Count, Money } from "../../ui/values.tsx"
import { ServerForm } from "./server-form.tsx"
import { RANGE, type ToolUsage, useToolUsage } from "./usage.ts"

export type ServerRow = McpServer & { calls: number | undefined; cost: number | undefined }

const columns: readonly Column<ServerRow>[] = [
  {
    id: "slug",
    label: "Server",
    width: "minmax(160px, 1.6fr)",
    narrow: "title",
    cell: ({ slug, name }) => (
      <a class="row-link" href={`/mcp-servers/${slug}`} title={name}>
        {slug} {name !== slug && <span class="quiet">{name}</span>}
      </a>
    ),
  },
  {
    id: "state",
    label: "State",
    width: "70px",
    cell: ({ enabled }) => <Status tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Status>,
  },
  {
    id: "url",
    label: "URL",
    width: "minmax(160px, 2.4fr)",
    optional: 1,
    cell: ({ url }) => (
      <span class="mono quiet" title={url}>
        {url}
      </span>
    ),
  },
  {
    id: "protocol",
    label: "Protocol",
    width: "124px",
    optional: 4,
    narrow: "hide",
    cell: () => <span class="quiet">Streamable HTTP</span>,
  },
  {
    id: "tools",
    label: "Tools for keys",
    width: "minmax(90px, 1fr)",
    optional: 3,
    narrow: "hide",
    cell: (row) => toolsOf(row),
  },
  {
    id: "calls",
    label: "Calls",
    width: "72px",
    align: "right",
    narrow: "lead",
    narrowLabel: "calls:",
    cell: ({ calls }) => <Count value={calls} />,
  },
  {
    id: "cost",
    label: "Spent",
    width: "var(--money)",
    optional: 2,
    align: "right",
    narrowLabel: "spent:",
    cell: ({ cost }) => <Money value={cost} />,
  },
]

function toolsOf({ allowed_tools: tools }: McpServer) {
  if (tools === null) return "all"
  if (tools.length === 0) return <span class="faint">none</span>
  return <span title={tools.join(", ")}>{tools.length === 1 ? tools[0] : `${count(tools.length)} tools`}</span>
}

function rowsOf(servers: readonly McpServer[], usage: readonly ToolUsage[] | undefined): ServerRow[] {
  return servers.map((server) => {
    const tools = usage?.filter(({ slug }) => slug === server.slug)
    const sum = (field: (each: ToolUsage) => number) => tools?.reduce((total, each) => total + field(each), 0)
    return { ...server, calls: sum(({ calls }) => calls), cost: sum(({ cost }) => cost) }
  })
}

/** A workspace has at most as many servers as one page of the API: the filter reads all of them. */
export default function McpServersPage() {
  const list = useAll<McpServer>(withParams("/mcp-servers", { workspace_id: workspaceId.value }))
  const usage = useToolUsage()
  const text = query.value.get("q") ?? ""
  return (
    <Page
      title="MCP servers"
      flush
      controls={
        <>
          <Search label="Filter MCP servers" value={text} onChange={(q) => setQuery({ q })} />
          <RangePicker fallback={RANGE} />
          {may("mcp-servers:write") && (
            <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>
              Add a server
            </Button>
          )}
        </>
      }
    >
      <div class="scroller">
        <Loaded query={list} shape="table">
          {({ data, total_count: total = data.length }) => {
            if (total === 0) return <NoServer />
            const rows = rowsOf(
              data.filter(({ slug, name, url }) => matches(text, `${slug} ${name} ${url}`)),
              usage.data,
            )
            if (rows.length === 0) return <NoMatch what="MCP server" text={text} />
            return (
              <>
                <Table
                  label="MCP servers"
                  columns={columns}
                  rows={rows}
                  rowKey={({ slug }) => slug}
                  href={({ slug }) => `/mcp-servers/${slug}`}
                />
                <p class="table-foot">
                  {count(total)} {total === 1 ? "server" : "servers"}. Calls and spend:{" "}
                  {currentRange(RANGE).label.toLowerCase()}.
                </p>
              </>
            )
          }}
        </Loaded>
      </div>
      {query.value.get("new") === "1" && <ServerForm onClose={() => setQuery({ new: null })} />}
    </Page>
  )
}

function NoServer() {
  return (
    <Empty title="No MCP servers in this workspace">
      <p>
        Add the URL of an MCP server. Clients reach it through the gateway with their own key: its secrets stay here,
        each key calls only the tools that you allow, and each call is priced and recorded.
      </p>
      <ol class="steps">
        <li>Add a server with its URL and the headers that it needs.</li>
        <li>List its tools to check that it responds.</li>
        <li>Allow tools for a key. Until then no key can call any.</li>
      </ol>
    </Empty>
  )
}
