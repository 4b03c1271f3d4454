import { query } from "../../state/router.ts"
import { describeRange, type Range } from "../../ui/charts/range.tsx"

const DAY = 86_400_000

type Span = Pick<Range, "from" | "to">
export type ComparisonRange = Span & {
  /** The value in the URL. */
  value: string
  name: string
  /** Factor that scales a sum of this period to the length of the range. */
  scale: number
}

/** Complete weeks, so that the same days of the week are compared. */
const SHIFTS = [
  { value: "week", name: "a week earlier", ms: 7 * DAY },
  { value: "4weeks", name: "4 weeks earlier", ms: 28 * DAY },
  { value: "year", name: "52 weeks earlier", ms: 364 * DAY },
] as const

/** Periods of the same length that end before the range begins. */
export function earlierOf({ from, to }: Span): ComparisonRange[] {
  const span = to - from
  const earlier = (value: string, name: string, ms: number) => ({ value, name, from: from - ms, to: to - ms, scale: 1 })
  const shifted = SHIFTS.filter(({ ms }) => ms > span).map(({ value, name, ms }) => earlier(value, name, ms))
  return [earlier("before", "the previous period", span), ...shifted]
}

/** The comparison period in the page's query; by default or if invalid, the previous period. */
export function comparedRange(range: Span, params: URLSearchParams): ComparisonRange {
  const from = Date.parse(params.get("against_from") ?? "")
  const to = Date.parse(params.get("against_to") ?? "")
  if (from < to) {
    const name = describeRange({ from, to })
    return { value: "custom", name, from, to, scale: (range.to - range.from) / (to - from) }
  }
  const [before, ...others] = earlierOf(range)
  const chosen = others.find(({ value }) => value === params.get("against")) ?? before
  if (!chosen) throw new Error("There is always the previous period.")
  return chosen
}

/** The time range of this page as query parameters of the call list. */
export function shownRange() {
  const params = query.value
  const [from, to] = [params.get("from"), params.get("to")]
  return from !== null && to !== null ? { from, to } : { range: params.get("range") ?? "7d" }
}
