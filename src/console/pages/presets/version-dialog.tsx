import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { Preset, PresetVersion } from "../../api/account-types.ts"
import { navigate } from "../../state/router.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"

type Props = {
  /** Preset of the new version; undefined for a new preset. */
  slug?: string
  /** Initial content of the version. */
  from?: Pick<PresetVersion, "config" | "system_prompt"> | null
  onClose: () => void
}

/** Creates a preset, or the next version of one. */
export function VersionDialog({ slug: known, from, onClose }: Props) {
  const [slug, setSlug] = useState(known ?? "")
  const [config, setConfig] = useState(JSON.stringify(from?.config ?? { model: "sim/echo", temperature: 0.2 }, null, 2))
  const [prompt, setPrompt] = useState(from?.system_prompt ?? "")
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const parsed = parse(config)
  const create = async (event: Event) => {
    event.preventDefault()
    if (!parsed) return
    setBusy(true)
    try {
      const body = { ...parsed, ...(prompt.trim() !== "" && { system_prompt: prompt }) }
      const workspace = workspaceId.value === null ? "" : `?workspace_id=${workspaceId.value}`
      const path = `/presets/${encodeURIComponent(slug)}/chat/completions${workspace}`
      const { data } = await api<{ data: Preset }>(path, { method: "POST", body })
      invalidate("/presets")
      toast("good", known === undefined ? `${slug} created` : "The new version is in use")
      onClose()
      navigate(`/presets/${encodeURIComponent(data.slug)}`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog
      title={known === undefined ? "New preset" : `New version of ${known}`}
      onClose={onClose}
      wide
      staysOpen={busy}
    >
      <form class="stack" onSubmit={(event) => void create(event)}>
        {known === undefined && (
          <TextField
            label="Name in calls"
            hint={`Calls name it as @preset/${slug || "support"}.`}
            value={slug}
            onChange={setSlug}
            required
            autoFocus
          />
        )}
        <TextArea
          label="Parameters"
          hint="As in a chat completion request, without messages."
          fault={parsed ? undefined : "This is not a JSON object."}
          code
          rows={8}
          value={config}
          onChange={setConfig}
        />
        <TextArea label="Instructions" rows={5} value={prompt} onChange={setPrompt} />
        <FormEnd
          fault={fault}
          action={known === undefined ? "Create preset" : "Create version"}
          busy={busy}
          disabled={!parsed || slug === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
