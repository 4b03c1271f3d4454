import { Cron } from "croner"
import { DAY_MS, HOUR_MS } from "../support/time/time.ts"

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

/** Fields that a client may change. */
export type ScheduleChange = Partial<
  Pick<Schedule, "cron" | "timezone" | "prompt" | "session" | "enabled" | "dailyLimitUsd">
>

export const MAX_SCHEDULES = 20
const MINUTE_MS = 60_000
const MIN_INTERVAL_MINUTES = 5

/** The error in a cron expression or time zone; undefined if valid. */
export function cronError(cron: string, timezone: string, now: number): string | undefined {
  const fields = cron.trim().split(/\s+/)
  try {
    if (!IS_CRON.test(cron) || timezone === "") throw new Error("not a cron expression")
    if (nextRun({ cron, timezone }, now) === null) return "cron: must match a future time: no date matches it."
  } catch {
    return "cron: must be a cron expression of five fields, such as 0 8 * * 1-5, and timezone an IANA name."
  }
  return fields.length === 5 && isTooOften(fields) ? "cron: must leave at least 5 minutes between two runs." : undefined
}

/** Five fields, or a name such as `@daily`; not a date, which the parser also takes. */
const IS_CRON = /^\s*(?:@\w+|\S+(?:\s+\S+){4})\s*$/

/** Whether two runs of one day, or of a day and the next, can be too close. Independent of the current time. */
function isTooOften([minute = "", hour = ""]: readonly string[]): boolean {
  const minutes = matchesOf(`${minute} * * * *`, HOUR_MS).map((at) => at / MINUTE_MS)
  const hours = matchesOf(`0 ${hour} * * *`, DAY_MS).map((at) => at / HOUR_MS)
  const [first = 0] = minutes
  const isClose = minutes.some((at, index) => index > 0 && at - (minutes[index - 1] ?? 0) < MIN_INTERVAL_MINUTES)
  const isAcrossHours = hours.some((at) => hours.includes((at + 1) % 24))
  return isClose || (isAcrossHours && first + 60 - (minutes.at(-1) ?? 0) < MIN_INTERVAL_MINUTES)
}

/** Runs in the first `period` milliseconds of a day in UTC. */
function matchesOf(cron: string, period: number): number[] {
  const runs = new Cron(cron, { timezone: "UTC", paused: true, mode: "5-part" }).nextRuns(60, new Date(-1_000))
  return runs.map((run) => run.getTime()).filter((at) => at < period)
}

/** The first run after `now`; null for none. */
export function nextRun({ cron, timezone }: Pick<Schedule, "cron" | "timezone">, now: number): number | null {
  return new Cron(cron, { timezone, paused: true, mode: "5-part" }).nextRun(new Date(now))?.getTime() ?? null
}
