import { type ResetInterval, windowStart } from "../money/windows.ts"

/**
 * The ledger's decisions, pure: counters in, counters out, time as an argument. The Durable Object around them
 * (durable-objects/ledger/ledger.ts) loads, decides and saves.
 *
 * What holds: settled + held never passes a limit in force at the hold; each generation is charged once; a counter is
 * the sum of its generations.
 */

/** Nano-USD spent in one window; `byok` is what calls with the caller's own provider keys would have cost. */
export type Spent = { spent: number; byok: number }

/** What one scope (`account`, `key:<hash>`) has used, in every window it is asked about. */
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

/** Empty every window that is over. A clock that steps back opens no window twice: a start never moves backwards. */
export function rollForward(counters: Counters, now: number): Counters {
  let rolled = counters
  for (const interval of INTERVALS) {
    const start = windowStart(interval, now)
    if (start > rolled[interval].start) rolled = { ...rolled, [interval]: { ...NOTHING, start } }
  }
  return rolled
}

/** Add one settled call to every window. */
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

/** The scope of the whole organization: its limit is what it was credited. */
export const ACCOUNT = "account"

export function keyScope(hash: string): string {
  return `key:${hash}`
}

/** One limit a call must fit under. It travels with the call, so a changed limit counts from the next call on. */
export type Limit = {
  scope: string
  /** Nano-USD. The account's limit is what it was credited: the ledger fills it in. */
  limitNano: number
  /** The window it counts in; null counts everything ever spent. */
  interval: ResetInterval | null
  includeByok: boolean
}

/** The limit of what has none now, but may get one today: what its calls cost is counted under its scope. */
export const UNLIMITED_NANO = Number.MAX_SAFE_INTEGER

export function isLimited({ limitNano }: Limit): boolean {
  return limitNano < UNLIMITED_NANO
}

/** A limit with what counts against it now, in nano-USD. `heldNano` includes leases. */
export type Standing = Limit & { spentNano: number; heldNano: number }

/** Nano-USD: at `least` the call must get, at `most` it can use. */
export type Wanted = { leastNano: number; mostNano: number }

export type Verdict =
  | { ok: true; grantedNano: number }
  | { ok: false; scope: string; interval: ResetInterval | null; remainingNano: number; leastNano: number }

/**
 * All limits or none: the grant is the smallest room any of them leaves, and a refusal names the one that had least.
 */
export function decideHold(
  wanted: Wanted,
  limits: readonly Limit[],
  countersOf: (scope: string) => Counters,
  heldOf: (scope: string) => number,
): Verdict {
  let granted = wanted.mostNano
  let tightest: Pick<Limit, "scope" | "interval"> = { scope: "", interval: null }
  for (const limit of limits) {
    const room = remaining(limit, countersOf(limit.scope)) - heldOf(limit.scope)
    if (room < granted) [granted, tightest] = [room, limit]
  }
  if (granted >= wanted.leastNano) return { ok: true, grantedNano: granted }
  const { scope, interval } = tightest
  return { ok: false, scope, interval, remainingNano: Math.max(0, granted), leastNano: wanted.leastNano }
}

/** Nano-USD left under a limit; negative once it was passed. Holds are not counted here. */
export function remaining(limit: Limit, counters: Counters): number {
  const window = limit.interval === null ? counters.total : counters[limit.interval]
  return limit.limitNano - window.spent - (limit.includeByok ? window.byok : 0)
}
