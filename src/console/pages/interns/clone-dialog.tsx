import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { Intern } from "../../api/account-types.ts"
import { navigate } from "../../state/router.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"

const MAX_NAME = 17

export function CloneDialog({ intern, onClose }: { intern: Intern; onClose: () => void }) {
  const [name, setName] = useState(`${intern.name.slice(0, MAX_NAME - 2)}-2`)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const clone = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const cloned = await api<Intern>("/interns", { method: "POST", body: { name, clone_of: intern.id } })
      invalidate("/interns")
      onClose()
      navigate(`/interns/${cloned.id}?tab=about`)
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Clone ${intern.name}`} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void clone(event)}>
        <p>
          The clone has the model, instructions, budget, MCP tools, schedules and files of {intern.name}. Secrets,
          conversations and spending are not copied. It is not started.
        </p>
        <TextField
          label="Name"
          hint="Lowercase letters, digits and hyphens."
          value={name}
          onChange={setName}
          required
          autoFocus
        />
        <FormEnd fault={fault} action="Clone" busy={busy} disabled={name === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
