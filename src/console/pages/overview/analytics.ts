import { api } from "../../api/client.ts"
import { type Query, useQuery } from "../../api/query.ts"
import { session, workspaceId } from "../../state/session.ts"
import type { Range } from "../../ui/range.tsx"

export type Dimension = "model" | "provider" | "workspace_id" | "api_key_hash" | "user_id" | "app" | "api_type"
export type Metric =
  | "requests"
  | "failed_requests"
  | "error_rate"
  | "usage"
  | "byok_usage"
  | "prompt_tokens"
  | "completion_tokens"
  | "cached_tokens"
  | "total_tokens"
  | "cache_hit_rate"
  | "latency"
  | "throughput"

export type AnalyticsQuery = {
  metrics: readonly Metric[]
  dimensions?: readonly Dimension[]
  granularity?: "minute" | "hour" | "day"
  time_range: { start: string; end: string }
  filters?: readonly { field: Dimension; operator: "eq"; value: string }[]
  order_by?: { field: Metric; direction: "asc" | "desc" }
  limit?: number
}

export type Row = Readonly<Record<string, string | number | null>>
type Answer = { data: { data: Row[]; metadata: { truncated: boolean } } }

export function rangeOf({ from, to }: Pick<Range, "from" | "to">): AnalyticsQuery["time_range"] {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
}

/** Of the chosen workspace; grouped by workspace, of the organization. A plain key has its own calls alone. */
function scoped(body: AnalyticsQuery): { path: string; body: AnalyticsQuery } {
  if (session.value?.kind !== "management") return { path: "/key/analytics/query", body }
  const workspace = workspaceId.value
  if (workspace === null || body.dimensions?.includes("workspace_id")) return { path: "/analytics/query", body }
  const filter = { field: "workspace_id", operator: "eq", value: workspace } as const
  return { path: "/analytics/query", body: { ...body, filters: [...(body.filters ?? []), filter] } }
}

/** Totals of the whole range, computed by the server. */
export function useAnalytics(query: AnalyticsQuery | null): Query<readonly Row[]> {
  const call = query && scoped(query)
  return useQuery(call && `${call.path} ${JSON.stringify(call.body)}`, async () => {
    if (!call) return []
    const { data } = await api<Answer>(call.path, { method: "POST", body: call.body })
    return data.data
  })
}

export function numberIn(row: Row | undefined, name: Metric): number {
  const value = row?.[name]
  return typeof value === "number" ? value : 0
}

export function textIn(row: Row, name: string): string {
  const value = row[name]
  return value === null || value === undefined ? "" : String(value)
}

/** Steps of the range, all of them: a step without calls is zero and not left out. */
export function stepsOf({ from, to }: Range, stepMs: number): number[] {
  const first = Math.floor(from / stepMs) * stepMs
  return Array.from({ length: Math.max(1, Math.ceil((to - first) / stepMs)) }, (_, index) => first + index * stepMs)
}

const MAX_SERIES = 5

/** Rows by step and name as series: the largest five, and the rest as "other". */
export function toSeries(
  rows: readonly Row[],
  options: { times: readonly number[]; dimension: string; metric: Metric; name: (id: string) => string },
) {
  const { times, dimension, metric, name } = options
  const index = new Map(times.map((time, position) => [time, position]))
  const totals = new Map<string, number>()
  for (const row of rows) {
    const id = textIn(row, dimension)
    totals.set(id, (totals.get(id) ?? 0) + numberIn(row, metric))
  }
  const largest = [...totals].sort((a, b) => b[1] - a[1]).map(([id]) => id)
  const shown = largest.length > MAX_SERIES + 1 ? largest.slice(0, MAX_SERIES) : largest
  const isOther = largest.length > shown.length
  const values = new Map([...shown, ...(isOther ? [OTHER] : [])].map((id) => [id, times.map(() => 0)]))
  for (const row of rows) {
    const position = index.get(Date.parse(textIn(row, "date")))
    const id = textIn(row, dimension)
    const series = values.get(shown.includes(id) ? id : OTHER)
    if (series && position !== undefined) series[position] = (series[position] ?? 0) + numberIn(row, metric)
  }
  return [...values].map(([id, each]) => ({ label: id === OTHER ? "other" : name(id), values: each }))
}

const OTHER = "\u0000other"

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** The range of the same length that ends where this one begins. */
export function before({ from, to }: Range): Pick<Range, "from" | "to"> {
  return { from: from - (to - from), to: from }
}
