import { useState } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { AuditRecord } from "../../api/account-types.ts"
import type { List } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { useNames } from "../../state/names.ts"
import { query, setQuery, withQuery } from "../../state/router.ts"
import { Button } from "../../ui/button.tsx"
import { Chip, type ChipKind } from "../../ui/chip.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Time } from "../../ui/values.tsx"

const PAGE = 50

/** The audit log with filters. */
export function Audit() {
  const filters = {
    action: query.value.get("action"),
    resource_type: query.value.get("resource"),
    key_hash: query.value.get("key"),
  }
  const offset = Number(query.value.get("offset") ?? 0)
  const list = useGet<List<AuditRecord>>(withParams("/audit", { ...filters, limit: PAGE, offset }))
  const [shown, setShown] = useState<AuditRecord>()
  const names = useNames(NAMED)
  const total = list.data?.total_count ?? 0
  return (
    <div class="stack">
      <div class="audit-filters">
        <TextField
          label="Action"
          placeholder="api_key.create"
          value={filters.action ?? ""}
          onChange={(action) => setQuery({ action, offset: null })}
        />
        <TextField
          label="Resource"
          placeholder="workspace"
          value={filters.resource_type ?? ""}
          onChange={(resource) => setQuery({ resource, offset: null })}
        />
      </div>
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No entries match the filters">
              <p>Every change of the account and every denied request is recorded here.</p>
            </Empty>
          ) : (
            <Table label="Audit log" columns={columnsOf(setShown, names)} rows={data} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <div class="row between">
        <span class="quiet">{count(total)} entries</span>
        <span class="row">
          {offset > 0 && <Button href={withQuery({ offset: String(Math.max(0, offset - PAGE)) })}>Newer</Button>}
          {offset + PAGE < total && <Button href={withQuery({ offset: String(offset + PAGE) })}>Older</Button>}
        </span>
      </div>
      {shown && <Details entry={shown} names={names} onClose={() => setShown(undefined)} />}
    </div>
  )
}

type Names = ReadonlyMap<string, string>

const NAMED = ["keys", "members", "workspaces", "presets", "interns"] as const
/** Resources with a page, and the chip that leads there. */
const CHIPS: Partial<Record<string, ChipKind>> = {
  api_key: "key",
  workspace: "workspace",
  member: "member",
  guardrail: "guardrail",
  guardrail_key: "guardrail",
  guardrail_member: "guardrail",
  preset: "preset",
  intern: "intern",
}

/** The key that made a change; a directory and the bootstrap key have no page. */
function Actor({ entry: { key_hash: hash, key_label: label }, names }: { entry: AuditRecord; names: Names }) {
  if (label === "bootstrap" || label.startsWith("scim:")) return <span class="truncate">{label}</span>
  return <Chip kind="key" id={hash} label={names.get(hash) ?? label} />
}

function Resource({ entry, names }: { entry: AuditRecord; names: Names }) {
  const { resource_type: type, resource_id: id, action } = entry
  const kind = CHIPS[type]
  if (kind === undefined || action.endsWith(".delete")) return <code class="truncate small">{id}</code>
  const { name } = entry.changes
  return <Chip kind={kind} id={id} label={names.get(id) ?? (typeof name === "string" ? name : id)} />
}

function columnsOf(onShow: (entry: AuditRecord) => void, names: Names): Column<AuditRecord>[] {
  return [
    { id: "time", label: "Time", width: "90px", narrow: "lead", cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: "action",
      label: "What",
      width: "minmax(130px, 1fr)",
      narrow: "title",
      cell: (entry) => (
        <button type="button" class="link" onClick={() => onShow(entry)}>
          {entry.action}
        </button>
      ),
    },
    {
      id: "who",
      label: "Who",
      width: "minmax(110px, 1fr)",
      cell: (entry) => <Actor entry={entry} names={names} />,
    },
    {
      id: "resource",
      label: "On",
      width: "minmax(110px, 1fr)",
      cell: (entry) => <Resource entry={entry} names={names} />,
    },
    {
      id: "changes",
      label: "Changes",
      width: "minmax(120px, 1fr)",
      optional: 1,
      cell: ({ changed_fields: fields }) => <span class="truncate quiet">{fields.join(", ")}</span>,
    },
    {
      id: "ip",
      label: "From",
      width: "120px",
      optional: 2,
      narrow: "hide",
      cell: ({ ip_address: ip }) => ip ?? <span class="faint">–</span>,
    },
  ]
}

type DetailsProps = { entry: AuditRecord; names: Names; onClose: () => void }

function Details({ entry, names, onClose }: DetailsProps) {
  return (
    <Dialog title={entry.action} onClose={onClose} wide>
      <dl class="facts">
        <dt>When</dt>
        <dd>{new Date(entry.created_at).toISOString()}</dd>
        <dt>Who</dt>
        <dd>
          <Actor entry={entry} names={names} />{" "}
          {entry.creator_user_id !== null && (
            <Chip
              kind="member"
              id={entry.creator_user_id}
              label={names.get(entry.creator_user_id) ?? entry.creator_user_id}
            />
          )}
        </dd>
        <dt>On</dt>
        <dd>
          {entry.resource_type} <Resource entry={entry} names={names} />
        </dd>
        <dt>From</dt>
        <dd>
          {entry.ip_address ?? "unknown address"} · {entry.user_agent ?? "unknown client"}
        </dd>
        <dt>Request</dt>
        <dd>
          <code>{entry.request_id}</code>
        </dd>
      </dl>
      <Changes entry={entry} />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

const EARLIER = 100

/** The changed fields. Their former values are those of the latest earlier entry of the resource that has them. */
function Changes({ entry }: { entry: AuditRecord }) {
  const { resource_type, resource_id, created_at: to, changed_fields: fields, changes } = entry
  const path = withParams("/audit", { resource_type, resource_id, to, limit: EARLIER })
  const earlier = useGet<List<AuditRecord>>(fields.length === 0 ? null : path)
  if (fields.length === 0) return <p class="quiet">No field was changed.</p>
  const before = (field: string) => earlier.data?.data.find((other) => field in other.changes)?.changes[field]
  return (
    <table class="audit-changes">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{field}</th>
            <td>
              <Value value={before(field)} />
            </td>
            <td>
              <Value value={changes[field]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Values of secrets, and those from before the log began, are not in the log. */
function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span class="faint">not recorded</span>
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
}
