import { useState } from "preact/hooks"
import { api } from "../../../api/client.ts"
import type { Intern, InternSchedule } from "../../../api/account-types.ts"
import { invalidate, useGet } from "../../../api/query.ts"
import { usd } from "../../../format/number.ts"
import { may } from "../../../state/session.ts"
import { attempt, attemptToggle } from "../../../state/toasts.ts"
import { Button } from "../../../ui/button.tsx"
import { ConfirmDialog } from "../../../ui/dialog.tsx"
import { Empty, Loaded } from "../../../ui/states.tsx"
import { Status } from "../../../ui/status.tsx"
import { Time } from "../../../ui/values.tsx"
import { ScheduleDialog } from "./schedule-dialog.tsx"

type Opened = { schedule: InternSchedule | undefined; isDeleting?: boolean }

/** Scheduled prompts of an intern. */
export function Schedules({ intern }: { intern: Intern }) {
  const path = `/interns/${intern.id}/schedules`
  const list = useGet<{ data: InternSchedule[] }>(path)
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const change = async (schedule: InternSchedule, action: "run" | "toggle" | "delete") => {
    const at = `${path}/${schedule.id}`
    if (action === "run") await attempt(() => api(`${at}/run`, { method: "POST", body: {} }), "Run started")
    else if (action === "delete") await attempt(() => api(at, { method: "DELETE" }), "The schedule is deleted")
    else {
      const set = async (enabled: boolean) => {
        await api(at, { method: "PATCH", body: { enabled } })
        invalidate(`/interns/${intern.id}`)
      }
      await attemptToggle(!schedule.enabled, set, (isOn) => `The schedule is turned ${isOn ? "on" : "off"}`)
    }
    invalidate(`/interns/${intern.id}`)
  }
  return (
    <div class="stack">
      <div class="row between">
        <p class="quiet">Scheduled turns run without questions, within the budgets of the intern.</p>
        {may("interns:write") && (
          <Button kind="primary" icon="plus" onClick={() => setOpened({ schedule: undefined })}>
            New schedule
          </Button>
        )}
      </div>
      <Loaded query={list} lines={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No schedules">
              <p>Have {intern.name} run a prompt on a schedule, such as a summary each morning.</p>
            </Empty>
          ) : (
            <ul class="stack tight" aria-label="Schedules">
              {data.map((schedule) => (
                <li key={schedule.id}>
                  <Card
                    intern={intern}
                    schedule={schedule}
                    onRun={() => void change(schedule, "run")}
                    onToggle={() => void change(schedule, "toggle")}
                    onEdit={() => setOpened({ schedule })}
                    onDelete={() => setOpened({ schedule, isDeleting: true })}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {opened && !opened.isDeleting && <ScheduleDialog path={path} schedule={opened.schedule} onClose={close} />}
      {opened?.isDeleting && opened.schedule && (
        <DeleteDialog schedule={opened.schedule} onConfirm={(one) => change(one, "delete")} onClose={close} />
      )}
    </div>
  )
}

type CardProps = { intern: Intern; schedule: InternSchedule } & Record<
  "onRun" | "onToggle" | "onEdit" | "onDelete",
  () => void
>

function Card({ intern, schedule, onRun, onToggle, onEdit, onDelete }: CardProps) {
  const { cron, timezone, prompt, enabled, session, daily_limit_usd: limit } = schedule
  return (
    <article class="box" aria-label={`Schedule ${cron}`}>
      <header class="row between">
        <h2>
          <code>{cron}</code> <span class="quiet">{timezone}</span>
        </h2>
        <Status tone={enabled ? "good" : "off"}>{enabled ? "on" : "paused"}</Status>
      </header>
      <p class="instructions" dir="auto">
        {prompt}
      </p>
      <dl class="facts">
        <dt>Next run</dt>
        <dd>{schedule.next_run_at === null ? <span class="faint">none</span> : <Time at={schedule.next_run_at} />}</dd>
        <dt>Last run</dt>
        <dd>
          <LastRun intern={intern} schedule={schedule} />
        </dd>
        <dt>Session</dt>
        <dd>
          {session === "new" ? "a new one for each run" : "the same one for all runs"}
          {limit !== null && `, at most ${usd(limit)} a day`}
        </dd>
      </dl>
      {may("interns:write") && (
        <div class="row">
          <Button size="small" onClick={onRun}>
            Run now
          </Button>
          <Button size="small" onClick={onToggle}>
            {enabled ? "Pause" : "Turn on"}
          </Button>
          <Button size="small" onClick={onEdit}>
            Edit
          </Button>
          <Button size="small" kind="danger" onClick={onDelete}>
            Delete
          </Button>
        </div>
      )}
    </article>
  )
}

function LastRun({ intern, schedule }: { intern: Intern; schedule: InternSchedule }) {
  const { last_run_at: at, last_session_id: session, last_error: error } = schedule
  if (at === null) return <span class="faint">never</span>
  return (
    <>
      <Time at={at} />
      {session !== null && (
        <>
          {", "}
          <a href={`/interns/${intern.id}?tab=sessions&open=${encodeURIComponent(session)}`}>its session</a>
        </>
      )}
      {error !== null && <Status tone="bad">{error}</Status>}
    </>
  )
}

type DeleteProps = {
  schedule: InternSchedule
  onConfirm: (schedule: InternSchedule) => Promise<void>
  onClose: () => void
}

function DeleteDialog({ schedule, onConfirm, onClose }: DeleteProps) {
  return (
    <ConfirmDialog
      title={`Delete the schedule ${schedule.cron}?`}
      action="Delete"
      onConfirm={() => onConfirm(schedule)}
      onClose={onClose}
    >
      <p>It does not run again. Sessions that it began stay.</p>
    </ConfirmDialog>
  )
}
