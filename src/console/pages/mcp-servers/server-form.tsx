import { useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { McpServer } from "../../api/types.ts"
import { navigate } from "../../state/router.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Check, TextArea, TextField } from "../../ui/field.tsx"
import { type Draft, draftOf, faultsOf, toBody } from "./fields.ts"

/** Adds a server, or changes `server`. */
export function ServerForm({ server, onClose }: { server?: McpServer; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(server))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const set = (field: keyof Draft) => (value: string | boolean) => setDraft((before) => ({ ...before, [field]: value }))
  const faults = faultsOf(draft)
  const isReady = Object.keys(faults).length === 0 && draft.slug !== "" && draft.url !== ""
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await send(draft, server)
      invalidate("/mcp-servers", "/mcp/")
      onClose()
      if (server) return toast("good", `${draft.slug} is saved. New calls follow it.`)
      toast("good", `${draft.slug} is added. List its tools to check that it responds.`)
      navigate(`/mcp-servers/${draft.slug}`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={server ? `Edit ${server.slug}` : "Add an MCP server"} onClose={onClose} staysOpen={busy}>
      <form class="stack bare" onSubmit={(event) => void save(event)}>
        <TextField
          label="URL"
          hint="Its streamable HTTP endpoint."
          value={draft.url}
          onChange={set("url")}
          fault={faults.url}
          placeholder="https://mcp.example.com/mcp"
          required
          code
          autoFocus
        />
        {!server && (
          <TextField
            label="Slug"
            hint={`Clients call /api/v1/mcp/${draft.slug === "" ? "search" : draft.slug}. It cannot be changed later.`}
            value={draft.slug}
            onChange={set("slug")}
            fault={faults.slug}
            placeholder="search"
            required
            code
          />
        )}
        <TextField label="Name" value={draft.name} onChange={set("name")} placeholder={draft.slug || "Search"} />
        <TextArea
          label="Headers"
          hint={
            server
              ? "One per line. A masked value stays as it is; new headers end the sessions of clients."
              : "One per line, sent with every request. They are stored sealed and shown masked."
          }
          value={draft.headers}
          onChange={set("headers")}
          fault={faults.headers}
          placeholder="Authorization: Bearer token-of-the-server"
          rows={2}
          code
        />
        <ToolFields draft={draft} set={set} isNew={server === undefined} />
        <FormEnd
          fault={fault}
          action={server ? "Save" : "Add the server"}
          busy={busy}
          disabled={!isReady}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

type ToolFieldsProps = {
  draft: Draft
  set: (field: keyof Draft) => (value: string | boolean) => void
  isNew: boolean
}

/** Allowed tools, their prices, and the timeout. */
function ToolFields({ draft, set, isNew }: ToolFieldsProps) {
  const faults = faultsOf(draft)
  return (
    <>
      <Check label="All tools can be allowed" checked={draft.isOpen} onChange={set("isOpen")} />
      {!draft.isOpen && (
        <TextArea
          label="Tools that can be allowed"
          hint="One per line. Without any, no key can call the server."
          value={draft.tools}
          onChange={set("tools")}
          rows={3}
          code
        />
      )}
      <TextField
        label="Price per call, USD"
        value={draft.price}
        onChange={set("price")}
        fault={faults.price}
        placeholder="0"
      />
      <details class="fold" open={!isNew && (draft.prices !== "" || draft.seconds !== "60")}>
        <summary>Prices of single tools, timeout</summary>
        <div class="stack">
          <TextArea
            label="Prices of individual tools, USD"
            hint="One per line, instead of the price above."
            value={draft.prices}
            onChange={set("prices")}
            fault={faults.prices}
            placeholder="query 0.002"
            rows={2}
            code
          />
          <TextField
            label="Timeout, seconds"
            type="number"
            min={1}
            max={600}
            step={1}
            value={draft.seconds}
            onChange={set("seconds")}
            fault={faults.seconds}
          />
        </div>
      </details>
    </>
  )
}

function send(draft: Draft, server: McpServer | undefined): Promise<unknown> {
  const body = toBody(draft)
  // Only changed fields are sent: headers or a URL in the body end the sessions of clients.
  if (server) return api(serverPath(server), { method: "PATCH", body: changesOf(toBody(draftOf(server)), body) })
  const workspace = workspaceId.value === null ? {} : { workspace_id: workspaceId.value }
  return api("/mcp-servers", { method: "POST", body: { ...body, slug: draft.slug, ...workspace } })
}

export function serverPath({ slug, workspace_id: workspace }: Pick<McpServer, "slug" | "workspace_id">): string {
  return withParams(`/mcp-servers/${slug}`, { workspace_id: workspace })
}
