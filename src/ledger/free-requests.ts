import { DAY_MS, HOUR_MS } from "../support/time/time.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { usdToNano } from "../money/money.ts"
import { continuedStart, windowStart } from "../money/windows.ts"

/**
 * Limits of requests on free models, per account, minute and day; the daily limit is higher after a purchase of credit.
 * Pure; the ledger stores the count, since only it sees every call of an account.
 */

export type FreeLimits = {
  perMinute: number
  perDay: number
  /** Daily limit for accounts with credits of at least `paidFromNano`. */
  perDayPaid: number
  paidFromNano: number
}

export type FreeCount = { minute: number; minuteStart: number; day: number; dayStart: number }

/** `resetAt`: epoch milliseconds at which the full window resets. */
export type FreeLimitExceeded = { limit: number; resetAt: number; window: "minute" | "day" }

const MINUTE_MS = 60_000

export const NO_FREE_REQUESTS: FreeCount = { minute: 0, minuteStart: 0, day: 0, dayStart: 0 }

/** Resets windows that have ended or are far ahead. A clock that steps back resets none twice. */
export function currentFree(count: FreeCount, now: number): FreeCount {
  const minuteStart = continuedStart(count.minuteStart, now - (now % MINUTE_MS), now + HOUR_MS)
  const dayStart = continuedStart(count.dayStart, windowStart("daily", now), now + DAY_MS)
  return {
    minute: minuteStart === count.minuteStart ? count.minute : 0,
    minuteStart,
    day: dayStart === count.dayStart ? count.day : 0,
    dayStart,
  }
}

export function dailyLimit(limits: FreeLimits, creditedNano: number): number {
  return creditedNano >= limits.paidFromNano ? limits.perDayPaid : limits.perDay
}

/** Counts a request, or returns the limit that it exceeds. */
export function countFreeRequest(
  count: FreeCount,
  limits: FreeLimits,
  creditedNano: number,
  now: number,
): { count: FreeCount } | { rejection: FreeLimitExceeded } {
  const current = currentFree(count, now)
  const perDay = dailyLimit(limits, creditedNano)
  if (current.day >= perDay) return { rejection: { limit: perDay, resetAt: current.dayStart + DAY_MS, window: "day" } }
  if (current.minute >= limits.perMinute) {
    return { rejection: { limit: limits.perMinute, resetAt: current.minuteStart + MINUTE_MS, window: "minute" } }
  }
  return { count: { ...current, minute: current.minute + 1, day: current.day + 1 } }
}

export function freeLimits(env: Env): FreeLimits {
  const config = configOf(env)
  return {
    perMinute: config.FREE_REQUESTS_PER_MINUTE,
    perDay: config.FREE_REQUESTS_PER_DAY,
    perDayPaid: config.FREE_REQUESTS_PER_DAY_PAID,
    paidFromNano: usdToNano(config.FREE_PAID_FROM_USD),
  }
}
