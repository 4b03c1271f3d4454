import { useMemo } from "preact/hooks"
import { withParams } from "../../api/client.ts"
import type { Query } from "../../api/query.ts"
import { type Episode, episodesOf } from "../../format/episodes.ts"
import { count } from "../../format/number.ts"
import { absolute, hourMinute, now, relative } from "../../format/time.ts"
import { Status } from "../../ui/status.tsx"
import { rangeOf, useAnalytics } from "../overview/analytics.ts"
import { numberIn, type Row, textIn } from "../overview/series.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const MAX_ROWS = 10_000

const minuteOf = (row: Row) => ({
  at: Date.parse(textIn(row, "date")),
  calls: numberIn(row, "requests") + numberIn(row, "failed_requests"),
  failed: numberIn(row, "failed_requests"),
  firstToken: numberIn(row, "latency") || null,
})

/** Calls, failures and latency of each minute, by provider. */
export function useMinutes(range: { from: number; to: number }, provider?: string): Query<readonly Row[]> {
  return useAnalytics({
    metrics: ["requests", "failed_requests", "latency"],
    dimensions: ["provider"],
    granularity: "minute",
    time_range: rangeOf(range),
    ...(provider !== undefined && { filters: [{ field: "provider", operator: "eq", value: provider } as const] }),
    limit: MAX_ROWS,
  })
}

/** Failures and slow responses by name of the provider. */
export function episodesByProvider(rows: readonly Row[]): ReadonlyMap<string, readonly Episode[]> {
  const byProvider = Map.groupBy(rows, (row) => textIn(row, "provider"))
  return new Map([...byProvider].map(([name, of]) => [name, episodesOf(of.map(minuteOf))]))
}

/** After this time without calls, nobody knows whether an episode lasts. */
const SILENT_MS = 10 * MINUTE

const lasts = ({ last, to }: Episode) => to === null && now.value - last < SILENT_MS

/** `was slow 14:02 to 14:09`, `fails since 14:02`, `failed 14:02 to 14:05, no calls since`. */
export function describeEpisode(episode: Episode): string {
  const { kind, from, last, to } = episode
  if (lasts(episode)) return `${kind === "slow" ? "slow" : "fails"} since ${hourMinute(from)}`
  const range = `${hourMinute(from)} to ${hourMinute(to ?? last + MINUTE)}`
  return `${kind === "slow" ? "was slow" : "failed"} ${range}${to === null ? ", no calls since" : ""}`
}

/** Episodes of a provider in the last 24 hours, newest first. */
export function History({ provider }: { provider: string }) {
  const to = useMemo(() => Math.ceil(Date.now() / MINUTE) * MINUTE, [])
  const rows = useMinutes({ from: to - DAY, to }, provider).data
  if (!rows) return null
  const episodes = episodesByProvider(rows).get(provider)?.toReversed() ?? []
  if (rows.length === 0) return <p class="quiet">No calls in the last 24 hours.</p>
  if (episodes.length === 0) return <p class="quiet">Nothing: its calls were answered, at its usual speed.</p>
  return (
    <ul class="plain-list" aria-label="History of the last 24 hours">
      {episodes.map((episode) => (
        <li key={episode.from} class="row">
          <Status tone={!lasts(episode) ? "off" : episode.kind === "slow" ? "warn" : "bad"}>
            <span title={absolute(episode.from)}>{describeEpisode(episode)}</span>
          </Status>
          <span class="quiet">
            {episode.failed > 0
              ? `${count(episode.failed)} of ${count(episode.calls)} calls failed`
              : `${count(episode.calls)} calls`}
          </span>
          <span class="row tight end quiet">
            {relative(episode.from, now.value)}
            <a
              href={withParams("/calls", {
                provider,
                from: new Date(episode.from).toISOString(),
                to: new Date(episode.to ?? episode.last + MINUTE).toISOString(),
                ...(episode.kind === "failing" && { status: "failed" }),
              })}
            >
              calls
            </a>
          </span>
        </li>
      ))}
    </ul>
  )
}
