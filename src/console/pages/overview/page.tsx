import "./overview.css"
import { useMemo } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { Call, CallPage, Limit } from "../../api/types.ts"
import { Page } from "../../shell/page.tsx"
import { query } from "../../state/router.ts"
import { session } from "../../state/session.ts"
import { hrefOf } from "../../ui/chip.tsx"
import { Ladder } from "../../ui/charts/meter.tsx"
import { currentRange, RangePicker } from "../../ui/charts/range.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Time } from "../../ui/values.tsx"
import { describeOutcome, toneOf } from "../calls/columns.tsx"
import { Changed } from "./changed.tsx"
import { ComparePicker } from "./compare.tsx"
import { FirstRun } from "./first-run.tsx"
import { comparedRange, shownRange } from "./periods.ts"
import { Questions } from "./questions.tsx"
import { StatusLine } from "./status-line.tsx"
import { Totals } from "./totals.tsx"
import { Usage } from "./usage.tsx"

export default function OverviewPage() {
  const search = query.value.toString()
  const range = useMemo(() => currentRange("7d"), [search])
  const compared = useMemo(() => comparedRange(range, query.value), [range])
  const limits = useGet<{ data: Limit[] }>("/key/limits")
  const isManagement = session.value?.kind === "management"
  const title = isManagement ? "Overview" : (session.value?.key.name ?? "Overview")
  const controls = (
    <>
      <RangePicker fallback="7d" />
      <ComparePicker range={range} />
    </>
  )
  return (
    <Page title={title} controls={controls}>
      <div class="read stack wide">
        <StatusLine to={range.to} limits={limits.data?.data} />
        <Questions />
        <FirstRun />
        <Totals range={range} compared={compared} />
        <Changed range={range} compared={compared} />
        <Usage range={range} compared={compared} />
        <div class="split">
          <Failing />
          <section class="stack tight">
            <h2>{isManagement ? "Limits of this session's key" : "Limits of this key"}</h2>
            <Loaded query={limits} lines={3}>
              {({ data }) => <Ladder limits={data} />}
            </Loaded>
          </section>
        </div>
      </div>
    </Page>
  )
}

function Failing() {
  const calls = useGet<CallPage>(withParams("/calls", { status: ["failed", "refused"], limit: 6 }))
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>Failed lately</h2>
        <a href={withParams("/calls", { status: ["failed", "refused"], ...shownRange() })}>All</a>
      </div>
      <Loaded query={calls} lines={4}>
        {({ data }) => (data.length === 0 ? <p class="quiet">Nothing failed.</p> : <FailedList calls={data} />)}
      </Loaded>
    </section>
  )
}

function FailedList({ calls }: { calls: readonly Call[] }) {
  return (
    <ul class="failed">
      {calls.map((call) => (
        <li key={call.id}>
          <a href={hrefOf("call", call.id)}>
            <Status tone={toneOf(call)}>{describeOutcome(call)}</Status>
            <span class="truncate" dir="auto">
              {call.model}
            </span>
            <span class="quiet small nowrap end">
              <Time at={call.created_at} />
            </span>
            <span class="quiet small why truncate" dir="auto">
              {call.error?.message ?? call.ending}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
