import { countFreeRequest } from "../../src/ledger/free-requests.ts"
import { sliceOf } from "../../src/ledger/lease.ts"
import { decideHold, type Limit } from "../../src/ledger/limits.ts"
import { decideWithProviders } from "../../src/ledger/provider-limits.ts"
import type { HoldRequest, HoldVerdict } from "../../src/ledger/protocol.ts"
import { rateShareOf, type RateShare, rateRejectionOf } from "../../src/ledger/rates.ts"
import type { CounterStore } from "./counters.ts"
import type { Credits } from "./credits.ts"
import { type Holds, toHold } from "./holds.ts"
import type { Outbox } from "./outbox.ts"
import type { RateCounts } from "./rates.ts"
import { withAccount } from "./limit-status.ts"

type LedgerStores = { credits: Credits; counters: CounterStore; holds: Holds; outbox: Outbox; rates: RateCounts }
type LeaseRequest = NonNullable<HoldRequest["lease"]>
type Granted = { nano: number; share: RateShare | undefined; limits: readonly Limit[]; now: number }

/** Decides on calls and leases. Runs within a transaction of the ledger. */
export class Admission {
  readonly #stores: LedgerStores

  constructor(stores: LedgerStores) {
    this.#stores = stores
  }

  decide(request: HoldRequest, now: number): HoldVerdict {
    const { credits, counters, holds, rates } = this.#stores
    // The request was repeated because its first response was lost.
    const granted = holds.grantOf(request.draft.id)
    if (granted) return { ok: true, ...granted }
    const free = request.free && countFreeRequest(counters.free, request.free, credits.total(), now)
    if (free && "rejection" in free) return { ok: false, free: free.rejection }
    const limits = request.chargesAccount ? withAccount(request.limits, credits.total()) : request.limits
    const leased = request.lease && this.#leaseFor(request, request.lease, limits, now)
    if (leased) return leased
    const rejection = request.rates && rateRejectionOf(request.rates, rates.useOf(holds, now))
    if (rejection) return { ok: false, rate: rejection }
    const { verdict, providers } = this.#decideHold(request, limits, now)
    const result = providers ? { ...verdict, providers } : verdict
    if (!verdict.ok) return result
    if (free) counters.saveFree(free.count)
    const rateHold = request.rates && rates.countCall(request.rates, now)
    holds.add(
      toHold(request, { id: request.draft.id, amount: verdict.grantedNano, limits, rates: rateHold, providers, now }),
    )
    return result
  }

  #decideHold({ wanted, providers }: HoldRequest, limits: readonly Limit[], now: number) {
    const state = this.#stateAt(now)
    if (providers) return decideWithProviders(providers, limits, state)
    return { verdict: decideHold(wanted, limits, state.countersOf, state.heldOf), providers: undefined }
  }

  #stateAt(now: number) {
    const { counters, holds } = this.#stores
    return {
      countersOf: (scope: string) => counters.at(scope, now),
      heldOf: (scope: string) => holds.held(scope),
    }
  }

  /** Undefined if the key is too near a limit: the call then needs a separate hold. */
  #leaseFor(request: HoldRequest, lease: LeaseRequest, shared: readonly Limit[], now: number): HoldVerdict | undefined {
    if (!this.#isLeasable(lease)) return undefined
    const { holds, rates } = this.#stores
    const state = this.#stateAt(now)
    const { providers } = request
    // Calls of a lease may go to any of the providers, so the full amount is held under the limits of each.
    const limits = providers ? [...shared, ...providers.limited.flatMap((provider) => provider.limits)] : shared
    const nano = lease.wantNano === 0 ? 0 : sliceOf(request.wanted, lease.wantNano, limits, state)
    const share = request.rates && rateShareOf(request.rates, rates.useOf(holds, now))
    if ((lease.wantNano > 0 && nano === 0) || (request.rates && !share)) return undefined
    const leasedRates = this.#lease(request, lease, { nano, share, limits, now })
    return { ok: true, grantedNano: request.wanted.mostNano, leasedNano: nano, ...(leasedRates && { leasedRates }) }
  }

  /** An existing lease must still be held. A new one must not be charged already: a charge closes its id. */
  #isLeasable({ id, isHeld }: LeaseRequest): boolean {
    const { holds, outbox } = this.#stores
    if (holds.lease(id) !== undefined) return true
    return !isHeld && !outbox.has(id)
  }

  #lease(request: HoldRequest, { id, estimateNano, sequence }: LeaseRequest, { nano, share, limits, now }: Granted) {
    const { holds, rates } = this.#stores
    const lease = holds.lease(id)
    const isNewer = holds.isNewer(id, sequence)
    const amount = (lease?.amount ?? 0) + nano
    const estimate = Math.min(isNewer || !lease ? estimateNano : lease.estimate, amount)
    const shareCounted = request.rates && share && rates.countShare(request.rates, share, now)
    const fresh = { ...toHold(request, { id, amount: nano, limits, rates: shareCounted?.held, now }), estimate }
    if (lease) {
      holds.changeLease(id, { amount, estimate, expires_at: fresh.expires_at })
      holds.changeSlots(id, shareCounted?.held.slots ?? 0)
    } else holds.add(fresh)
    return shareCounted?.slice
  }
}
