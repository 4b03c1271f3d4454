import { DAY_MS } from "../support/time/time.ts"
import { nanoToUsd } from "../money/money.ts"
import { windowStart } from "../money/windows.ts"
import type { UsageRow } from "./rows-store.ts"
import { keysOf } from "../support/arrays.ts"

/** Metrics, dimensions and filters of analytics. Pure: store.ts reads the rows. */

const GRANULARITIES = ["minute", "hour", "day", "week", "month"] as const
export type Granularity = (typeof GRANULARITIES)[number]

const DIMENSIONS = {
  model: "Model",
  requested_model: "Requested model or alias",
  provider: "Provider",
  workspace_id: "Workspace",
  api_key_hash: "API key",
  user_id: "Creator of the key",
  app: "App",
  external_user: "End user",
  api_type: "Kind of call",
} as const
export type Dimension = keyof typeof DIMENSIONS

type Sums = Omit<UsageRow, "at" | Dimension>
type Format = "number" | "currency" | "percent" | "latency" | "throughput"
type MetricDefinition = { label: string; format: Format; isRate?: true; compute: (sums: Sums) => number }

const share = (part: number, total: number) => (total === 0 ? 0 : part / total)

const METRICS = {
  requests: { label: "Requests", format: "number", compute: (s) => s.requests },
  failed_requests: { label: "Requests without a provider's response", format: "number", compute: (s) => s.refused },
  error_rate: {
    label: "Share of failed requests",
    format: "percent",
    isRate: true,
    compute: (s) => share(s.refused, s.requests + s.refused),
  },
  usage: { label: "Spent, USD", format: "currency", compute: (s) => nanoToUsd(s.cost) },
  byok_usage: { label: "Spent with BYOK credentials, USD", format: "currency", compute: (s) => nanoToUsd(s.byok) },
  usage_per_request: {
    label: "Spent a request, USD",
    format: "currency",
    isRate: true,
    compute: (s) => share(nanoToUsd(s.cost), s.requests),
  },
  prompt_tokens: { label: "Prompt tokens", format: "number", compute: (s) => s.prompt },
  completion_tokens: { label: "Completion tokens", format: "number", compute: (s) => s.completion },
  reasoning_tokens: { label: "Reasoning tokens", format: "number", compute: (s) => s.reasoning },
  cached_tokens: { label: "Cached prompt tokens", format: "number", compute: (s) => s.cached },
  total_tokens: { label: "Tokens", format: "number", compute: (s) => s.prompt + s.completion },
  cache_hit_rate: {
    label: "Share of cached prompt tokens",
    format: "percent",
    isRate: true,
    compute: (s) => share(s.cached, s.prompt),
  },
  latency: {
    label: "Time to the first token, ms",
    format: "latency",
    isRate: true,
    compute: (s) => share(s.latency, s.latency_count),
  },
  generation_time: {
    label: "Time of generation, ms",
    format: "latency",
    isRate: true,
    compute: (s) => share(s.generation, s.generation_count),
  },
  throughput: {
    label: "Tokens a second",
    format: "throughput",
    isRate: true,
    compute: (s) => share(s.completion * 1_000, s.generation),
  },
} as const satisfies Record<string, MetricDefinition>
export type Metric = keyof typeof METRICS

const OPERATORS = {
  eq: "scalar",
  neq: "scalar",
  in: "array",
  not_in: "array",
  gt: "scalar",
  gte: "scalar",
  lt: "scalar",
  lte: "scalar",
} as const
export type Operator = keyof typeof OPERATORS

export const DIMENSION_NAMES = keysOf(DIMENSIONS)
export const METRIC_NAMES = keysOf(METRICS)
export const OPERATOR_NAMES = keysOf(OPERATORS)
export { GRANULARITIES }

export function describeAnalytics() {
  return {
    dimensions: DIMENSION_NAMES.map((name) => ({ name, display_label: DIMENSIONS[name] })),
    granularities: GRANULARITIES.map((name) => ({ name, display_label: `By ${name}` })),
    metrics: METRIC_NAMES.map((name) => {
      const metric: MetricDefinition = METRICS[name]
      return {
        name,
        display_label: metric.label,
        display_format: metric.format,
        is_rate: metric.isRate === true,
      }
    }),
    operators: OPERATOR_NAMES.map((name) => ({ name, value_type: OPERATORS[name] })),
  }
}

type Scalar = string | number
export type Filter = {
  field: Dimension | Metric
  operator: Operator
  value: Scalar | Scalar[]
  include_unset?: boolean
}

export type Question = {
  metrics: readonly Metric[]
  dimensions: readonly Dimension[]
  granularity: Granularity | null
  filters: readonly Filter[]
  orderBy: { field: string; direction: "asc" | "desc" } | null
  limit: number
  /** With a granularity: maximum number of groups, by the first metric. */
  groupLimit: number | null
}

export type AnalyticsRow = Record<string, string | number | null>

/** Metrics are computed from summed rows: a rate of a group is not the mean of rates. */
export function runAnalyticsQuery(
  rows: readonly UsageRow[],
  question: Question,
): { rows: AnalyticsRow[]; all: number } {
  const ofDimensions = question.filters.filter((filter) => isDimension(filter.field))
  const ofMetrics = question.filters.filter((filter) => !isDimension(filter.field))
  const groups = new Map<string, { key: AnalyticsRow; group: string; sums: Sums }>()
  for (const row of rows) {
    if (!ofDimensions.every((filter) => passes(row[filter.field as Dimension] || null, filter))) continue
    const dimensions = Object.fromEntries(question.dimensions.map((name) => [name, row[name] || null]))
    const date = question.granularity && new Date(bucketStart(question.granularity, row.at)).toISOString()
    const key: AnalyticsRow = { ...(date !== null && { date }), ...dimensions }
    const id = JSON.stringify(key)
    const existing = groups.get(id)
    if (existing) add(existing.sums, row)
    else groups.set(id, { key, group: JSON.stringify(dimensions), sums: add({ ...NOTHING }, row) })
  }
  const largestGroups = largest([...groups.values()], question)
  const passed = largestGroups
    .map(({ key, sums }) => {
      const values = question.metrics.map((name) => [name, METRICS[name].compute(sums)] as const)
      const passing = ofMetrics.every((filter) => passes(METRICS[filter.field as Metric].compute(sums), filter))
      return passing ? { row: { ...key, ...Object.fromEntries(values) }, sums } : undefined
    })
    .filter((one) => one !== undefined)
  const first = sortRows(passed, question).slice(0, question.limit)
  return { rows: first.map(({ row }) => row), all: passed.length }
}

function largest<T extends { group: string; sums: Sums }>(
  groups: T[],
  { groupLimit, granularity, metrics }: Question,
): T[] {
  const [metric] = metrics
  if (groupLimit === null || granularity === null || !metric) return groups
  const totals = new Map<string, Sums>()
  for (const { group, sums } of groups) totals.set(group, add(totals.get(group) ?? { ...NOTHING }, sums))
  const names = [...totals].sort(([, a], [, b]) => METRICS[metric].compute(b) - METRICS[metric].compute(a))
  const keptNames = new Set(names.slice(0, groupLimit).map(([name]) => name))
  return groups.filter(({ group }) => keptNames.has(group))
}

/** Sorts as requested, by default newest bucket first, then by the first metric; ties keep a stable order. */
function sortRows<T extends { row: AnalyticsRow; sums: Sums }>(
  rows: T[],
  { orderBy, metrics, granularity }: Question,
): T[] {
  const orders = orderBy
    ? [orderBy]
    : [
        ...(granularity ? [{ field: "date", direction: "desc" as const }] : []),
        { field: metrics[0] ?? "requests", direction: "desc" as const },
      ]
  // Rows need not show the metric that orders them.
  const valueOf = ({ row, sums }: T, field: string) =>
    isMetric(field) ? METRICS[field].compute(sums) : (row[field] ?? "")
  return rows.toSorted((a, b) => {
    for (const { field, direction } of orders) {
      const order = compare(valueOf(a, field), valueOf(b, field))
      if (order !== 0) return direction === "asc" ? order : -order
    }
    return compare(JSON.stringify(a.row), JSON.stringify(b.row))
  })
}

function compare(a: Scalar, b: Scalar): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isMetric(field: string): field is Metric {
  return Object.hasOwn(METRICS, field)
}

export function isDimension(field: string): field is Dimension {
  return Object.hasOwn(DIMENSIONS, field)
}

function passes(value: Scalar | null, { operator, value: expected, include_unset: includeUnset }: Filter): boolean {
  if (value === null) return includeUnset === true
  const list = Array.isArray(expected) ? expected : [expected]
  const [first = ""] = list
  const order = typeof value === "number" ? compare(value, Number(first)) : compare(value, String(first))
  const isIn = list.some((item) => String(item) === String(value))
  switch (operator) {
    case "eq":
    case "in":
      return isIn
    case "neq":
    case "not_in":
      return !isIn
    case "gt":
      return order > 0
    case "gte":
      return order >= 0
    case "lt":
      return order < 0
    case "lte":
      return order <= 0
  }
}

function bucketStart(granularity: Granularity, at: number): number {
  switch (granularity) {
    case "minute":
      return at - (at % 60_000)
    case "hour":
      return at - (at % 3_600_000)
    case "day":
      return at - (at % DAY_MS)
    case "week":
      return windowStart("weekly", at)
    case "month":
      return windowStart("monthly", at)
  }
}

const NOTHING: Sums = {
  requests: 0,
  refused: 0,
  cost: 0,
  byok: 0,
  prompt: 0,
  completion: 0,
  reasoning: 0,
  cached: 0,
  latency: 0,
  latency_count: 0,
  generation: 0,
  generation_count: 0,
}

function add(sums: Sums, more: Sums): Sums {
  for (const name of keysOf(NOTHING)) sums[name] += more[name]
  return sums
}
