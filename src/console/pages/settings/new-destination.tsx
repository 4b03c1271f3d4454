import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx"

/** What each kind needs at least. The API says what else a kind takes. */
const KINDS: readonly { value: string; label: string; config: Record<string, string> }[] = [
  {
    value: "otel-collector",
    label: "OpenTelemetry collector",
    config: { endpoint: "https://otel.example.com/v1/traces" },
  },
  { value: "webhook", label: "Webhook", config: { url: "https://example.com/calls" } },
  {
    value: "langfuse",
    label: "Langfuse",
    config: { baseUrl: "https://cloud.langfuse.com", publicKey: "pk-lf-", secretKey: "sk-lf-" },
  },
  {
    value: "s3",
    label: "S3 bucket",
    config: { bucketName: "calls", region: "eu-central-1", accessKeyId: "", secretAccessKey: "" },
  },
]

export function NewDestination({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState(KINDS[0]?.value ?? "")
  const [name, setName] = useState("")
  const [config, setConfig] = useState(JSON.stringify(KINDS[0]?.config, null, 2))
  const [isPrivate, setPrivate] = useState(false)
  const [fault, setFault] = useState<string>()
  const choose = (value: string) => {
    setKind(value)
    setConfig(JSON.stringify(KINDS.find((one) => one.value === value)?.config ?? {}, null, 2))
  }
  const create = async (event: Event) => {
    event.preventDefault()
    try {
      const body = {
        type: kind,
        name,
        config: JSON.parse(config),
        privacy_mode: isPrivate,
        ...(workspaceId.value !== null && { workspace_id: workspaceId.value }),
      }
      await api("/observability/destinations", { method: "POST", body })
      invalidate("/observability")
      toast("good", `${name} is made. Send a test call to see whether it works.`)
      onClose()
    } catch (thrown) {
      setFault(thrown instanceof SyntaxError ? "Settings: this is not valid JSON." : ApiError.of(thrown).message)
    }
  }
  return (
    <Dialog title="New destination" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void create(event)}>
        <Select label="Kind" options={KINDS} value={kind} onChange={choose} />
        <TextField label="Name" value={name} onChange={setName} required />
        <TextArea
          label="Settings"
          hint="Secrets are stored sealed and shown masked."
          code
          rows={7}
          value={config}
          onChange={setConfig}
        />
        <Check label="Do not send prompts and completions" checked={isPrivate} onChange={setPrivate} />
        <FormEnd fault={fault} action="Make destination" disabled={name.trim() === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
