import { ACCOUNT, decideHold, type Limit, remaining, type LimitStatus, type Verdict } from "../../src/ledger/limits.ts"
import type { CounterStore } from "./counters.ts"
import type { Holds } from "./holds.ts"

export function withAccount(limits: readonly Limit[], creditedNano: number): Limit[] {
  return [{ scope: ACCOUNT, limitNano: creditedNano, interval: null, includeByok: false }, ...limits]
}

/** Whether the smallest amount could be held under these limits. */
export function checkLimits(limits: readonly Limit[], counters: CounterStore, holds: Holds): Verdict {
  const now = Date.now()
  const least = { leastNano: 1, mostNano: 1 }
  return decideHold(
    least,
    limits,
    (scope) => counters.at(scope, now),
    (scope) => holds.held(scope),
  )
}

/** Spent and held amounts of each limit. */
export function limitStatuses(limits: readonly Limit[], counters: CounterStore, holds: Holds): LimitStatus[] {
  const now = Date.now()
  return limits.map((limit) => ({
    ...limit,
    spentNano: limit.limitNano - remaining(limit, counters.at(limit.scope, now)),
    heldNano: holds.held(limit.scope),
  }))
}
