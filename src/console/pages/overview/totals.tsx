import { withParams } from "../../api/client.ts"
import { change, compact, count, percent, usd } from "../../format/number.ts"
import { duration } from "../../format/time.ts"
import type { Range } from "../../ui/charts/range.tsx"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { rangeOf, useAnalytics } from "./analytics.ts"
import { type ComparisonRange, shownRange } from "./periods.ts"
import { numberIn, textIn, type Metric } from "./series.ts"

export const TOTALS: readonly Metric[] = [
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

/** Spend, calls and quality of the range, against another one. */
export function Totals({ range, compared }: { range: Range; compared: ComparisonRange }) {
  const current = useAnalytics({ metrics: TOTALS, time_range: rangeOf(range) })
  const former = useAnalytics({ metrics: TOTALS, time_range: rangeOf(compared) })
  const month = useMonth()
  return (
    <Loaded query={current} lines={2}>
      {([row]) => {
        const old = former.data?.[0]
        const successful = numberIn(row, "requests")
        const failed = numberIn(row, "failed_requests")
        const calls = successful + failed
        const share = calls === 0 ? 0 : failed / calls
        const prompt = numberIn(row, "prompt_tokens")
        const cached = prompt === 0 ? 0 : numberIn(row, "cached_tokens") / prompt
        const sum = (from: typeof row, metrics: readonly Metric[]) =>
          metrics.reduce((total, metric) => total + numberIn(from, metric), 0)
        const delta = (...metrics: Metric[]) => change(sum(row, metrics), sum(old, metrics) * compared.scale)
        return (
          <div class="figures">
            <Figure
              name="Spend"
              value={usd(numberIn(row, "usage"))}
              note={note(delta("usage"), range, compared)}
              href={withParams("/calls", { sort: "-cost", ...shownRange() })}
            />
            <Figure
              name="Calls"
              value={compact(calls)}
              note={note(delta("requests", "failed_requests"), range, compared)}
              href={withParams("/calls", shownRange())}
            />
            <Figure
              name="Failed"
              value={percent(share)}
              note={`${count(failed)} of ${compact(calls)}`}
              href={withParams("/calls", { status: "failed", ...shownRange() })}
              isBad={share > 0.02}
            />
            <Figure
              name="Tokens"
              value={compact(numberIn(row, "total_tokens"))}
              note={prompt === 0 ? "none in this range" : `${percent(cached)} of the prompts cached`}
              href={withParams("/calls", { sort: "-tokens", ...shownRange() })}
            />
            <Figure
              name="First token"
              value={successful === 0 ? "–" : duration(numberIn(row, "latency"))}
              note={successful === 0 ? "no answer" : speed(numberIn(row, "throughput"))}
              href={withParams("/calls", { sort: "-first_token", ...shownRange() })}
            />
            {month && (
              <Figure
                name="This month"
                value={usd(month.spent)}
                note={`${usd(month.forecast)} at this pace`}
                href={withParams("/calls", { sort: "-cost", from: month.first, to: month.today })}
              />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

/** Periods of different lengths are compared per day. */
function note(delta: string | null, { label }: Range, { name, scale }: ComparisonRange): string {
  if (delta === null) return label.toLowerCase()
  return `${delta} ${scale === 1 ? "" : "a day "}against ${name}`
}

/** No speed if no response took long enough to measure it. */
function speed(tokensPerSecond: number): string {
  return tokensPerSecond < 1 ? "mean" : `mean, ${count(Math.round(tokensPerSecond))} tok/s`
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
      <span class="name">{isBad ? <Status tone="bad">{name}</Status> : name}</span>
      <span class="value">{shown}</span>
      <span class="note">{text}</span>
    </div>
  )
}

const DAY = 86_400_000

/** Spend since the 1st, and the forecast for the month from the mean of the last seven days. */
function useMonth(): { spent: number; forecast: number; first: string; today: string } | null {
  const today = Math.ceil(Date.now() / DAY) * DAY
  const date = new Date()
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  const week = today - 7 * DAY
  const time = rangeOf({ from: Math.min(first, week), to: today })
  const days = useAnalytics({ metrics: ["usage"], granularity: "day", time_range: time })
  if (!days.data) return null
  const since = (from: number) =>
    (days.data ?? [])
      .filter((row) => Date.parse(textIn(row, "date")) >= from)
      .reduce((sum, row) => sum + numberIn(row, "usage"), 0)
  const spent = since(first)
  return {
    spent,
    forecast: spent + ((since(week) / 7) * Math.max(0, next - Date.now())) / DAY,
    first: new Date(first).toISOString(),
    today: new Date(today).toISOString(),
  }
}
