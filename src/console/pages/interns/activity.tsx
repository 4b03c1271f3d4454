import type { Intern, InternSession, OpenQuestion } from "../../api/account-types.ts"
import { useGet } from "../../api/query.ts"
import { questionHref, summaryOf } from "../../state/questions.ts"
import { Status } from "../../ui/status.tsx"
import { TimeLeft } from "../../ui/time-left.tsx"
import { Time } from "../../ui/values.tsx"

/** Current activity of an intern: its open question, or its latest session. */
export function Activity({ intern, question }: { intern: Intern; question: OpenQuestion | undefined }) {
  // An intern that does not run is not woken up for its sessions.
  const isRead = question === undefined && intern.status === "running"
  const sessions = useGet<{ data: InternSession[] }>(isRead ? `/interns/${intern.id}/sessions?limit=1` : null)
  if (question)
    return (
      <span class="row nowrap">
        <a class="truncate" href={questionHref(question)}>
          <Status tone="warn">asks: {summaryOf(question)}</Status>
        </a>
        <TimeLeft deadline={Date.parse(question.deadline)} />
      </span>
    )
  const latest = sessions.data?.data[0]
  if (!latest) return <span class="faint">{sessions.data ? "no session yet" : ""}</span>
  const href = `/interns/${intern.id}?session=${encodeURIComponent(latest.id)}`
  return (
    <span class="row nowrap">
      <a class="truncate" href={href}>
        <Status tone={latest.status === "idle" ? "off" : "busy"}>{latest.title}</Status>
      </a>
      <span class="quiet small nowrap">
        <Time at={latest.updated_at} />
      </span>
    </span>
  )
}
