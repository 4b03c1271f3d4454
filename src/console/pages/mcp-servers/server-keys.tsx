import { useState } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { invalidate, useGet } from "../../api/query.ts"
import type { ApiKey, List, McpServer } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { now } from "../../format/time.ts"
import { query, withQuery } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { type Column, Table } from "../../ui/table.tsx"
import { stateOf } from "../keys/state.ts"
import { KeyToolsDialog, namesOf, setTools } from "./key-tools.tsx"

const PAGE = 50

/** Path of the keys whose permissions name a tool of the server. */
export function keysPath(
  { slug, workspace_id: workspace }: McpServer,
  page: { limit: number; offset: number },
): string {
  return withParams("/keys", { mcp_server: slug, include_disabled: "true", workspace_id: workspace, ...page })
}

/** The keys that may call tools of the server, page after page. */
export function ServerKeys({ server, known }: { server: McpServer; known: readonly string[] }) {
  const { slug } = server
  const offset = Math.max(0, Number(query.value.get("keys") ?? 0) || 0)
  const list = useGet<List<ApiKey>>(keysPath(server, { limit: PAGE, offset }))
  const [edited, setEdited] = useState<ApiKey | "new">()
  const canWrite = may("keys:write")
  const remove = async (key: ApiKey) => {
    const restore = () => setTools(key, slug, namesOf(key, slug))
    await attempt(() => setTools(key, slug, []), `${key.name} may call no tool of ${slug}.`, {
      label: "Undo",
      run: () => void attempt(restore, `${key.name} may call them again.`).then(() => invalidate("/keys")),
    })
    invalidate("/keys")
  }
  return (
    <section class="stack tight" aria-label="Keys">
      <div class="row between">
        <h2>Keys that may call them</h2>
        {canWrite && <Button onClick={() => setEdited("new")}>Allow a key</Button>}
      </div>
      <Loaded query={list} lines={3}>
        {({ data, total_count: total = data.length }) =>
          total === 0 ? (
            <Empty title={`No key may call a tool of ${slug}`}>
              <p>No key may call tools by default. Allow a key, and its clients can use them within seconds.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Keys"
                bounded
                columns={columnsOf(slug, canWrite ? { onEdit: setEdited, onRemove: remove } : undefined)}
                rows={data}
                rowKey={({ hash }) => hash}
              />
              <p class="row small quiet">
                {total > PAGE && `${count(offset + 1)} to ${count(offset + data.length)} of `}
                {count(total)} {total === 1 ? "key" : "keys"}
                {offset > 0 && <a href={withQuery({ keys: offset > PAGE ? String(offset - PAGE) : null })}>Newer</a>}
                {offset + PAGE < total && <a href={withQuery({ keys: String(offset + PAGE) })}>Older</a>}
              </p>
            </>
          )
        }
      </Loaded>
      {edited && (
        <KeyToolsDialog
          server={server}
          known={known}
          apiKey={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  )
}

type Actions = { onEdit: (key: ApiKey) => void; onRemove: (key: ApiKey) => Promise<void> }

function columnsOf(slug: string, actions: Actions | undefined): Column<ApiKey>[] {
  const columns: Column<ApiKey>[] = [
    {
      id: "key",
      label: "Key",
      width: "minmax(140px, 1fr)",
      narrow: "title",
      cell: ({ hash, name }) => <Chip kind="key" id={hash} label={name} />,
    },
    {
      id: "tools",
      label: "Tools",
      width: "minmax(140px, 2fr)",
      cell: (key) => {
        const names = namesOf(key, slug)
        if (names.includes("*")) return "every tool"
        return (
          <code class="truncate" title={names.join(", ")}>
            {names.join(", ")}
          </code>
        )
      },
    },
    {
      id: "state",
      label: "State",
      width: "minmax(100px, 1fr)",
      narrow: "hide",
      cell: (key) => {
        const { tone, text } = stateOf(key, now.value)
        return <Status tone={tone}>{text}</Status>
      },
    },
  ]
  if (!actions) return columns
  return [
    ...columns,
    {
      id: "actions",
      label: <span class="visually-hidden">Actions</span>,
      width: "150px",
      align: "right",
      narrow: "lead",
      cell: (key) => (
        <span class="row tight nowrap">
          <Button size="small" label={`Edit the tools of ${key.name}`} onClick={() => actions.onEdit(key)}>
            Edit
          </Button>
          <Button size="small" label={`Remove ${key.name}`} onClick={() => actions.onRemove(key)}>
            Remove
          </Button>
        </span>
      ),
    },
  ]
}
