import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { CreatedDirectory } from "../../api/account-types.ts"
import { Segmented } from "../../ui/button.tsx"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { PullFields } from "./pull-fields.tsx"

type Way = "push" | "pull"

export function NewDirectory({
  onMade,
  onClose,
}: {
  onMade: (created: CreatedDirectory) => void
  onClose: () => void
}) {
  const [name, setName] = useState("")
  const [way, setWay] = useState<Way>("push")
  const [url, setUrl] = useState("")
  const [token, setToken] = useState("")
  const { busy, error, submit } = useSubmit(async () => {
    const body = { name, ...(way === "pull" && { pull: { url, token } }) }
    const { data } = await api<{ data: CreatedDirectory }>("/scim/directories", { method: "POST", body })
    invalidate("/scim")
    onMade(data)
    onClose()
  })
  return (
    <Dialog title="Connect a directory" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <TextField label="Name" placeholder="Okta" value={name} onChange={setName} required autoFocus />
        <Segmented<Way>
          label="Direction"
          options={[
            { value: "push", label: "The directory pushes to the gateway" },
            { value: "pull", label: "The gateway pulls from the directory" },
          ]}
          value={way}
          onChange={setWay}
        />
        {way === "pull" && <PullFields url={url} onUrl={setUrl} token={token} onToken={setToken} />}
        <FormEnd fault={error?.message} action="Connect" busy={busy} disabled={name.trim() === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
