import { useEffect, useState } from "preact/hooks"
import { api, withParams } from "../../../api/client.ts"
import type { Intern, InternSession, TranscriptPage } from "../../../api/account-types.ts"
import { invalidate, useGet } from "../../../api/query.ts"
import { count } from "../../../format/number.ts"
import { navigate, query } from "../../../state/router.ts"
import { may } from "../../../state/session.ts"
import { attempt } from "../../../state/toasts.ts"
import { Button } from "../../../ui/button.tsx"
import { ConfirmDialog } from "../../../ui/dialog.tsx"
import { Empty, Loaded } from "../../../ui/states.tsx"
import { Status, type Tone } from "../../../ui/status.tsx"
import { type Column, Table } from "../../../ui/table.tsx"
import { Money, Time } from "../../../ui/values.tsx"
import { Transcript } from "./transcript.tsx"

const POLL_MS = 2_000

type SessionList = { data: InternSession[]; has_more: boolean; next_cursor?: string }

/** Stored conversations of an intern: from chats, schedules and editors. */
export function Sessions({ intern }: { intern: Intern }) {
  const opened = query.value.get("open")
  if (opened !== null) return <OpenSession key={opened} intern={intern} id={opened} />
  return <SessionsTable intern={intern} />
}

function SessionsTable({ intern }: { intern: Intern }) {
  const list = useGet<SessionList>(`/interns/${intern.id}/sessions?limit=100`)
  return (
    <Loaded query={list} lines={4}>
      {({ data, has_more }) =>
        data.length === 0 ? (
          <Empty title="No session yet">
            <p>
              A session begins with the first message, a schedule, or an editor that connects.{" "}
              <a href={`/interns/${intern.id}`}>Write to {intern.name}</a>
            </p>
          </Empty>
        ) : (
          <>
            <Table
              label="Sessions"
              bounded
              columns={columns(intern.id)}
              rows={data}
              rowKey={({ id }) => id}
              href={({ id }) => hrefOf(intern.id, id)}
            />
            {has_more && <p class="quiet small">The {count(data.length)} newest sessions are shown.</p>}
          </>
        )
      }
    </Loaded>
  )
}

const hrefOf = (internId: string, id: string) => `/interns/${internId}?tab=sessions&open=${encodeURIComponent(id)}`

const TONES: Record<InternSession["status"], Tone> = { running: "busy", waiting: "warn", idle: "off" }
const LABELS: Record<InternSession["status"], string> = {
  running: "working",
  waiting: "waiting for an answer",
  idle: "idle",
}

function SessionState({ session }: { session: InternSession }) {
  if (session.last_error && session.status === "idle")
    return (
      <Status tone="bad" title={session.last_error.message}>
        failed
      </Status>
    )
  return <Status tone={TONES[session.status]}>{LABELS[session.status]}</Status>
}

function columns(internId: string): Column<InternSession>[] {
  return [
    {
      id: "title",
      label: "Session",
      width: "minmax(200px, 3fr)",
      narrow: "title",
      cell: ({ id, title }) => (
        <a class="row-link" dir="auto" href={hrefOf(internId, id)}>
          {title || "untitled"}
        </a>
      ),
    },
    { id: "state", label: "State", width: "110px", cell: (session) => <SessionState session={session} /> },
    { id: "origin", label: "From", width: "110px", cell: ({ origin }) => <span class="quiet">{origin}</span> },
    {
      id: "turns",
      label: "Turns",
      width: "70px",
      align: "right",
      narrowLabel: "turns",
      cell: ({ turns }) => count(turns),
    },
    {
      id: "cost",
      label: "Cost",
      width: "var(--money)",
      align: "right",
      cell: ({ usage }) => <Money value={usage?.cost ?? 0} />,
    },
    {
      id: "updated",
      label: "Last active",
      width: "110px",
      align: "right",
      narrow: "lead",
      cell: ({ updated_at: at }) => <Time at={at} />,
    },
  ]
}

function OpenSession({ intern, id }: { intern: Intern; id: string }) {
  const path = `/interns/${intern.id}/sessions/${encodeURIComponent(id)}`
  const page = useGet<TranscriptPage>(`${path}?limit=200`)
  const [isDeleting, setDeleting] = useState(false)
  useEffect(page.refresh, [path])
  const session = page.data?.session
  const isActive = session !== undefined && session.status !== "idle"
  useEffect(() => {
    if (!isActive) return undefined
    const timer = setInterval(page.refresh, POLL_MS)
    return () => clearInterval(timer)
  }, [isActive, path])
  const cancel = async () => {
    await attempt(() => api(`${path}/cancel`, { method: "POST", body: {} }), "The turn is being cancelled")
    invalidate(`/interns/${intern.id}/sessions`)
  }
  return (
    <div class="stack">
      <div class="row between">
        <p>
          <a href={`/interns/${intern.id}?tab=sessions`}>All sessions</a>
        </p>
        {session && may("interns:write") && (
          <div class="row tight">
            {isActive && <Button onClick={() => cancel()}>Cancel the turn</Button>}
            <Button href={`/interns/${intern.id}?session=${encodeURIComponent(id)}`}>Continue in chat</Button>
            <Button kind="danger" icon="trash" label="Delete the session" onClick={() => setDeleting(true)} />
          </div>
        )}
      </div>
      <Loaded query={page}>
        {({ data, session: of, has_more }) => (
          <>
            <dl class="facts">
              <dt>Session</dt>
              <dd dir="auto">{of.title || "untitled"}</dd>
              <dt>State</dt>
              <dd>
                <SessionState session={of} />
              </dd>
              <dt>Begun</dt>
              <dd>
                <Time at={of.created_at} />, from {of.origin}
              </dd>
              <dt>Cost</dt>
              <dd>
                <Money value={of.usage?.cost ?? 0} /> in {count(of.turns)} {of.turns === 1 ? "turn" : "turns"}
              </dd>
            </dl>
            <Permissions path={path} />
            <Transcript entries={data} name={intern.name} />
            {has_more && <p class="quiet small">The first {count(data.length)} entries are shown.</p>}
          </>
        )}
      </Loaded>
      {isDeleting && <DeleteDialog intern={intern} path={path} onClose={() => setDeleting(false)} />}
    </div>
  )
}

type Permission = { operation: string; decision: "allow" | "reject" }

/** Permissions granted or rejected for the session. */
function Permissions({ path }: { path: string }) {
  const list = useGet<{ data: Permission[] }>(`${path}/permissions`)
  // A turn of the chat may just have changed them.
  useEffect(list.refresh, [path])
  const revoke = async ({ operation }: Permission) => {
    const revoked = () => api(withParams(`${path}/permissions`, { operation }), { method: "DELETE" })
    await attempt(revoked, "Permission revoked: the intern asks again")
    invalidate(path)
  }
  return (list.data?.data ?? []).map((permission) => (
    <div key={permission.operation} class="row">
      <span>
        <code>{permission.operation}</code> is {permission.decision === "allow" ? "allowed" : "rejected"} without a
        question in this session.
      </span>
      {may("interns:write") && <Button onClick={() => revoke(permission)}>Ask again</Button>}
    </div>
  ))
}

function DeleteDialog({ intern, path, onClose }: { intern: Intern; path: string; onClose: () => void }) {
  const remove = async () => {
    if (!(await attempt(() => api(path, { method: "DELETE" }), "The session is deleted"))) return
    invalidate(`/interns/${intern.id}/sessions`)
    navigate(`/interns/${intern.id}?tab=sessions`, { replace: true })
  }
  return (
    <ConfirmDialog title="Delete this session?" action="Delete" onConfirm={remove} onClose={onClose}>
      <p>Its transcript is deleted. Files that the intern wrote stay. This cannot be undone.</p>
    </ConfirmDialog>
  )
}
