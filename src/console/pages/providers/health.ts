import { useMemo } from "preact/hooks"
import { rangeOf, useAnalytics } from "../overview/analytics.ts"
import { numberIn, textIn } from "../overview/series.ts"

const MINUTE = 60_000
const DAY = 86_400_000

/** Calls and failures of the last 24 hours, by name of the provider. */
export function useHealth(): ReadonlyMap<string, { calls: number; failed: number }> {
  const to = useMemo(() => Math.ceil(Date.now() / MINUTE) * MINUTE, [])
  const rows = useAnalytics({
    metrics: ["requests", "failed_requests"],
    dimensions: ["provider"],
    time_range: rangeOf({ from: to - DAY, to }),
  })
  return useMemo(
    () =>
      new Map(
        (rows.data ?? []).map((row) => [
          textIn(row, "provider"),
          { calls: numberIn(row, "requests"), failed: numberIn(row, "failed_requests") },
        ]),
      ),
    [rows.data],
  )
}
