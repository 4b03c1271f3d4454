import { useState } from "preact/hooks"
import type * as z from "zod"
import type { FileRecord } from "../../../files/schemas.ts"
import { api, withParams } from "../../api/client.ts"
import { downloadFile } from "../../api/files.ts"
import { invalidate, useGet } from "../../api/query.ts"
import { bytes } from "../../format/number.ts"
import { workspaceId } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { Select, TextField } from "../../ui/field.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { Time } from "../../ui/values.tsx"

type File = z.infer<typeof FileRecord>
type FileList = { data: File[]; has_more: boolean }

const DAY_MS = 86_400_000
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** Files of the workspace, and exports of calls, which are files too. */
export function Files() {
  const list = useGet<FileList>(withParams("/files", { limit: 1000, workspace_id: workspaceId.value }))
  const [deleted, setDeleted] = useState<File>()
  const remove = async ({ id, filename }: File) => {
    const path = withParams(`/files/${id}`, { workspace_id: workspaceId.value })
    await attempt(() => api(path, { method: "DELETE" }), `${filename} is deleted`)
    invalidate("/files")
  }
  return (
    <div class="stack wide">
      <Export />
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No files in this workspace">
              <p>Exports of calls, uploads of clients and files that interns publish appear here.</p>
            </Empty>
          ) : (
            <Table label="Files" columns={columnsOf(setDeleted)} rows={data} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {deleted && (
        <ConfirmDialog
          title={`Delete ${deleted.filename}?`}
          action="Delete"
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its content is removed for good.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

function columnsOf(onDelete: (file: File) => void): Column<File>[] {
  return [
    {
      id: "name",
      label: "Name",
      width: "minmax(180px, 2fr)",
      narrow: "title",
      cell: ({ filename }) => <span class="truncate">{filename}</span>,
    },
    {
      id: "size",
      label: "Size",
      width: "90px",
      align: "right",
      narrow: "lead",
      cell: ({ size_bytes: size }) => <span class="num">{bytes(size)}</span>,
    },
    {
      id: "type",
      label: "Type",
      width: "minmax(120px, 1fr)",
      optional: 1,
      cell: ({ mime_type: type }) => <span class="truncate quiet">{type}</span>,
    },
    {
      id: "made",
      label: "Created",
      width: "100px",
      optional: 2,
      align: "right",
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    {
      id: "actions",
      label: <span class="visually-hidden">Actions</span>,
      width: "180px",
      align: "right",
      cell: (file) => (
        <span class="row tight nowrap">
          {file.downloadable && (
            <Button size="small" onClick={() => attempt(() => downloadFile(file), "The download has started")}>
              Download
            </Button>
          )}
          <Button
            size="small"
            kind="quiet"
            icon="trash"
            label={`Delete ${file.filename}`}
            onClick={() => onDelete(file)}
          />
        </span>
      ),
    },
  ]
}

function Export() {
  const [from, setFrom] = useState(dayAgo(30))
  const [to, setTo] = useState(dayAgo(-1))
  const [format, setFormat] = useState("csv")
  const [busy, setBusy] = useState(false)
  const create = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const range = { from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` }
    const body = { ...range, format, ...(workspaceId.value !== null && { workspace_id: workspaceId.value }) }
    await attempt(() => api("/exports", { method: "POST", body }), "Export created. Download it below")
    invalidate("/files")
    setBusy(false)
  }
  return (
    <form class="settings-card stack" onSubmit={(event) => void create(event)}>
      <h2>Export calls</h2>
      <div class="row fields">
        <TextField label="From (UTC)" type="date" value={from} onChange={setFrom} />
        <TextField label="To, exclusive (UTC)" type="date" value={to} onChange={setTo} />
        <Select
          label="Format"
          options={[
            { value: "csv", label: "CSV" },
            { value: "ndjson", label: "JSON lines" },
          ]}
          value={format}
          onChange={setFormat}
        />
        <Button type="submit" busy={busy}>
          Export
        </Button>
      </div>
    </form>
  )
}
