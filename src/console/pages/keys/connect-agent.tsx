import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { List, Model } from "../../api/types.ts"
import { hourMinute } from "../../format/time.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Select, TextField } from "../../ui/field.tsx"
import { ModelPicker } from "../../ui/model-picker.tsx"
import { ErrorPanel } from "../../ui/states.tsx"

const CLIENTS = [
  { value: "codex", label: "Codex" },
  { value: "claude", label: "Claude Code" },
  { value: "gemini", label: "Gemini CLI" },
  { value: "opencode", label: "opencode" },
  { value: "qwen", label: "Qwen Code" },
  { value: "cursor", label: "Cursor" },
]

type Link = { url: string; command: string; expires_at: string; client: string }

/** Creates a one-time link for the key with this secret. */
export function ConnectAgent({ secret }: { secret: string }) {
  const models = useGet<List<Model>>("/models")
  const [client, setClient] = useState("codex")
  const [model, setModel] = useState<string | null>(null)
  const [link, setLink] = useState<Link>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const choose = (change: () => void) => {
    change()
    setLink(undefined)
  }
  const create = async () => {
    setBusy(true)
    try {
      const body = { client, key: secret, model }
      setLink((await api<{ data: Link }>("/connect-links", { method: "POST", body })).data)
      setError(undefined)
    } catch (thrown) {
      setLink(undefined)
      setError(ApiError.fromThrown(thrown))
    }
    setBusy(false)
  }
  return (
    <div class="stack tight">
      <p class="quiet">A one-time link gives this key to a coding tool on another machine and writes its settings.</p>
      <div class="row fields">
        <Select label="Agent" options={CLIENTS} value={client} onChange={(value) => choose(() => setClient(value))} />
        <div class="field">
          <span class="label">Model</span>
          <ModelPicker
            models={models.data?.data ?? []}
            value={model ?? "the agent's usual one"}
            label="Model of the agent"
            onChoose={(value) => choose(() => setModel(value))}
          />
        </div>
        <Button busy={busy} disabled={secret === ""} onClick={() => create()}>
          Create a link
        </Button>
      </div>
      {error && <ErrorPanel error={error} />}
      {link && <Created link={link} />}
    </div>
  )
}

function Created({ link }: { link: Link }) {
  const { origin } = new URL(link.url)
  // Behind a proxy that terminates TLS, the gateway sees another scheme than the browser.
  const seen = (text: string) => text.replaceAll(origin, location.origin)
  const hasCommand = link.client !== "cursor"
  return (
    <div class="stack tight" role="status">
      {hasCommand && <p>Run this on the developer's machine. It needs Node 20 or newer.</p>}
      {hasCommand && <Code label="Command" text={seen(link.command)} wrap />}
      <p>
        {hasCommand
          ? "Or send the link, which shows the same command:"
          : "Open or send the link, which shows the settings:"}
      </p>
      <Code label="Link" text={seen(link.url)} wrap />
      <p class="small quiet">
        It works once, until {hourMinute(Date.parse(link.expires_at))}. Opening it does not use it.
      </p>
    </div>
  )
}

/** For an existing key: the user enters the secret, which the gateway does not store. `label`: the masked key. */
export function ConnectDialog({ name, label, onClose }: { name: string; label: string; onClose: () => void }) {
  const [secret, setSecret] = useState("")
  const [start = "", end = ""] = label.split("...")
  const isOther = secret !== "" && !(secret.startsWith(start) && secret.endsWith(end))
  return (
    <Dialog title={`Connect an agent to “${name}”`} onClose={onClose} wide>
      <TextField
        label="Secret of the key"
        type="password"
        value={secret}
        onChange={(value) => setSecret(value.trim())}
        fault={isOther ? `is not the secret of ${label}` : undefined}
        hint="The gateway keeps only its hash. If it is lost, rotate the key."
        placeholder={label}
        autoFocus
      />
      <ConnectAgent secret={isOther ? "" : secret} />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}
