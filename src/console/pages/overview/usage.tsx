import { useMemo } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import { toCsv } from "../../format/csv.ts"
import { change, compact, percent, usd } from "../../format/number.ts"
import { duration } from "../../format/time.ts"
import { navigate, query, setQuery } from "../../state/router.ts"
import { useNames } from "../../state/names.ts"
import { session } from "../../state/session.ts"
import { Button, Segmented } from "../../ui/button.tsx"
import { Chart, loadDrawing } from "../../ui/charts/chart.tsx"
import { Chip } from "../../ui/chip.tsx"
import { Meter } from "../../ui/charts/meter.tsx"
import { granularityOf, type Range } from "../../ui/charts/range.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import { Money } from "../../ui/values.tsx"
import type { FilterName } from "../calls/filters.ts"
import { type Dimension, download, rangeOf, stepsOf, useAnalytics } from "./analytics.ts"
import { type ComparisonRange, shownRange } from "./periods.ts"
import { numberIn, textIn, toSeries, type Metric, type Row } from "./series.ts"

const DIMENSIONS: readonly { value: Dimension; label: string }[] = [
  { value: "model", label: "Model" },
  { value: "requested_model", label: "Requested" },
  { value: "provider", label: "Provider" },
  { value: "api_key_hash", label: "Key" },
  { value: "app", label: "App" },
  { value: "external_user", label: "End user" },
]
const ORGANIZATION: typeof DIMENSIONS = [
  { value: "user_id", label: "Member" },
  { value: "workspace_id", label: "Workspace" },
]
const METRICS = [
  { value: "usage", label: "Spend", format: usd },
  { value: "requests", label: "Answered", format: compact },
  { value: "total_tokens", label: "Tokens", format: compact },
  { value: "failed_requests", label: "Failures", format: compact },
  { value: "latency", label: "First token", format: duration, isRate: true },
  { value: "cache_hit_rate", label: "Cached", format: percent, isRate: true },
] as const satisfies readonly UsageMetric[]
/** A rate cannot be summed: its series are lines, without "other". */
type UsageMetric = { value: Metric; label: string; format: (value: number) => string; isRate?: boolean }

/** Source of the names of a dimension's ids. */
const NAMES_OF = { api_key_hash: ["keys"], user_id: ["members"], workspace_id: ["workspaces"] } as const
const NO_NAMES = [] as const

loadDrawing().catch(() => {
  // The chart requests them again.
})

export function Usage({ range, compared }: { range: Range; compared: ComparisonRange }) {
  const dimensions = session.value?.kind === "management" ? [...DIMENSIONS, ...ORGANIZATION] : DIMENSIONS
  const dimension = dimensions.find(({ value }) => value === query.value.get("by"))?.value ?? "model"
  const metric: UsageMetric = METRICS.find(({ value }) => value === query.value.get("of")) ?? METRICS[0]
  const isRate = metric.isRate === true
  const step = granularityOf(range)
  const names = useNames(dimension in NAMES_OF ? NAMES_OF[dimension as keyof typeof NAMES_OF] : NO_NAMES)
  const name = (id: string) => names.get(id) ?? (dimension === "api_key_hash" ? id.slice(0, 10) : id || "none")
  const shared = { dimensions: [dimension], time_range: rangeOf(range) }
  const byTime = useAnalytics({ ...shared, metrics: [metric.value, "requests"], granularity: step.name, limit: 5000 })
  const table = useAnalytics({
    ...shared,
    metrics: ["usage", "requests", "failed_requests", "total_tokens", "latency", "cache_hit_rate"],
    limit: 200,
    order_by: { field: metric.value, direction: "desc" },
  })
  const former = useAnalytics({ ...shared, metrics: [metric.value], time_range: rangeOf(compared), limit: 200 })
  const times = useMemo(() => stepsOf(range, step.ms), [range, step.ms])
  const series = useMemo(
    () => toSeries(byTime.data ?? [], { times, dimension, metric: metric.value, isRate, name }),
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
            disabled={table.data === undefined}
            onClick={() => download(`usage-by-${dimension}.csv`, toCsv(table.data ?? []), "text/csv")}
          >
            Export CSV
          </Button>
        </div>
      </div>
      {/* An empty chart would have an axis of made-up numbers. */}
      {table.data?.length !== 0 && (
        <Chart
          label={titleOf(metric, dimension)}
          times={times}
          series={series}
          kind={isRate ? "line" : "bars"}
          format={metric.format}
          stepMs={step.ms}
          onStep={openCalls}
        />
      )}
      <Loaded query={table}>
        {(rows) => <Breakdown rows={rows} former={former.data} view={{ dimension, metric, name, compared }} />}
      </Loaded>
    </section>
  )
}

function labelOf(dimension: Dimension): string {
  return [...DIMENSIONS, ...ORGANIZATION].find(({ value }) => value === dimension)?.label ?? dimension
}

function titleOf({ label }: UsageMetric, dimension: Dimension): string {
  return `${label} by ${labelOf(dimension).toLowerCase()}`
}

function openCalls(from: number, to: number): void {
  navigate(withParams("/calls", { from: new Date(from).toISOString(), to: new Date(to).toISOString() }))
}

type View = { dimension: Dimension; metric: UsageMetric; name: (id: string) => string; compared: ComparisonRange }

/** The chip of a dimension, which is also its filter in the list of calls. */
const CHIP_OF = {
  model: "model",
  requested_model: "model",
  provider: "provider",
  api_key_hash: "key",
  app: "app",
  external_user: "end_user",
  user_id: "member",
  workspace_id: "workspace",
} as const
/** Filters of the list of calls, by dimension. */
const FILTER_OF: Partial<Record<Dimension, FilterName>> = {
  model: "model",
  requested_model: "requested_model",
  provider: "provider",
  api_key_hash: "key",
  app: "app",
  external_user: "user",
  user_id: "creator_user_id",
  workspace_id: "workspace",
}
/** Columns of each breakdown; another metric replaces the tokens. */
const IN_COLUMNS: ReadonlySet<Metric> = new Set(["usage", "requests", "total_tokens"])

function NoCalls() {
  return (
    <Empty title="No calls in this range">
      <p>
        Choose a longer range above, or <a href="/playground">make a call</a>. It is here some seconds after it ends.
      </p>
    </Empty>
  )
}

/** Breakdown: the data of the chart as numbers, each with a link to its calls. */
function Breakdown({ rows, former, view }: { rows: readonly Row[]; former: readonly Row[] | undefined; view: View }) {
  const { dimension, metric, name, compared } = view
  const largest = Math.max(1e-12, ...rows.map((row) => numberIn(row, metric.value)))
  // A mean does not depend on the length of the period.
  const scale = metric.isRate === true ? 1 : compared.scale
  const old = new Map(former?.map((row) => [textIn(row, dimension), numberIn(row, metric.value) * scale]))
  const kind = dimension in CHIP_OF ? CHIP_OF[dimension as keyof typeof CHIP_OF] : "app"
  const filter = FILTER_OF[dimension]
  const last: UsageMetric = IN_COLUMNS.has(metric.value) ? METRICS[2] : metric
  if (rows.length === 0) return <NoCalls />
  return (
    <div class="breakdown" role="table" aria-label={titleOf(metric, dimension)}>
      <div role="row" class="breakdown-head">
        <span role="columnheader">{labelOf(dimension)}</span>
        <span role="columnheader" class="share">
          <span class="visually-hidden">Share</span>
        </span>
        <span role="columnheader">Spend</span>
        <span role="columnheader">Calls</span>
        <span role="columnheader">{last.label}</span>
        <span role="columnheader" title={`Against ${compared.name}${scale === 1 ? "" : ", a day"}`}>
          Change
        </span>
      </div>
      {rows.map((row) => {
        const id = textIn(row, dimension)
        const calls = compact(numberIn(row, "requests") + numberIn(row, "failed_requests"))
        return (
          <div role="row" key={id} class="breakdown-row">
            <span role="cell" class="truncate" dir="auto">
              <Chip kind={kind} id={id} label={name(id)} />
            </span>
            <span role="cell" class="share">
              <Meter
                value={numberIn(row, metric.value)}
                max={largest}
                tone="series"
                label={metric.format(numberIn(row, metric.value))}
              />
            </span>
            <span role="cell">
              <Money value={numberIn(row, "usage")} />
            </span>
            <span role="cell">
              {filter !== undefined && id !== "" ? (
                <a href={withParams("/calls", { [filter]: id, ...shownRange() })}>{calls}</a>
              ) : (
                calls
              )}
            </span>
            <span role="cell" class="num">
              {last.format(numberIn(row, last.value))}
            </span>
            <span role="cell" class="num quiet">
              {former === undefined ? "–" : (change(numberIn(row, metric.value), old.get(id) ?? 0) ?? "new")}
            </span>
          </div>
        )
      })}
    </div>
  )
}
