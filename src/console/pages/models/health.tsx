import { useMemo } from "preact/hooks"
import { percent } from "../../format/number.ts"
import { session } from "../../state/session.ts"
import { Status } from "../../ui/status.tsx"
import { rangeOf, useAnalytics, type AnalyticsQuery } from "../overview/analytics.ts"
import { numberIn, textIn } from "../overview/series.ts"

/** Measurements of calls of the last 24 hours. */
export type Health = {
  calls: number
  failed: number
  /** Mean milliseconds to the first token; null without a measurement. */
  firstToken: number | null
  /** Mean tokens per second; null if no response took long enough. */
  speed: number | null
}

const MINUTE = 60_000
const DAY = 86_400_000

/** By model, or by name of the provider for the endpoints of one model. */
export function useMeasured(
  dimension: "model" | "provider",
  filters?: AnalyticsQuery["filters"],
): ReadonlyMap<string, Health> {
  const to = useMemo(() => Math.ceil(Date.now() / MINUTE) * MINUTE, [])
  const rows = useAnalytics({
    metrics: ["requests", "failed_requests", "latency", "throughput"],
    dimensions: [dimension],
    time_range: rangeOf({ from: to - DAY, to }),
    ...(filters && { filters }),
    limit: 1000,
  })
  return useMemo(
    () =>
      new Map(
        (rows.data ?? []).map((row) => [
          textIn(row, dimension),
          {
            calls: numberIn(row, "requests"),
            failed: numberIn(row, "failed_requests"),
            firstToken: numberIn(row, "latency") || null,
            speed: numberIn(row, "throughput") || null,
          },
        ]),
      ),
    [rows.data],
  )
}

/** The scope of the measurement. */
export function measurementScope(): string {
  const scope = session.value?.kind === "management" ? "this workspace" : "this key"
  return `Measured on the calls of ${scope} in the last 24 hours.`
}

export function SuccessRate({ health }: { health: Health | undefined }) {
  const total = health ? health.calls + health.failed : 0
  if (!health || total === 0) return <span class="faint">no calls</span>
  const share = health.calls / total
  const tone = share >= 0.98 ? "good" : share >= 0.8 ? "warn" : "bad"
  return (
    <Status tone={tone} title={`${health.failed} of ${total} calls failed in the last 24 hours`}>
      {percent(share)}
    </Status>
  )
}
