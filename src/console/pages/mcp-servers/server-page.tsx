import "./mcp-servers.css"
import { useState } from "preact/hooks"
import { api, withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { McpServer } from "../../api/types.ts"
import { useEscape } from "../../shell/keyboard.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { navigate } from "../../state/router.ts"
import { may, workspaceId } from "../../state/session.ts"
import { attemptToggle } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { currentRange, RangePicker } from "../../ui/charts/range.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Count, Money, Time } from "../../ui/values.tsx"
import { DeleteDialog } from "./delete-dialog.tsx"
import { ServerForm, serverPath } from "./server-form.tsx"
import { ServerKeys } from "./server-keys.tsx"
import { Tools, useTools } from "./tools.tsx"
import { RANGE, useToolUsage } from "./usage.ts"

type OpenDialog = "edit" | "delete" | null

export default function McpServerPage({ params }: PageProps) {
  const slug = params["slug"] ?? ""
  const query = useGet<{ data: McpServer }>(
    withParams(`/mcp-servers/${encodeURIComponent(slug)}`, { workspace_id: workspaceId.value }),
  )
  const [dialog, setDialog] = useState<OpenDialog>(null)
  useEscape(() => navigate("/mcp-servers"), [])
  const server = query.data?.data
  return (
    <Page
      title={server?.name ?? slug}
      crumb={<a href="/mcp-servers">MCP servers</a>}
      controls={
        <>
          <RangePicker fallback={RANGE} />
          {server && may("mcp-servers:write") && (
            <>
              <Button onClick={() => setDialog("edit")}>Edit</Button>
              <Button onClick={() => toggle(server)}>{server.enabled ? "Turn off" : "Turn on"}</Button>
              <Button kind="danger" onClick={() => setDialog("delete")}>
                Delete
              </Button>
            </>
          )}
        </>
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <>
            <Content key={data.id} server={data} />
            {dialog === "edit" && <ServerForm server={data} onClose={() => setDialog(null)} />}
            {dialog === "delete" && <DeleteDialog server={data} onClose={() => setDialog(null)} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

async function toggle(server: McpServer): Promise<void> {
  const { slug, enabled } = server
  const change = async (isOn: boolean) => {
    await api(serverPath(server), { method: "PATCH", body: { enabled: isOn } })
    invalidate("/mcp-servers")
  }
  await attemptToggle(!enabled, change, (isOn) => (isOn ? `${slug} is on.` : `${slug} is off: clients get 404.`))
}

function Content({ server }: { server: McpServer }) {
  const usage = useToolUsage()
  const used = usage.data?.filter(({ slug }) => slug === server.slug)
  const list = useTools(server)
  const listed = list.data?.tools.map(({ name }) => name) ?? []
  const known = [...new Set([...listed, ...(server.allowed_tools ?? []), ...(used ?? []).map(({ tool }) => tool)])]
  return (
    <div class="read stack wide">
      <Facts server={server} protocol={list.data?.protocol} usage={used} />
      <Tools server={server} list={list} usage={used} />
      <ServerKeys server={server} known={known.toSorted()} />
      <section class="stack tight">
        <h2>Connect a client</h2>
        <p class="quiet">With a gateway key that may call a tool of this server, over streamable HTTP:</p>
        <Code label="Address for clients" text={`${location.origin}/api/v1/mcp/${server.slug}`} />
      </section>
    </div>
  )
}

type Usage = { calls: number; cost: number }
type FactsProps = { server: McpServer; protocol: string | undefined; usage: readonly Usage[] | undefined }

function Facts({ server, protocol, usage }: FactsProps) {
  const { enabled, url, headers, price_per_call_usd: price, timeout_seconds: seconds } = server
  const calls = usage?.reduce((sum, each) => sum + each.calls, 0)
  const cost = usage?.reduce((sum, each) => sum + each.cost, 0)
  const names = Object.keys(headers)
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <Status tone={enabled ? "good" : "off"}>{enabled ? "on" : "off: clients get 404"}</Status>
      </dd>
      <dt>URL</dt>
      <dd class="mono">{url}</dd>
      <dt>Headers</dt>
      <dd>{names.length === 0 ? <span class="faint">none</span> : `${names.join(", ")} (stored sealed)`}</dd>
      <dt>Protocol</dt>
      <dd>Streamable HTTP{protocol !== undefined && `, revision ${protocol}`}</dd>
      <dt>Price of a call</dt>
      <dd>
        <Money value={price} />
      </dd>
      <dt>Timeout</dt>
      <dd>{seconds} s</dd>
      <dt>{currentRange(RANGE).label}</dt>
      <dd>
        <Count value={calls} /> calls, <Money value={cost} /> spent
      </dd>
      <dt>Changed</dt>
      <dd>
        <Time at={server.updated_at ?? server.created_at} />
      </dd>
    </dl>
  )
}
