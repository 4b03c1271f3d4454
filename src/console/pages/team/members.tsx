import { useState } from "preact/hooks"
import type * as z from "zod"
import type { OrganizationMember } from "../../../members/schemas.ts"
import { api, withParams } from "../../api/client.ts"
import { useSearch } from "../../api/pages.ts"
import { invalidate } from "../../api/query.ts"
import { count } from "../../format/number.ts"
import { query, setQuery } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt, toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog, Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Search, Select, TextField } from "../../ui/field.tsx"
import { Menu } from "../../ui/menu.tsx"
import { Loaded, NoMatch } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"

type Member = z.infer<typeof OrganizationMember>

const PATH = "/organization/members"
const ROLES = [
  { value: "org:member", label: "Member" },
  { value: "org:admin", label: "Admin" },
]

const nameOf = ({ first_name: first, last_name: last, email }: Member) =>
  [first, last].filter(Boolean).join(" ") || email || "Owner"

export function Members() {
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Member>()
  const text = query.value.get("member") ?? query.value.get("q") ?? ""
  const list = useSearch<Member>(PATH, text)
  const remove = async (member: Member) => {
    const path = `${PATH}/${encodeURIComponent(member.id)}`
    await attempt(() => api(path, { method: "DELETE" }), `${nameOf(member)} is removed`)
    invalidate(PATH)
  }
  return (
    <div class="stack">
      <div class="row between">
        <Search label="Filter members" value={text} onChange={(q) => setQuery({ q, member: null })} />
        {may("members:write") && (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            Add member
          </Button>
        )}
      </div>
      <Loaded query={list}>
        {({ data, total_count: total = data.length }) => {
          if (data.length === 0) return <NoMatch what="member" text={text} />
          return (
            <>
              <Table
                label="Members"
                columns={columnsOf(setRemoved)}
                rows={data}
                rowKey={({ id }) => id}
                onEnd={list.onEnd}
              />
              <p class="table-foot">
                {list.all !== undefined && list.all !== total && `${count(total)} of `}
                {count(list.all ?? total)} {list.all === 1 ? "member" : "members"}
              </p>
            </>
          )
        }}
      </Loaded>
      {isAdding && <AddMember onClose={() => setAdding(false)} />}
      {removed && (
        <ConfirmDialog
          title={`Remove ${nameOf(removed)}?`}
          action="Remove"
          name={removed.email || removed.id}
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(undefined)}
        >
          <p>They are removed from every workspace of the organization. Keys created for them keep working.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

function columnsOf(onRemove: (member: Member) => void): Column<Member>[] {
  const setRole = async ({ id }: Member, role: string) => {
    await attempt(
      () => api(`${PATH}/${encodeURIComponent(id)}`, { method: "PATCH", body: { role } }),
      "The role is changed",
    )
    invalidate(PATH)
  }
  return [
    {
      id: "name",
      label: "Name",
      width: "minmax(120px, 1fr)",
      narrow: "title",
      cell: (member) => <span class="truncate">{nameOf(member)}</span>,
    },
    {
      id: "email",
      label: "Email",
      width: "minmax(140px, 1fr)",
      cell: ({ email }) => <span class="truncate">{email}</span>,
    },
    {
      id: "role",
      label: "Role",
      width: "80px",
      narrow: "lead",
      cell: ({ role }) => ROLES.find(({ value }) => value === role)?.label ?? role,
    },
    {
      id: "calls",
      label: "Calls",
      width: "84px",
      optional: 1,
      narrow: "hide",
      cell: ({ id }) => <a href={withParams("/calls", { creator_user_id: id, range: "30d" })}>calls</a>,
    },
    {
      id: "id",
      label: "Id",
      width: "minmax(120px, 1fr)",
      optional: 2,
      narrow: "hide",
      cell: ({ id }) => <code class="truncate small">{id}</code>,
    },
    {
      id: "actions",
      label: <span class="visually-hidden">Actions</span>,
      width: "48px",
      align: "right",
      cell: (member) =>
        may("members:write") && (
          <Menu label={`Actions for ${nameOf(member)}`} icon="more" kind="quiet" size="small">
            {ROLES.filter(({ value }) => value !== member.role).map(({ value, label }) => (
              <button type="button" key={value} onClick={() => void setRole(member, value)}>
                Make {label.toLowerCase()}
              </button>
            ))}
            <button type="button" onClick={() => onRemove(member)}>
              Remove
            </button>
          </Menu>
        ),
    },
  ]
}

function AddMember({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("org:member")
  const { busy, error, submit } = useSubmit(async () => {
    await api(PATH, { method: "POST", body: { email, role } })
    toast("good", `${email} is a member`)
    invalidate(PATH)
    onClose()
  })
  return (
    <Dialog title="Add member" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <TextField label="Email" value={email} onChange={setEmail} required autoFocus />
        <Select label="Role" options={ROLES} value={role} onChange={setRole} />
        <FormEnd fault={error?.message} action="Add" busy={busy} disabled={email === ""} onClose={onClose} />
      </form>
    </Dialog>
  )
}
