import { windowEnd, windowStart } from "../money/windows.ts"
import { dayOf } from "../support/time/day.ts"

/** Nano-USD in the windows that contain an instant. */
export type WindowSums = Record<`${"total" | "daily" | "weekly" | "monthly"}_${"spent" | "byok"}`, number>

/**
 * The columns of WindowSums, except the total, from rows with `day`, `cost` and `byok`. ?2 is today, and the values from
 * ?4 on are those of `daysOfWindows`. Days after a window are of a clock that was ahead.
 */
export const WINDOW_COLUMNS = [
  ["daily", "day = ?2"],
  ["weekly", "day BETWEEN ?4 AND ?5"],
  ["monthly", "day BETWEEN ?6 AND ?7"],
]
  .map(([name, isIn]) => `sum(iif(${isIn}, cost, 0)) AS ${name}_spent, sum(iif(${isIn}, byok, 0)) AS ${name}_byok`)
  .join(", ")

/** First and last day of the week and of the month. */
export function daysOfWindows(now: number): string[] {
  return (["weekly", "monthly"] as const).flatMap((interval) => [
    dayOf(windowStart(interval, now)),
    dayOf(windowEnd(interval, now) - 1),
  ])
}
