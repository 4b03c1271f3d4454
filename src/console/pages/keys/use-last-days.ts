import { useMemo } from "preact/hooks"
import { rangeOf, useAnalytics } from "../overview/analytics.ts"
import { textIn } from "../overview/series.ts"

export const USED_DAYS = 30
const DAY = 86_400_000
const MAX_ROWS = 10_000

/** The latest day with calls, by hash of the key; undefined until it is known. */
export function useLastDays(): ReadonlyMap<string, string> | undefined {
  const to = useMemo(() => Math.ceil(Date.now() / DAY) * DAY, [])
  const rows = useAnalytics({
    metrics: ["requests"],
    dimensions: ["api_key_hash"],
    granularity: "day",
    time_range: rangeOf({ from: to - USED_DAYS * DAY, to }),
    order_by: { field: "date", direction: "asc" },
    limit: MAX_ROWS,
  })
  return useMemo(
    () => rows.data && new Map(rows.data.map((row) => [textIn(row, "api_key_hash"), textIn(row, "date")])),
    [rows.data],
  )
}
