import { DAY_MS } from "../support/time/time.ts"

export const RESET_INTERVALS = ["daily", "weekly", "monthly"] as const
export type ResetInterval = (typeof RESET_INTERVALS)[number]

/** End of the window with `at`, in epoch milliseconds. */
export function windowEnd(interval: ResetInterval, at: number): number {
  // No window is longer than 31 days, and the next one is at least a day long.
  const longest = { daily: 1, weekly: 7, monthly: 31 }[interval]
  return windowStart(interval, windowStart(interval, at) + longest * DAY_MS)
}

/** 1970-01-01 was a Thursday; the first Monday is four days later. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** Start of the calendar window with `at`, in epoch milliseconds: UTC midnight, Monday, the 1st. */
export function windowStart(interval: ResetInterval, at: number): number {
  switch (interval) {
    case "daily":
      return at - (at % DAY_MS)
    case "weekly":
      return at - ((at - FIRST_MONDAY_MS) % (7 * DAY_MS))
    case "monthly": {
      const date = new Date(at)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    }
  }
}

/**
 * Start of the window in which a count goes on: `current`, or `stored` if the clock was set back since it was stored, so
 * that no window is reset twice. A stored start after `latest` is of a clock that was wrong: the count would never be
 * reset.
 */
export function continuedStart(stored: number, current: number, latest: number): number {
  return stored > latest ? current : Math.max(stored, current)
}
