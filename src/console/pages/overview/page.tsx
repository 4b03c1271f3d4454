import "./overview.css"
import { useMemo } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, Call, CallPage, Limit, List, Workspace } from "../../api/types.ts"
import { toCsv } from "../../format/csv.ts"
import { change, compact, count, percent, usd } from "../../format/number.ts"
import { duration } from "../../format/time.ts"
import { Page } from "../../shell/page.tsx"
import { query, setQuery } from "../../state/router.ts"
import { may, session } from "../../state/session.ts"
import { Button, Segmented } from "../../ui/button.tsx"
import { Chart } from "../../ui/chart.tsx"
import { Chip, hrefOf } from "../../ui/chip.tsx"
import { Ladder, Meter } from "../../ui/meter.tsx"
import { currentRange, granularityOf, type Range, RangePicker } from "../../ui/range.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { describeOutcome, toneOf } from "../calls/columns.tsx"
import {
  type Dimension,
  download,
  type Metric,
  numberIn,
  rangeOf,
  type Row,
  stepsOf,
  textIn,
  toSeries,
  useAnalytics,
} from "./analytics.ts"
import { FirstRun } from "./first-run.tsx"
import { StatusLine } from "./status-line.tsx"

const DIMENSIONS: readonly { value: Dimension; label: string }[] = [
  { value: "model", label: "Model" },
  { value: "provider", label: "Provider" },
  { value: "api_key_hash", label: "Key" },
  { value: "app", label: "App" },
]
const ORGANIZATION: (typeof DIMENSIONS)[number] = { value: "workspace_id", label: "Workspace" }
const METRICS = [
  { value: "usage", label: "Spend", format: usd },
  { value: "requests", label: "Calls", format: compact },
  { value: "total_tokens", label: "Tokens", format: compact },
  { value: "failed_requests", label: "Failures", format: compact },
] as const satisfies readonly { value: Metric; label: string; format: (value: number) => string }[]

export default function OverviewPage() {
  const search = query.value.toString()
  const range = useMemo(() => currentRange("7d"), [search])
  const limits = useGet<{ data: Limit[] }>("/key/limits")
  const isManagement = session.value?.kind === "management"
  const title = isManagement ? "Overview" : (session.value?.key.name ?? "Overview")
  return (
    <Page title={title} controls={<RangePicker fallback="7d" />}>
      <div class="read stack wide">
        <StatusLine to={range.to} limits={limits.data?.data} />
        <FirstRun />
        <Totals range={range} />
        <Usage range={range} />
        <div class="split">
          <Failing />
          <section class="stack tight">
            <h2>{isManagement ? "What stops calls of this session's key" : "What stops this key"}</h2>
            <Loaded query={limits} lines={3}>
              {({ data }) => <Ladder limits={data} />}
            </Loaded>
          </section>
        </div>
      </div>
    </Page>
  )
}

const TOTALS: readonly Metric[] = [
  "usage",
  "byok_usage",
  "requests",
  "failed_requests",
  "total_tokens",
  "cached_tokens",
  "prompt_tokens",
  "latency",
  "throughput",
]

function before({ from, to }: Range): Pick<Range, "from" | "to"> {
  return { from: from - (to - from), to: from }
}

/** Spend, calls and quality of the range, against the range before. */
function Totals({ range }: { range: Range }) {
  const current = useAnalytics({ metrics: TOTALS, time_range: rangeOf(range) })
  const former = useAnalytics({ metrics: TOTALS, time_range: rangeOf(before(range)) })
  const month = useMonth()
  return (
    <Loaded query={current} lines={2}>
      {([row]) => {
        const old = former.data?.[0]
        const calls = numberIn(row, "requests")
        const failed = numberIn(row, "failed_requests")
        const share = calls + failed === 0 ? 0 : failed / (calls + failed)
        const prompt = numberIn(row, "prompt_tokens")
        const cached = prompt === 0 ? 0 : numberIn(row, "cached_tokens") / prompt
        const delta = (metric: Metric) => change(numberIn(row, metric), numberIn(old, metric))
        return (
          <div class="figures">
            <Figure
              name="Spend"
              value={usd(numberIn(row, "usage"))}
              note={note(delta("usage"), range)}
              href="/calls?sort=-cost"
            />
            <Figure name="Calls" value={compact(calls)} note={note(delta("requests"), range)} href="/calls" />
            <Figure
              name="Failed"
              value={percent(share)}
              note={`${count(failed)} of ${compact(calls + failed)}`}
              href="/calls?status=failed"
              isBad={share > 0.02}
            />
            <Figure
              name="Tokens"
              value={compact(numberIn(row, "total_tokens"))}
              note={`${percent(cached)} of the prompts cached`}
            />
            <Figure
              name="First token"
              value={calls === 0 ? "–" : duration(numberIn(row, "latency"))}
              note={`${count(Math.round(numberIn(row, "throughput")))} tok/s, mean`}
              href="/calls?sort=-first_token"
            />
            {month && (
              <Figure name="This month" value={usd(month.spent)} note={`${usd(month.forecast)} at this pace`} />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function note(delta: string | null, { label }: Range): string {
  return delta === null
    ? label.toLowerCase()
    : `${delta} against the ${label.replace("Last ", "").toLowerCase()} before`
}

function Figure({
  name,
  value,
  note: text,
  href,
  isBad,
}: {
  name: string
  value: string
  note: string
  href?: string
  isBad?: boolean
}) {
  const shown = href === undefined ? value : <a href={href}>{value}</a>
  return (
    <div>
      <span class="name">{name}</span>
      <span class="value">{isBad ? <Status tone="bad">{shown}</Status> : shown}</span>
      <span class="note">{text}</span>
    </div>
  )
}

const DAY = 86_400_000

/** Spend since the 1st, and what the month comes to at the mean of the last seven days. */
function useMonth(): { spent: number; forecast: number } | null {
  const today = Math.ceil(Date.now() / DAY) * DAY
  const date = new Date()
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  const month = useAnalytics({ metrics: ["usage"], time_range: rangeOf({ from: first, to: today }) })
  const week = useAnalytics({ metrics: ["usage"], time_range: rangeOf({ from: today - 7 * DAY, to: today }) })
  if (!month.data || !week.data) return null
  const spent = numberIn(month.data[0], "usage")
  const perDay = numberIn(week.data[0], "usage") / 7
  return { spent, forecast: spent + (perDay * Math.max(0, next - Date.now())) / DAY }
}

function Usage({ range }: { range: Range }) {
  const dimensions = session.value?.kind === "management" ? [...DIMENSIONS, ORGANIZATION] : DIMENSIONS
  const dimension = dimensions.find(({ value }) => value === query.value.get("by"))?.value ?? "model"
  const metric = METRICS.find(({ value }) => value === query.value.get("of")) ?? METRICS[0]
  const step = granularityOf(range)
  const names = useNames()
  const name = (id: string) => names.get(id) ?? (dimension === "api_key_hash" ? id.slice(0, 10) : id || "none")
  const shared = { dimensions: [dimension], time_range: rangeOf(range) }
  const byTime = useAnalytics({ ...shared, metrics: [metric.value], granularity: step.name, limit: 5000 })
  const table = useAnalytics({
    ...shared,
    metrics: ["usage", "requests", "failed_requests", "total_tokens", "latency"],
    limit: 200,
    order_by: { field: metric.value, direction: "desc" },
  })
  const former = useAnalytics({ ...shared, metrics: [metric.value], time_range: rangeOf(before(range)), limit: 200 })
  const times = useMemo(() => stepsOf(range, step.ms), [range, step.ms])
  const series = useMemo(
    () => toSeries(byTime.data ?? [], { times, dimension, metric: metric.value, name }),
    [byTime.data, times, names],
  )
  return (
    <section class="stack">
      <div class="row between">
        <Segmented
          label="Value"
          value={metric.value}
          onChange={(of) => setQuery({ of: of === "usage" ? null : of })}
          options={METRICS}
        />
        <div class="row">
          <Segmented
            label="Group by"
            value={dimension}
            onChange={(by) => setQuery({ by: by === "model" ? null : by })}
            options={dimensions}
          />
          <Button
            kind="quiet"
            onClick={() => download(`usage-by-${dimension}.csv`, toCsv(table.data ?? []), "text/csv")}
          >
            Export CSV
          </Button>
        </div>
      </div>
      <Chart
        label={`${metric.label} by ${dimension}`}
        times={times}
        series={series}
        kind="bars"
        format={metric.format}
        stepMs={step.ms}
      />
      <Loaded query={table}>
        {(rows) => <Breakdown rows={rows} former={former.data ?? []} view={{ dimension, metric, name }} />}
      </Loaded>
    </section>
  )
}

/** Names of keys and workspaces, which analytics has by id. */
function useNames(): ReadonlyMap<string, string> {
  const keys = useGet<List<ApiKey>>(may("keys:read") ? "/keys?include_disabled=true&limit=100" : null)
  const workspaces = useGet<List<Workspace>>(may("workspaces:read") ? "/workspaces?limit=100" : null)
  return useMemo(() => {
    const named = [
      ...(keys.data?.data ?? []).map(({ hash, name }) => [hash, name] as const),
      ...(workspaces.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ]
    return new Map(named)
  }, [keys.data, workspaces.data])
}

type View = { dimension: Dimension; metric: (typeof METRICS)[number]; name: (id: string) => string }

const FILTER_OF: Partial<Record<Dimension, string>> = {
  model: "model",
  provider: "provider",
  api_key_hash: "key",
  app: "app",
  workspace_id: "workspace",
}
const CHIP_OF = {
  model: "model",
  provider: "provider",
  api_key_hash: "key",
  app: "app",
  workspace_id: "workspace",
} as const

/** Where it goes: the same data as the chart, as numbers, each with the calls behind it. */
function Breakdown({ rows, former, view }: { rows: readonly Row[]; former: readonly Row[]; view: View }) {
  const { dimension, metric, name } = view
  const most = Math.max(1e-12, ...rows.map((row) => numberIn(row, metric.value)))
  const old = new Map(former.map((row) => [textIn(row, dimension), numberIn(row, metric.value)]))
  const kind = dimension in CHIP_OF ? CHIP_OF[dimension as keyof typeof CHIP_OF] : "app"
  if (rows.length === 0) return <p class="quiet">No calls in this range.</p>
  return (
    <div class="breakdown" role="table" aria-label={`${metric.label} by ${dimension}`}>
      <div role="row" class="breakdown-head">
        <span role="columnheader">{[...DIMENSIONS, ORGANIZATION].find(({ value }) => value === dimension)?.label}</span>
        <span role="columnheader" class="share">
          <span class="visually-hidden">Share</span>
        </span>
        <span role="columnheader">Spend</span>
        <span role="columnheader">Calls</span>
        <span role="columnheader">Tokens</span>
        <span role="columnheader">Change</span>
      </div>
      {rows.map((row) => {
        const id = textIn(row, dimension)
        const calls = `/calls?${FILTER_OF[dimension] ?? "q"}=${encodeURIComponent(id)}`
        return (
          <div role="row" key={id} class="breakdown-row">
            <span role="cell" class="truncate">
              <Chip kind={kind} id={id} label={name(id)} />
            </span>
            <span role="cell" class="share">
              <Meter
                value={numberIn(row, metric.value)}
                max={most}
                tone="series"
                label={metric.format(numberIn(row, metric.value))}
              />
            </span>
            <span role="cell">
              <Money value={numberIn(row, "usage")} />
            </span>
            <span role="cell">
              <a href={calls}>{compact(numberIn(row, "requests") + numberIn(row, "failed_requests"))}</a>
            </span>
            <span role="cell" class="num">
              {compact(numberIn(row, "total_tokens"))}
            </span>
            <span role="cell" class="num quiet">
              {change(numberIn(row, metric.value), old.get(id) ?? 0) ?? "new"}
            </span>
          </div>
        )
      })}
    </div>
  )
}

function Failing() {
  const calls = useGet<CallPage>(withParams("/calls", { status: ["failed", "refused"], limit: 6 }))
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>Failed lately</h2>
        <a href="/calls?status=failed">All</a>
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
            <span class="truncate">{call.model}</span>
            <span class="quiet small nowrap end">
              <Time at={call.created_at} />
            </span>
            <span class="quiet small why truncate">{call.error?.message ?? call.ending}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}
