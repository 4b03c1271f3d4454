import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Check, Select, TextField } from "../../ui/field.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"

const TYPES = [
  { value: "slack", label: "Slack" },
  { value: "email", label: "E-mail" },
  { value: "webhook", label: "Webhook" },
] as const
const MAILERS = [
  { value: "resend", label: "Resend" },
  { value: "postmark", label: "Postmark" },
  { value: "sendgrid", label: "SendGrid" },
  { value: "mailgun", label: "Mailgun" },
] as const

type Draft = Record<"type" | "name" | "url" | "provider" | "apiKey" | "from" | "to" | "domain", string>

const EMPTY: Draft = { type: "slack", name: "", url: "", provider: "resend", apiKey: "", from: "", to: "", domain: "" }

function configOf({ type, url, provider, apiKey, from, to, domain }: Draft): Record<string, unknown> {
  if (type !== "email") return { url }
  const recipients = to.split(/[\s,;]+/).filter((address) => address !== "")
  return { provider, api_key: apiKey, from, to: recipients, ...(provider === "mailgun" && { domain }) }
}

export function NewChannel({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY)
  const [isForAll, setForAll] = useState(true)
  const [secret, setSecret] = useState<string>()
  const set = (field: keyof Draft) => (value: string) => setDraft((before) => ({ ...before, [field]: value }))
  const { type, name, provider } = draft
  const { busy, error, submit } = useSubmit(async () => {
    const body = {
      type,
      name,
      config: configOf(draft),
      all_workspaces: isForAll,
      ...(workspaceId.value !== null && { workspace_id: workspaceId.value }),
    }
    const { data } = await api<{ data: { config: Record<string, unknown> } }>("/alerts/channels", {
      method: "POST",
      body,
    })
    invalidate("/alerts")
    if (type === "webhook") return setSecret(String(data.config["signing_secret"]))
    toast("good", `${name} receives alerts. Send a test to see whether it works.`)
    onClose()
  })
  if (secret !== undefined) {
    return (
      <Dialog title="Signing secret" onClose={onClose} staysOpen>
        <p>The receiver checks the signature of each alert with it. It is not shown again.</p>
        <Code text={secret} />
        <footer>
          <Button kind="primary" onClick={onClose}>
            I have stored it
          </Button>
        </footer>
      </Dialog>
    )
  }
  return (
    <Dialog title="New alert channel" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <Select label="Type" options={TYPES} value={type} onChange={set("type")} />
        <TextField label="Name" value={name} onChange={set("name")} placeholder="#llm-costs" required />
        {type === "email" ? (
          <>
            <Select label="Mailer" options={MAILERS} value={provider} onChange={set("provider")} />
            <TextField label="API key" type="password" value={draft.apiKey} onChange={set("apiKey")} required />
            {provider === "mailgun" && (
              <TextField
                label="Domain"
                value={draft.domain}
                onChange={set("domain")}
                placeholder="mg.example.com"
                required
              />
            )}
            <TextField
              label="From"
              value={draft.from}
              onChange={set("from")}
              placeholder="gateway@example.com"
              required
            />
            <TextField label="To" hint="Separate addresses by commas." value={draft.to} onChange={set("to")} required />
          </>
        ) : (
          <TextField
            label="URL"
            hint={type === "slack" ? "URL of an incoming webhook." : "Alerts are sent as JSON and signed."}
            value={draft.url}
            onChange={set("url")}
            placeholder={type === "slack" ? "https://hooks.slack.com/services/…" : "https://example.com/alerts"}
            required
            code
          />
        )}
        <Check label="Alerts of all workspaces" checked={isForAll} onChange={setForAll} />
        <FormEnd
          fault={error?.message}
          action="Create channel"
          busy={busy}
          disabled={name.trim() === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
