import { driftsOf, mayRepair, sumsByScope, repairCounters } from "../../src/reconciliation/reconciliation.ts"
import { type Reconciliation } from "../../src/ledger/reporting/reconciliation.ts"
import { listCountedKeys } from "../../src/keys/lineage-store.ts"
import { dayOf } from "../../src/support/time/day.ts"
import { readScopeSums } from "../../src/usage/scope-store.ts"
import { readKeySums, sumDays } from "../../src/usage/store.ts"
import type { CounterStore } from "./counters.ts"
import type { Outbox } from "./outbox.ts"
import type { Overruns } from "./overruns.ts"
import type { RateCounts } from "./rates.ts"

type LedgerStores = { counters: CounterStore; rates: RateCounts; outbox: Outbox; overruns: Overruns; db: D1Database }

/**
 * The ledger's part of a reconciliation. Delivery to D1 is paused while it runs, so that D1 has exactly the calls that
 * were charged when the counters were read; calls are still charged meanwhile. Removes counters whose time is over.
 */
export async function reconcileCounters(
  { counters, rates, outbox, overruns, db }: LedgerStores,
  organizationId: string,
  lowers: boolean,
): Promise<Reconciliation> {
  counters.pruneEndUsers(Date.now())
  rates.prune(Date.now())
  await outbox.flush(db)
  const restored = await outbox.verify(db, Date.now())
  return outbox.paused(async () => {
    await sumDays(db, Date.now(), organizationId)
    const now = Date.now()
    const charged = counters.all(now)
    const undelivered = outbox.undelivered()
    const [keys, scopes, countedKeys] = await Promise.all([
      readKeySums(db, organizationId, now),
      readScopeSums(db, organizationId, now),
      listCountedKeys(db, organizationId),
    ])
    const sums = { keys, scopes, opening: counters.opening(now), undelivered }
    const recorded = sumsByScope(sums, countedKeys, now)
    const drifts = driftsOf(charged, recorded, now)
    // A window that was reset meanwhile is compared next time.
    const report = { organizationId, at: now, restored, drifts, overruns: overruns.list() }
    if (dayOf(Date.now()) !== dayOf(now)) return report
    for (const drift of drifts) {
      if (!mayRepair(drift, lowers)) continue
      counters.set(drift.scope, repairCounters(counters.at(drift.scope, now), drift))
      drift.isRepaired = true
    }
    counters.save()
    return report
  })
}
