import { useState } from "preact/hooks"
import { api, ApiError, withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { ApiKey, McpServer } from "../../api/types.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Check, Select, TextArea } from "../../ui/field.tsx"

/** The names of a server's tools that a key may call; `*` is all of them. */
export function namesOf({ mcp_tools: tools }: Pick<ApiKey, "mcp_tools">, slug: string): string[] {
  return (tools ?? []).filter((tool) => tool.startsWith(`${slug}/`)).map((tool) => tool.slice(slug.length + 1))
}

/** Sets the tools of one server; those of other servers stay, also if another user has just changed them. */
export async function setTools({ hash }: Pick<ApiKey, "hash">, slug: string, names: readonly string[]) {
  const { mcp_tools: tools } = (await api<{ data: ApiKey }>(`/keys/${hash}`)).data
  const others = (tools ?? []).filter((tool) => !tool.startsWith(`${slug}/`))
  const all = [...others, ...names.map((name) => `${slug}/${name}`)]
  await api(`/keys/${hash}`, { method: "PATCH", body: { mcp_tools: all.length === 0 ? null : all } })
}

type Props = {
  server: McpServer
  /** Known tool names: from the server, its record, or calls. */
  known: readonly string[]
  /** The key to change; if undefined, the user selects one. */
  apiKey?: ApiKey | undefined
  onClose: () => void
}

export function KeyToolsDialog({ server: { slug, workspace_id: workspace }, known, apiKey, onClose }: Props) {
  const list = useAll<ApiKey>(apiKey ? null : withParams("/keys", { workspace_id: workspace }))
  const keys = apiKey ? [apiKey] : (list.data?.data ?? [])
  const [hash, setHash] = useState(apiKey?.hash ?? "")
  const [names, setNames] = useState<readonly string[]>(apiKey ? namesOf(apiKey, slug) : ["*"])
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const isAll = names.includes("*")
  const key = keys.find((each) => each.hash === hash)
  const total = list.data?.total_count ?? 0
  const toggle = (name: string) => (isOn: boolean) =>
    setNames((before) => [...before.filter((each) => each !== name), ...(isOn ? [name] : [])])
  const save = async (event: Event) => {
    event.preventDefault()
    if (!key) return
    setBusy(true)
    try {
      const chosen = isAll ? ["*"] : [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))]
      await setTools(key, slug, chosen)
      invalidate("/keys")
      toast("good", `${key.name} may call ${isAll ? "every tool" : chosen.join(", ") || "no tool"} of ${slug}.`)
      onClose()
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  const others = names.filter((name) => name !== "*" && !known.includes(name))
  return (
    <Dialog
      title={apiKey ? `Tools of ${slug} for “${apiKey.name}”` : `Allow a key to use ${slug}`}
      onClose={onClose}
      staysOpen={busy}
    >
      <form class="stack bare" onSubmit={(event) => void save(event)}>
        {!apiKey && (
          <Select
            label="Key"
            hint={total > keys.length ? `The newest ${keys.length} of ${total} keys.` : undefined}
            value={hash}
            onChange={setHash}
            options={[
              { value: "", label: "Choose a key" },
              ...keys.map((each) => ({ value: each.hash, label: `${each.name} (${each.label})` })),
            ]}
          />
        )}
        <Check
          label={`Every tool of ${slug}, also those that it gets later`}
          checked={isAll}
          onChange={(isOn) => setNames(isOn ? ["*"] : [])}
        />
        {!isAll && (
          <>
            {known.length > 0 && (
              <fieldset class="tool-checks" aria-label="Tools">
                {known.map((name) => (
                  <Check
                    key={name}
                    label={<code>{name}</code>}
                    checked={names.includes(name)}
                    onChange={toggle(name)}
                  />
                ))}
              </fieldset>
            )}
            <TextArea
              label={known.length > 0 ? "Other tools" : "Tools"}
              hint="One per line, case-sensitive."
              value={others.join("\n")}
              onChange={(text) => setNames([...names.filter((name) => known.includes(name)), ...text.split("\n")])}
              rows={2}
              code
            />
          </>
        )}
        <p class="small quiet">Guardrails of the key and the tools allowed on the server narrow this further.</p>
        <FormEnd fault={fault} action="Save" busy={busy} disabled={!key} onClose={onClose} />
      </form>
    </Dialog>
  )
}
