import { useState } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { AuditRecord } from "../../api/account-types.ts"
import type { List } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { query, setQuery, withQuery } from "../../state/router.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { Json } from "../../ui/code.tsx"
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
            <Table label="Audit log" columns={columnsOf(setShown)} rows={data} rowKey={({ id }) => id} />
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
      {shown && <Details entry={shown} onClose={() => setShown(undefined)} />}
    </div>
  )
}

function columnsOf(onShow: (entry: AuditRecord) => void): Column<AuditRecord>[] {
  return [
    { id: "time", label: "Time", width: "90px", narrow: "lead", cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: "action",
      label: "What",
      width: "minmax(150px, 1fr)",
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
      width: "minmax(150px, 1fr)",
      cell: ({ key_hash: hash, key_label: label }) => <Chip kind="key" id={hash} label={label} />,
    },
    {
      id: "resource",
      label: "On",
      width: "minmax(150px, 1fr)",
      cell: ({ resource_id: id }) => <code class="truncate small">{id}</code>,
    },
    {
      id: "changes",
      label: "Changes",
      width: "minmax(120px, 1fr)",
      cell: ({ changed_fields: fields }) => <span class="truncate quiet">{fields.join(", ")}</span>,
    },
    {
      id: "ip",
      label: "From",
      width: "120px",
      narrow: "hide",
      cell: ({ ip_address: ip }) => ip ?? <span class="faint">–</span>,
    },
  ]
}

function Details({ entry, onClose }: { entry: AuditRecord; onClose: () => void }) {
  return (
    <Dialog title={entry.action} onClose={onClose} wide>
      <dl class="facts">
        <dt>When</dt>
        <dd>{new Date(entry.created_at).toISOString()}</dd>
        <dt>Who</dt>
        <dd>
          <Chip kind="key" id={entry.key_hash} label={entry.key_label} /> {entry.creator_user_id}
        </dd>
        <dt>On</dt>
        <dd>
          {entry.resource_type} <code>{entry.resource_id}</code>
        </dd>
        <dt>From</dt>
        <dd>
          {entry.ip_address ?? "unknown address"} · {entry.user_agent ?? "unknown client"}
        </dd>
        <dt>Request</dt>
        <dd>
          <code>{entry.request_id}</code>
        </dd>
        <dt>Changed</dt>
        <dd>{entry.changed_fields.join(", ") || "nothing"}</dd>
      </dl>
      <Json label="New values" value={entry.changes} />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}
