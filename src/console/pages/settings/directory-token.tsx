import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import type { CreatedDirectory, Directory } from "../../api/account-types.ts"
import { invalidate } from "../../api/query.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Select } from "../../ui/field.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { PullFields } from "./pull-fields.tsx"

type Props = { directory: Directory; onReplaced: (directory: CreatedDirectory) => void; onClose: () => void }

/** Replaces the token that a directory pushes with, or changes the URL and token that it is pulled with. */
export function ChangeToken(props: Props) {
  return props.directory.pull ? <ChangePull {...props} /> : <ReplaceToken {...props} />
}

/** In seconds. */
const KEPT = [
  { value: "0", label: "Reject it at once" },
  { value: "3600", label: "Accept it for an hour" },
  { value: "86400", label: "Accept it for a day" },
  { value: "604800", label: "Accept it for a week" },
]

function ReplaceToken({ directory: { id, name }, onReplaced, onClose }: Props) {
  const [kept, setKept] = useState("3600")
  const { busy, error, submit } = useSubmit(async () => {
    const body = { keep_previous_seconds: Number(kept) }
    const { data } = await api<{ data: CreatedDirectory }>(`/scim/directories/${id}/token`, { method: "POST", body })
    invalidate("/scim")
    onReplaced(data)
    onClose()
  })
  return (
    <Dialog title={`Replace the token of ${name}`} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <Select label="The former token" value={kept} onChange={setKept} options={KEPT} />
        <FormEnd fault={error?.message} action="Replace" busy={busy} onClose={onClose} />
      </form>
    </Dialog>
  )
}

function ChangePull({ directory: { id, name, pull }, onClose }: Props) {
  const [url, setUrl] = useState(pull?.url ?? "")
  const [token, setToken] = useState("")
  const { busy, error, submit } = useSubmit(async () => {
    await api(`/scim/directories/${id}`, { method: "PATCH", body: { pull: { url, token } } })
    invalidate("/scim")
    toast("good", `The next sync reads ${name} with the new token`)
    onClose()
  })
  return (
    <Dialog title={`Change the token of ${name}`} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <PullFields url={url} onUrl={setUrl} token={token} onToken={setToken} />
        <FormEnd fault={error?.message} action="Change" busy={busy} disabled={token === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
