import { sliceOf } from "../../src/ledger/lease.ts"
import { ACCOUNT, decideHold, type Limit, newCounters } from "../../src/ledger/limits.ts"
import type { FlushRequest, FlushResult, HoldResponse, HoldRequest } from "../../src/ledger/protocol.ts"

/** What the one ledger of an organization received. */
export type Load = {
  holds: number
  grants: number
  reports: number
  settlements: number
  registrations: number
  renewals: number
}

/**
 * The ledger as isolates see it: balance, holds and leases, by the same pure decisions as the Durable Object. Nothing is
 * stored, and each request takes one round trip.
 */
export class SimulatedLedger {
  readonly load: Load = { holds: 0, grants: 0, reports: 0, settlements: 0, registrations: 0, renewals: 0 }
  readonly #leases = new Set<string>()
  readonly #counters = newCounters(Date.now())
  readonly #limits: Limit[]
  #heldNano = 0

  constructor(balanceNano: number) {
    this.#limits = [{ scope: ACCOUNT, limitNano: balanceNano, interval: null, includeByok: false }]
  }

  hold({ wanted, lease, draft }: HoldRequest, report?: FlushRequest): HoldResponse {
    this.load.holds++
    const received = report ? this.#take(report) : { charged: [], alive: [] }
    const state = { countersOf: () => this.#counters, heldOf: () => this.#heldNano }
    const leasedNano = lease ? sliceOf(wanted, lease.wantNano, this.#limits, state) : 0
    if (lease && leasedNano > 0) {
      this.load.grants++
      this.#leases.add(lease.id)
      this.#heldNano += leasedNano
      return { verdict: { ok: true, grantedNano: wanted.mostNano, leasedNano }, ...received }
    }
    const verdict = decideHold(wanted, this.#limits, state.countersOf, state.heldOf)
    if (verdict.ok) this.#open.set(draft.id, verdict.grantedNano)
    if (verdict.ok) this.#heldNano += verdict.grantedNano
    return { verdict, ...received }
  }

  readonly #open = new Map<string, number>()

  report(report: FlushRequest): FlushResult {
    this.load.reports++
    return this.#take(report)
  }

  #take({ settlements, registrations, renewals, leases }: FlushRequest): FlushResult {
    this.load.settlements += settlements.length
    this.load.registrations += registrations.length
    this.load.renewals += renewals.length
    for (const { generation } of settlements) {
      // A held amount becomes a charge, also in a lease.
      this.#heldNano -= this.#open.get(generation.id) ?? generation.costNano
      this.#open.delete(generation.id)
      this.#counters.total.spent += generation.costNano
    }
    for (const { id, isReturned } of leases) if (isReturned) this.#leases.delete(id)
    const alive = leases.map(({ id }) => id).filter((id) => this.#leases.has(id))
    return { charged: settlements.map(({ generation }) => generation.id), alive }
  }
}
