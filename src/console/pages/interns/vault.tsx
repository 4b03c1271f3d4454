import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import type { Intern } from "../../api/account-types.ts"
import { attempt, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog, Dialog, FormEnd } from "../../ui/dialog.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { Time } from "../../ui/values.tsx"

type Secret = { name: string; hosts: string[] | null; fingerprint: string | null; created_at: string }

/** Secrets of an intern. Values are write-only. */
export function Vault({ intern }: { intern: Intern }) {
  const path = `/vault/interns/${intern.id}/secrets`
  const list = useAll<Secret>(path)
  const [edited, setEdited] = useState<Secret | "new">()
  const [deleted, setDeleted] = useState<Secret>()
  const remove = async ({ name }: Secret) => {
    await attempt(() => api(`${path}/${name}`, { method: "DELETE" }), `${name} is deleted`)
    invalidate(path)
  }
  return (
    <div class="stack">
      <div class="row between">
        <p class="quiet">The agent sees placeholders. A value is sent to its hosts only, and cannot be read here.</p>
        <Button kind="primary" icon="plus" onClick={() => setEdited("new")}>
          New secret
        </Button>
      </div>
      <Loaded query={list} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="The vault is empty">
              <p>Store what the intern needs to call other services, such as a token of GitHub.</p>
            </Empty>
          ) : (
            <Table label="Secrets" columns={columnsOf(setEdited, setDeleted)} rows={data} rowKey={({ name }) => name} />
          )
        }
      </Loaded>
      {edited && (
        <SecretDialog path={path} secret={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {deleted && (
        <ConfirmDialog
          title={`Delete ${deleted.name}?`}
          action="Delete"
          name={deleted.name}
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>The intern can no longer use it. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

function columnsOf(onReplace: (secret: Secret) => void, onDelete: (secret: Secret) => void): Column<Secret>[] {
  return [
    {
      id: "name",
      label: "Name",
      width: "minmax(140px, 1fr)",
      narrow: "title",
      cell: ({ name }) => <code class="truncate">{name}</code>,
    },
    {
      id: "hosts",
      label: "Hosts",
      width: "minmax(160px, 2fr)",
      cell: ({ hosts }) => <span class="truncate">{(hosts ?? []).join(", ")}</span>,
    },
    {
      id: "fingerprint",
      label: "Fingerprint",
      width: "130px",
      narrow: "hide",
      cell: ({ fingerprint }) => (
        <code class="truncate small" title={fingerprint ?? ""}>
          {fingerprint?.slice(7, 19)}
        </code>
      ),
    },
    { id: "made", label: "Stored", width: "100px", narrow: "lead", cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: "actions",
      label: <span class="visually-hidden">Actions</span>,
      width: "170px",
      align: "right",
      cell: (secret) => (
        <span class="row tight nowrap">
          <Button size="small" onClick={() => onReplace(secret)}>
            Replace value
          </Button>
          <Button
            size="small"
            kind="quiet"
            icon="trash"
            label={`Delete ${secret.name}`}
            onClick={() => onDelete(secret)}
          />
        </span>
      ),
    },
  ]
}

function SecretDialog({ path, secret, onClose }: { path: string; secret: Secret | undefined; onClose: () => void }) {
  const [name, setName] = useState(secret?.name ?? "")
  const [hosts, setHosts] = useState((secret?.hosts ?? []).join("\n"))
  const [value, setValue] = useState("")
  const { busy, error, submit } = useSubmit(async () => {
    const list = hosts.split(/[\s,]+/).filter((host) => host !== "")
    await api(`${path}/${encodeURIComponent(name)}`, { method: "PUT", body: { hosts: list, value } })
    invalidate(path)
    toast("good", `${name} is stored`)
    onClose()
  })
  return (
    <Dialog title={secret ? `Replace the value of ${secret.name}` : "New secret"} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        {!secret && (
          <TextField
            label="Name"
            hint="Lowercase letters, digits and underscores."
            value={name}
            onChange={setName}
            required
            autoFocus
          />
        )}
        <TextArea
          label="Hosts"
          hint="One per line, exact: api.github.com"
          rows={2}
          code
          value={hosts}
          onChange={setHosts}
        />
        <TextField
          label="Value"
          type="password"
          hint="Stored encrypted and never shown again."
          value={value}
          onChange={setValue}
          required
        />
        <FormEnd
          fault={error?.message}
          action="Store"
          busy={busy}
          disabled={name === "" || value === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
