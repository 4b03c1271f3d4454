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

export type Row = Readonly<Record<string, string | number | null>>

export function numberIn(row: Row | undefined, name: Metric): number {
  const value = row?.[name]
  return typeof value === "number" ? value : 0
}

export function textIn(row: Row, name: string): string {
  const value = row[name]
  return value === null || value === undefined ? "" : String(value)
}

const MAX_SERIES = 5

/** Rows by step and name as series: the largest five, and the rest as "other". */
export function toSeries(
  rows: readonly Row[],
  options: {
    times: readonly number[]
    dimension: string
    metric: Metric
    /** A mean over calls: not summed, absent without calls, and ranked by number of calls. */
    isRate: boolean
    name: (id: string) => string
  },
): { label: string; values: (number | null)[] }[] {
  const { times, dimension, metric, isRate, name } = options
  const index = new Map(times.map((time, position) => [time, position]))
  const totals = new Map<string, number>()
  for (const row of rows) {
    const id = textIn(row, dimension)
    totals.set(id, (totals.get(id) ?? 0) + numberIn(row, isRate ? "requests" : metric))
  }
  const largest = [...totals].sort((a, b) => b[1] - a[1]).map(([id]) => id)
  const shown = largest.length > MAX_SERIES + 1 ? largest.slice(0, MAX_SERIES) : largest
  const isOther = largest.length > shown.length && !isRate
  const none = isRate ? null : 0
  const values = new Map(
    [...shown, ...(isOther ? [OTHER] : [])].map((id) => [id, times.map((): number | null => none)]),
  )
  for (const row of rows) {
    if (isRate && numberIn(row, "requests") === 0) continue
    const position = index.get(Date.parse(textIn(row, "date")))
    const id = textIn(row, dimension)
    const series = values.get(shown.includes(id) ? id : OTHER)
    if (series && position !== undefined) series[position] = (series[position] ?? 0) + numberIn(row, metric)
  }
  return [...values].map(([id, each]) => ({ label: id === OTHER ? "other" : name(id), values: each }))
}

const OTHER = "\u0000other"
