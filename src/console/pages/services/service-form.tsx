import { useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
import { api, ApiError, withParams } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { PassthroughService } from "../../api/types.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"
import { type Draft, draftOf, faultsOf, toBody } from "./fields.ts"

/** Adds a service, or changes `service`. */
export function ServiceForm({ service, onClose }: { service?: PassthroughService; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(service))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const set = (field: keyof Draft) => (value: string) => setDraft((before) => ({ ...before, [field]: value }))
  const faults = faultsOf(draft)
  const isComplete = draft.slug !== "" && draft.baseUrl !== "" && draft.rules.trim() !== ""
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await send(draft, service)
      invalidate("/passthrough-services")
      toast("good", service ? `${draft.slug} is saved. New requests follow it.` : `${draft.slug} is added.`)
      onClose()
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={service ? `Edit ${service.slug}` : "Add a service"} onClose={onClose} staysOpen={busy}>
      <form class="stack bare" onSubmit={(event) => void save(event)}>
        <TextField
          label="Base URL"
          hint="Paths of the rules are appended to it."
          value={draft.baseUrl}
          onChange={set("baseUrl")}
          fault={faults.baseUrl}
          placeholder="https://api.example.com"
          required
          code
          autoFocus
        />
        {!service && (
          <TextField
            label="Slug"
            hint={`Clients call /api/v1/passthrough/${draft.slug === "" ? "search" : draft.slug}/… It cannot be changed later.`}
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
          label="Forwarded requests"
          hint="One per line: methods (none: all), path with * for anything, price in USD. The first match applies."
          value={draft.rules}
          onChange={set("rules")}
          fault={faults.rules}
          placeholder={"GET /v1/search* 0.005\nPOST,DELETE /v1/jobs/* 0.02"}
          rows={3}
          code
        />
        <TextArea
          label="Headers"
          hint={
            service
              ? "One per line. A masked value stays as it is; another host needs the values again."
              : "One per line, added to every request. They are stored sealed and shown masked."
          }
          value={draft.headers}
          onChange={set("headers")}
          fault={faults.headers}
          placeholder="Authorization: Bearer token-of-the-service"
          rows={2}
          code
        />
        <MoreFields draft={draft} set={set} />
        <FormEnd
          fault={fault}
          action={service ? "Save" : "Add the service"}
          busy={busy}
          disabled={!isComplete || Object.keys(faults).length > 0}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

type MoreProps = { draft: Draft; set: (field: keyof Draft) => (value: string) => void }

function MoreFields({ draft, set }: MoreProps) {
  const faults = faultsOf(draft)
  return (
    <details class="fold" open={draft.query !== "" || draft.seconds !== "60"}>
      <summary>Query parameters, timeout</summary>
      <div class="stack">
        <TextArea
          label="Query parameters"
          hint="One per line, added to every request. Stored encrypted."
          value={draft.query}
          onChange={set("query")}
          fault={faults.query}
          placeholder="api_key: token-of-the-service"
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
  )
}

function send(draft: Draft, service: PassthroughService | undefined): Promise<unknown> {
  const body = toBody(draft)
  if (service) return api(servicePath(service), { method: "PATCH", body: changesOf(toBody(draftOf(service)), body) })
  const workspace = workspaceId.value === null ? {} : { workspace_id: workspaceId.value }
  return api("/passthrough-services", { method: "POST", body: { ...body, slug: draft.slug, ...workspace } })
}

export function servicePath({ slug, workspace_id: workspace }: PassthroughService): string {
  return withParams(`/passthrough-services/${slug}`, { workspace_id: workspace })
}
