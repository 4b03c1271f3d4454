import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { CallPage, Limit } from "../../api/types.ts"
import { count, percent, usd } from "../../format/number.ts"
import { now, relative } from "../../format/time.ts"
import { hrefOf } from "../../ui/chip.tsx"
import { nameOfLimit } from "../../ui/charts/meter.tsx"
import { describeEpisode, episodesByProvider, useMinutes } from "../providers/history.tsx"
import { Status } from "../../ui/status.tsx"
import { limitReachedAt } from "./forecast.ts"
import { numberIn, type Row } from "./series.ts"

const HOUR = 3_600_000
/** Below this share of failures, a range is healthy. */
const FAILED_SHARE = 0.02
/** Below this share that is left, a limit is close. */
const TIGHT_SHARE = 0.2

/** Status in one line: failures of the last hour, and the limit that is reached first. */
export function StatusLine({ to, limits }: { to: number; limits: readonly Limit[] | undefined }) {
  const lastHour = { from: to - HOUR, to }
  const failing = useMinutes(lastHour)
  const rejected = useGet<CallPage>(
    withParams("/calls", { from: new Date(lastHour.from).toISOString(), status: "refused", limit: 50 }),
  )
  const rows = totalsOf(failing.data ?? [])
  const bad = rows.filter((row) => isFailing(row))
  const failingNames = new Set(bad.map((row) => String(row["provider"])))
  const incidents = [...episodesByProvider(failing.data ?? [])]
    .map(([provider, episodes]) => ({ provider, episode: episodes.at(-1) }))
    .filter(({ provider, episode }) => episode !== undefined && provider !== "" && !failingNames.has(provider))
  const closest = limits?.find(({ binds }) => binds)
  const isTight = closest !== undefined && closest.limit > 0 && closest.left / closest.limit < TIGHT_SHARE
  const forecasts = (limits ?? [])
    .filter((limit) => !(isTight && limit === closest))
    .map((limit) => ({ limit, at: limitReachedAt(limit, now.value) }))
    .filter(({ at }) => at !== null)
  const rejections = rejected.data?.data.length ?? 0
  if (failing.data === undefined) return <p class="status-line">{"\u00A0"}</p>
  return (
    <ul class="status-line">
      {bad.length === 0 && (
        <li>
          <Status tone={rows.length === 0 ? "off" : "good"}>
            {rows.length === 0 ? "No calls in the last hour" : `${describeProviders(rows)} in the last hour`}
          </Status>
        </li>
      )}
      {bad.map((row) => (
        <li key={String(row["provider"])}>
          <a href={`/calls?range=1h&status=failed&provider=${encodeURIComponent(String(row["provider"]))}`}>
            <Status tone="bad">
              {String(row["provider"])}: {count(numberIn(row, "failed_requests"))} of{" "}
              {count(numberIn(row, "requests") + numberIn(row, "failed_requests"))} calls failed in the last hour
            </Status>
          </a>
        </li>
      ))}
      {incidents.map(({ provider, episode }) => (
        <li key={provider}>
          <a href={hrefOf("provider", provider)}>
            <Status tone="warn">
              {provider} {episode && describeEpisode(episode)}
            </Status>
          </a>
        </li>
      ))}
      {rejections > 0 && (
        <li>
          <a href="/calls?range=1h&status=refused">
            <Status tone="warn">
              {rejections === 50 ? "50 or more" : count(rejections)} {rejections === 1 ? "call was" : "calls were"}{" "}
              refused in the last hour
            </Status>
          </a>
        </li>
      )}
      {isTight && (
        <li>
          <Status tone={closest.left <= 0 ? "bad" : "warn"}>
            {nameOfLimit(closest)}: {usd(Math.max(0, closest.left))} of {usd(closest.limit)} left (
            {percent(Math.max(0, closest.left) / closest.limit, 0)})
            {closest.resets_at !== null && `, resets ${relative(Date.parse(closest.resets_at), now.value)}`}
          </Status>
        </li>
      )}
      {forecasts.map(({ limit, at }) => (
        <li key={nameOfLimit(limit)}>
          <Status tone="warn">
            {nameOfLimit(limit)}: at {percent(limit.spent / limit.limit, 0)}, reached {relative(at ?? 0, now.value)} at
            this pace{limit.resets_at !== null && `, resets ${relative(Date.parse(limit.resets_at), now.value)}`}
          </Status>
        </li>
      ))}
    </ul>
  )
}

/** Calls of all minutes, by provider. */
function totalsOf(minutes: readonly Row[]): Row[] {
  const sum = (rows: readonly Row[], metric: "requests" | "failed_requests") =>
    rows.reduce((total, row) => total + numberIn(row, metric), 0)
  return [...Map.groupBy(minutes, (row) => row["provider"] ?? null)].map(([provider, rows]) => ({
    provider,
    requests: sum(rows, "requests"),
    failed_requests: sum(rows, "failed_requests"),
  }))
}

function isFailing(row: Row): boolean {
  const failed = numberIn(row, "failed_requests")
  return failed > 0 && failed / (failed + numberIn(row, "requests")) > FAILED_SHARE
}

function describeProviders(rows: readonly Row[]): string {
  const names = rows.map((row) => String(row["provider"])).filter((name) => name !== "null" && name !== "")
  if (names.length === 0) return "No provider was called"
  if (names.length === 1) return `${names[0]} responded`
  return `All ${names.length} providers responded`
}
