import { Cron } from "croner"

/** A prompt that is sent to an intern by schedule. Times are epoch milliseconds. */
export type Schedule = {
  id: string
  cron: string
  /** IANA name, such as `Europe/Berlin`. */
  timezone: string
  prompt: string
  /** Each run in a new session, or all in one. */
  session: "new" | "same"
  enabled: boolean
  /** USD that the runs may cost per UTC day; null for no separate limit. */
  dailyLimitUsd: number | null
  nextAt: number | null
  lastAt: number | null
  lastSession: string | null
  /** Why the last run did not start; null if it did. */
  lastError: string | null
  createdAt: number
}

export const MAX_SCHEDULES = 20
const MIN_INTERVAL_MS = 5 * 60_000
const CHECKED_RUNS = 8

/** The error in a cron expression or time zone; undefined if valid. */
export function cronError(cron: string, timezone: string, now: number): string | undefined {
  let runs: Date[]
  try {
    runs = new Cron(cron, { timezone, paused: true, mode: "5-part" }).nextRuns(CHECKED_RUNS, new Date(now))
  } catch {
    return "cron: must be a cron expression of five fields, such as 0 8 * * 1-5, and timezone an IANA name."
  }
  if (runs.length === 0) return "cron: must match a future time: no date matches it."
  const times = runs.map((run) => run.getTime())
  const isTooOften = times.some((at, index) => index > 0 && at - (times[index - 1] ?? 0) < MIN_INTERVAL_MS)
  return isTooOften ? "cron: must leave at least 5 minutes between two runs." : undefined
}

/** The first run after `now`; null for none. */
export function nextRun({ cron, timezone }: Pick<Schedule, "cron" | "timezone">, now: number): number | null {
  return new Cron(cron, { timezone, paused: true, mode: "5-part" }).nextRun(new Date(now))?.getTime() ?? null
}
