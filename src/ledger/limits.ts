import { continuedStart, type ResetInterval, windowStart } from "../money/windows.ts"
import { DAY_MS } from "../support/time/time.ts"

/**
 * The ledger's decisions, pure: counters in, counters out, time as an argument. The Durable Object around them
 * (durable-objects/ledger/ledger.ts) loads, decides and saves.
 *
 * Invariants: settled + held never exceeds a limit in force at the hold; each generation is charged once; a counter is
 * the sum of its generations.
 */

/** Nano-USD spent in one window; `byok` is the cost of calls with BYOK credentials at catalogue prices. */
export type Spent = { spent: number; byok: number }

/** Amounts that one scope (`account`, `key:<hash>`) has used in each window. */
export type Counters = { total: Spent } & Record<ResetInterval, Spent & { start: number }>

const NOTHING: Spent = { spent: 0, byok: 0 }
const INTERVALS = ["daily", "weekly", "monthly"] as const

export function newCounters(now: number): Counters {
  return rollForward(
    {
      total: { ...NOTHING },
      daily: { ...NOTHING, start: 0 },
      weekly: { ...NOTHING, start: 0 },
      monthly: { ...NOTHING, start: 0 },
    },
    now,
  )
}

/** Resets windows that have ended, and those that start more than a day ahead. A clock that steps back resets none twice. */
export function rollForward(counters: Counters, now: number): Counters {
  let rolled = counters
  for (const interval of INTERVALS) {
    const start = continuedStart(rolled[interval].start, windowStart(interval, now), now + DAY_MS)
    if (start !== rolled[interval].start) rolled = { ...rolled, [interval]: { ...NOTHING, start } }
  }
  return rolled
}

/** Adds a settled call to every window. */
export function addSpent(counters: Counters, amount: Spent, now: number): Counters {
  const current = rollForward(counters, now)
  const add = <T extends Spent>(window: T): T => ({
    ...window,
    spent: window.spent + amount.spent,
    byok: window.byok + amount.byok,
  })
  return {
    total: add(current.total),
    daily: add(current.daily),
    weekly: add(current.weekly),
    monthly: add(current.monthly),
  }
}

/** Scope of the organization. Its limit is the sum of its credits. */
export const ACCOUNT = "account"

export function keyScope(hash: string): string {
  return `key:${hash}`
}

/** One limit of a call. It is sent with the call, so a changed limit applies from the next call on. */
export type Limit = {
  scope: string
  /** Nano-USD. The ledger fills in the limit of the account, the sum of its credits. */
  limitNano: number
  /** The window of the limit; null for the lifetime. */
  interval: ResetInterval | null
  includeByok: boolean
}

/** Limit of a scope without one, so that its calls are counted in case it gets one later. */
export const UNLIMITED_NANO = Number.MAX_SAFE_INTEGER

export function isLimited({ limitNano }: Limit): boolean {
  return limitNano < UNLIMITED_NANO
}

/** A limit with its current use in nano-USD. `heldNano` includes leases. */
export type LimitStatus = Limit & { spentNano: number; heldNano: number }

/** Nano-USD: the minimum that the call needs and the maximum that it can use. */
export type CostRange = { leastNano: number; mostNano: number }

export type Verdict =
  | { ok: true; grantedNano: number }
  | { ok: false; scope: string; interval: ResetInterval | null; remainingNano: number; leastNano: number }

/**
 * Grants under all limits or none: the grant is the smallest rest of any limit, and a rejection names that limit.
 */
export function decideHold(
  wanted: CostRange,
  limits: readonly Limit[],
  countersOf: (scope: string) => Counters,
  heldOf: (scope: string) => number,
): Verdict {
  let granted = wanted.mostNano
  let tightest: Pick<Limit, "scope" | "interval"> = { scope: "", interval: null }
  for (const limit of limits) {
    const available = remaining(limit, countersOf(limit.scope)) - heldOf(limit.scope)
    if (available < granted) [granted, tightest] = [available, limit]
  }
  if (granted >= wanted.leastNano) return { ok: true, grantedNano: granted }
  const { scope, interval } = tightest
  return { ok: false, scope, interval, remainingNano: Math.max(0, granted), leastNano: wanted.leastNano }
}

/** Nano-USD left under a limit; negative if it is exceeded. Does not count holds. */
export function remaining(limit: Limit, counters: Counters): number {
  const window = limit.interval === null ? counters.total : counters[limit.interval]
  return limit.limitNano - window.spent - (limit.includeByok ? window.byok : 0)
}
