import { useRef, useState } from "preact/hooks"
import { api, call, withParams } from "../../api/client.ts"
import type { Intern } from "../../api/account-types.ts"
import { download } from "../../api/files.ts"
import { invalidate, useGet, useQuery } from "../../api/query.ts"
import { bytes, count } from "../../format/number.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx"
import { Search } from "../../ui/field.tsx"
import { Menu } from "../../ui/menu.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { type Column, Table } from "../../ui/table.tsx"

type File = { path: string; bytes: number }

const HOME = "/home/intern"
const shortPath = ({ path }: File) => (path.startsWith(`${HOME}/`) ? path.slice(HOME.length + 1) : path)
const nameOf = ({ path }: File) => path.split("/").at(-1) ?? path
const contentOf = (intern: Intern, path: string) => withParams(`/interns/${intern.id}/files/content`, { path })

/** The home folder of an intern. */
export function Files({ intern }: { intern: Intern }) {
  const list = useGet<{ data: File[] }>(`/interns/${intern.id}/files`)
  const [filter, setFilter] = useState("")
  const [shown, setShown] = useState<File>()
  const [deleted, setDeleted] = useState<File>()
  const changed = () => invalidate(`/interns/${intern.id}/files`)
  const publish = (file: File) =>
    attempt(
      () => api(`/interns/${intern.id}/files/publish`, { method: "POST", body: { path: file.path } }),
      `${nameOf(file)} is copied to the files of the workspace, for at least 24 hours`,
    )
  const remove = async (file: File) => {
    await attempt(() => call(contentOf(intern, file.path), { method: "DELETE" }), `${nameOf(file)} is deleted`)
    changed()
  }
  const columns = columnsOf({
    show: setShown,
    save: (file) => void attempt(() => download(contentOf(intern, file.path), nameOf(file)), "Downloaded"),
    publish: (file) => void publish(file),
    remove: setDeleted,
  })
  return (
    <div class="stack">
      <div class="row between">
        <Search label="Filter files" value={filter} onChange={setFilter} />
        {may("interns:write") && <Upload intern={intern} onDone={changed} />}
      </div>
      <Loaded query={list} lines={4}>
        {({ data }) => {
          const rows = data.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()))
          if (data.length === 0)
            return (
              <Empty title={`${intern.name} has no files yet`}>
                <p>
                  Uploaded files are in <code>{HOME}</code>. Instructions for it go into <code>AGENTS.md</code>.
                </p>
              </Empty>
            )
          return (
            <>
              <Table label="Files" bounded columns={columns} rows={rows} rowKey={({ path }) => path} />
              <p class="quiet small">
                {count(rows.length)} of {count(data.length)} files in <code>{HOME}</code>,{" "}
                {bytes(data.reduce((sum, file) => sum + file.bytes, 0))}
              </p>
            </>
          )
        }}
      </Loaded>
      {shown && <Viewer intern={intern} file={shown} onClose={() => setShown(undefined)} />}
      {deleted && (
        <ConfirmDialog
          title={`Delete ${nameOf(deleted)}?`}
          action="Delete"
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>The intern can no longer read it. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

type Actions = Record<"show" | "save" | "publish" | "remove", (file: File) => void>

function columnsOf({ show, save, publish, remove }: Actions): Column<File>[] {
  return [
    {
      id: "path",
      label: "File",
      width: "minmax(180px, 1fr)",
      narrow: "title",
      cell: (file) => (
        <button type="button" class="text-button truncate" dir="auto" title={file.path} onClick={() => show(file)}>
          {shortPath(file)}
        </button>
      ),
    },
    { id: "size", label: "Size", width: "90px", align: "right", cell: (file) => bytes(file.bytes) },
    {
      id: "actions",
      label: <span class="visually-hidden">Actions</span>,
      width: "40px",
      align: "right",
      narrow: "lead",
      cell: (file) => (
        <Menu label={`Actions of ${nameOf(file)}`} icon="more" size="small" kind="quiet">
          <button type="button" onClick={() => save(file)}>
            Download
          </button>
          {may("interns:write") && (
            <>
              <button type="button" onClick={() => publish(file)}>
                Copy to the files of the workspace
              </button>
              <button type="button" onClick={() => remove(file)}>
                Delete the file
              </button>
            </>
          )}
        </Menu>
      ),
    },
  ]
}

function Upload({ intern, onDone }: { intern: Intern; onDone: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)
  const upload = async (files: readonly globalThis.File[]) => {
    setBusy(true)
    const save = async () => {
      for (const file of files)
        await call(contentOf(intern, `${HOME}/${file.name}`), { method: "PUT", body: new Blob([file]) })
    }
    const done = files.length === 1 ? `${files[0]?.name} is uploaded` : `${count(files.length)} files are uploaded`
    await attempt(save, done)
    setBusy(false)
    onDone()
  }
  return (
    <>
      <Button kind="primary" icon="plus" busy={isBusy} onClick={() => input.current?.click()}>
        {isBusy ? "Uploading…" : "Upload files"}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          void upload([...(currentTarget.files ?? [])])
          currentTarget.value = ""
        }}
      />
    </>
  )
}

const MAX_SHOWN_BYTES = 200_000

function Viewer({ intern, file, onClose }: { intern: Intern; file: File; onClose: () => void }) {
  const path = contentOf(intern, file.path)
  const content = useQuery(path, async () => new Uint8Array(await (await call(path)).arrayBuffer()))
  return (
    <Dialog title={shortPath(file)} onClose={onClose} wide>
      <Loaded query={content} lines={5}>
        {(data) => <Content data={data} />}
      </Loaded>
      <footer>
        <Button onClick={() => attempt(() => download(path, nameOf(file)), "Downloaded")}>Download</Button>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

function Content({ data }: { data: Uint8Array }) {
  const text = textOf(data.subarray(0, MAX_SHOWN_BYTES))
  if (text === undefined) return <p class="quiet">This is not text. Download it to see it.</p>
  if (text === "") return <p class="quiet">The file is empty.</p>
  return (
    <>
      <Code text={text} label="Content" wrap />
      {data.length > MAX_SHOWN_BYTES && <p class="quiet small">The first {bytes(MAX_SHOWN_BYTES)} are shown.</p>}
    </>
  )
}

function textOf(data: Uint8Array): string | undefined {
  if (data.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true })
  } catch {
    return undefined
  }
}
