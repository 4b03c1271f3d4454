import type { GenerationDraft } from "./generation.ts"
import { Declarations } from "./declarations.ts"
import { addCall, declarationFor, EMPTY, endCall, isUsable, leaseKey, refill, refillOf, type Slice } from "./lease.ts"
import { type HoldRequest, type HoldVerdict, type LeaseUpdate, newLeaseId, type Registration } from "./protocol.ts"
import { releaseRate, type RateSlice, type ReservedRate, refillSlice, reserveRate } from "./rates.ts"

/** Delay before the next lease request for a key that was too near a limit. */
const REJECTION_CACHE_MS = 1_000
/** Timeout of a lease request. Afterwards another call of the isolate may send one. */
const REQUEST_TIMEOUT_MS = 5_000
/** A lease that is unused for this long is returned. */
export const IDLE_MS = 1_000
/** A sentinel is lost after this time: the runtime stops work that outlives its request. */
const SENTINEL_MS = 25_000

const MAX_LEASES = 1_000
/** Factor by which the typical estimate decays with each call. */
const TYPICAL_DECAY = 0.9
/** Factor by which the peak of running calls decays with each report, and with each PEAK_DECAY_MS without one. */
const PEAK_DECAY = 0.9
const PEAK_DECAY_MS = 100

export type Lease = {
  readonly id: string
  readonly key: string
  readonly ttlMs: number
  slice: Slice
  /** Share of rate limits; undefined if none apply, and before the lease is granted. */
  rates: RateSlice | undefined
  /** No longer usable: the ledger does not hold it any more, or will charge its declaration. */
  isOver: boolean
  /** Calls admitted from it that are not charged yet. */
  readonly open: Map<string, OpenCall>
  /** Nano-USD: estimates of its unregistered calls. The declarations at the ledger cover at least this amount. */
  unknownNano: number
  /** Nano-USD: decaying maximum of the estimates of calls. */
  typicalNano: number
  /** Nano-USD: decaying maximum of `unknownNano`. */
  peakNano: number
  readonly declarations: Declarations
  /** Epoch milliseconds, also the following fields. */
  usableUntil: number
  usedAt: number
  retryAt: number
  watchedUntil: number
  /** When the last declaration was made. */
  declaredAt: number
  /** Time of the first lease request without a response: the ledger may hold the lease since then. 0 for none. */
  requestedAt: number
}

/** Amounts are nano-USD. `mostNano`: maximum cost. */
export type OpenCall = {
  readonly lease: Lease
  readonly draft: GenerationDraft
  readonly mostNano: number
  readonly estimateNano: number
  /** Epoch milliseconds. */
  readonly openedAt: number
  isRegistered: boolean
  readonly rates: ReservedRate | undefined
}

/**
 * The leases of this isolate for one organization, and the calls admitted from them. Calls share only plain data: they
 * never await each other's promises, which may never settle after a client disconnect.
 */
export class Leases {
  readonly #leases = new Map<string, Lease>()
  readonly #open = new Map<string, OpenCall>()

  /** The lease for calls under these limits, or a new, empty one. */
  leaseFor(request: HoldRequest, now: number): Lease {
    const key = leaseKey(request)
    const known = this.#leases.get(key)
    // A lease without recent reports may have expired at the ledger: its calls finish, and new calls get another lease.
    if (known && (isUsable(known, now) || mayBeGranted(known, now))) return known
    const lease: Lease = {
      id: newLeaseId(),
      key,
      ttlMs: request.ttlMs,
      slice: EMPTY,
      rates: undefined,
      isOver: false,
      open: new Map(),
      unknownNano: 0,
      typicalNano: 0,
      peakNano: 0,
      declarations: new Declarations(),
      usableUntil: 0,
      usedAt: now,
      retryAt: 0,
      watchedUntil: 0,
      declaredAt: now,
      requestedAt: 0,
    }
    this.#invalidateRejected()
    this.#leases.set(key, lease)
    return lease
  }

  /** Whether a lease for calls under these limits has a rest. */
  hasRoom(limited: Parameters<typeof leaseKey>[0], now: number): boolean {
    const lease = this.#leases.get(leaseKey(limited))
    return lease !== undefined && isUsable(lease, now) && addCall(lease.slice, 1) !== undefined
  }

  /** Admits the call if the lease has room and a declaration covers it. Returns false otherwise. */
  admit(lease: Lease, { draft, wanted: { mostNano }, estimateNano, rates }: HoldRequest, now: number): boolean {
    lease.typicalNano = Math.max(estimateNano, Math.floor(lease.typicalNano * TYPICAL_DECAY))
    const isDeclared = lease.unknownNano + estimateNano <= lease.declarations.inForceNano
    const slice = isDeclared && isUsable(lease, now) ? addCall(lease.slice, mostNano) : undefined
    const left = rates && lease.rates && reserveRate(lease.rates, rates.tokens, now)
    if (!slice || (rates && !left)) return false
    lease.slice = slice
    lease.rates = left
    lease.unknownNano += estimateNano
    lease.peakNano = Math.max(lease.peakNano, lease.unknownNano)
    lease.usedAt = now
    const taken = rates && left && { minute: left.minute, tokens: rates.tokens }
    const call: OpenCall = { lease, draft, mostNano, estimateNano, openedAt: now, isRegistered: false, rates: taken }
    lease.open.set(draft.id, call)
    this.#open.set(draft.id, call)
    return true
  }

  /** The lease to request with a hold; undefined if another call has requested one, or was rejected recently. */
  requestFor(lease: Lease, { wanted, estimateNano }: HoldRequest, now: number): HoldRequest["lease"] {
    if (lease.retryAt > now) return undefined
    lease.retryAt = now + REQUEST_TIMEOUT_MS
    lease.requestedAt ||= now
    const declaration = lease.declarations.next(declarationFor(lease.unknownNano + estimateNano, lease.typicalNano))
    // If the slice has enough money for the call, it lacks requests, tokens or slots.
    const lacksRates = lease.rates !== undefined && addCall(lease.slice, wanted.mostNano) !== undefined
    const wantNano = lacksRates ? 0 : refillOf(lease.slice, wanted)
    return { id: lease.id, wantNano, isHeld: lease.slice !== EMPTY, ...declaration }
  }

  /** `requestedAt`: the lifetime starts with the request, so that the lease ends here before it ends at the ledger. */
  granted(lease: Lease, sequence: number, verdict: HoldVerdict, requestedAt: number): void {
    lease.requestedAt = 0
    if (verdict.ok && verdict.leasedNano !== undefined) {
      lease.declarations.accepted(sequence)
      lease.slice = refill(lease.slice, verdict.leasedNano)
      if (verdict.leasedRates) lease.rates = refillSlice(lease.rates, verdict.leasedRates)
      lease.retryAt = 0
      this.#extend(lease, requestedAt)
    } else {
      lease.declarations.ignored(sequence)
      lease.retryAt = requestedAt + REJECTION_CACHE_MS
    }
  }

  /**
   * Handles a failed lease request: the ledger may hold the lease nevertheless. True if the lease must be returned,
   * because no call and no later request uses it.
   */
  failed(lease: Lease, requestedAt: number): boolean {
    if (lease.retryAt !== requestedAt + REQUEST_TIMEOUT_MS) return false
    lease.retryAt = requestedAt + REJECTION_CACHE_MS
    if (lease.slice !== EMPTY) return false
    lease.isOver = true
    if (this.#leases.get(lease.key) === lease) this.#leases.delete(lease.key)
    return true
  }

  call(id: string): OpenCall | undefined {
    return this.#open.get(id)
  }

  /** Calls admitted before `time` (epoch milliseconds) that are not charged yet. */
  openBefore(time: number): OpenCall[] {
    const calls: OpenCall[] = []
    for (const call of this.#open.values()) {
      if (call.openedAt >= time) break
      calls.push(call)
    }
    return calls
  }

  /** Closes a call with its charge. Without a confirmation of the ledger, the lease loses the call's maximum cost. */
  close(id: string, { costNano, tokens }: { costNano: number; tokens: number }, isCertain: boolean): void {
    const call = this.#open.get(id)
    if (!call) return
    const { lease, mostNano } = call
    this.#open.delete(id)
    lease.open.delete(id)
    if (!call.isRegistered) lease.unknownNano -= call.estimateNano
    lease.slice = endCall(lease.slice, mostNano, isCertain ? costNano : Math.max(costNano, mostNano))
    if (lease.rates && call.rates) lease.rates = releaseRate(lease.rates, call.rates, tokens)
  }

  /**
   * Ends a call whose charge cannot be reported. A registered call is charged by its separate hold. Otherwise the lease
   * keeps declaring its estimate and is neither used nor returned, so that the ledger charges the declaration at
   * expiry.
   */
  abandon(id: string): void {
    const call = this.#open.get(id)
    if (!call) return
    const { lease, mostNano } = call
    this.#open.delete(id)
    lease.open.delete(id)
    if (call.isRegistered) lease.slice = endCall(lease.slice, mostNano, mostNano)
    else lease.isOver = true
  }

  /** Registration of a running call with its cost so far; undefined if it is registered or not under a lease. */
  registration(id: string, estimateNano: number): Registration | undefined {
    const call = this.#open.get(id)
    if (!call || call.isRegistered) return undefined
    const { lease, draft, mostNano } = call
    return { draft, leaseId: lease.id, amountNano: mostNano, estimateNano, ttlMs: lease.ttlMs }
  }

  registered(registrations: readonly Registration[]): void {
    for (const { draft } of registrations) {
      const call = this.#open.get(draft.id)
      if (!call || call.isRegistered) continue
      call.isRegistered = true
      call.lease.unknownNano -= call.estimateNano
    }
  }

  /** Updates of these leases after the calls in `reported` are charged or registered. */
  updates(leases: Iterable<Lease>, reported: ReadonlySet<string>, now: number): LeaseUpdate[] {
    return [...leases].map((lease) => {
      const { id, open, declarations, ttlMs } = lease
      let leftNano = lease.unknownNano
      for (const one of reported) {
        const call = open.get(one)
        if (call && !call.isRegistered) leftNano -= call.estimateNano
      }
      // As many calls as this report ends may start before the next one. If none has started for a while, few are
      // declared, because a lost isolate is charged what it declared.
      const decay = PEAK_DECAY ** Math.max(1, (now - Math.max(lease.declaredAt, lease.usedAt)) / PEAK_DECAY_MS)
      lease.peakNano = Math.floor(lease.peakNano * decay)
      lease.declaredAt = now
      const estimateNano = Math.max(leftNano, declarationFor(lease.peakNano, lease.typicalNano))
      return { id, ttlMs, isReturned: false, ...declarations.next(estimateNano) }
    })
  }

  /** `alive`: reported leases that the ledger still holds; the others have ended. */
  acknowledged(
    leases: Iterable<Lease>,
    news: readonly LeaseUpdate[],
    alive: ReadonlySet<string>,
    reportedAt: number,
  ): void {
    const sequences = new Map(news.map(({ id, sequence }) => [id, sequence]))
    for (const lease of leases) {
      lease.declarations.accepted(sequences.get(lease.id) ?? 0)
      if (alive.has(lease.id)) this.#extend(lease, reportedAt)
      else lease.isOver = true
    }
  }

  /** Removes a lease that no call and no pending request uses. */
  retire(lease: Lease, now: number): boolean {
    if (lease.open.size > 0 || lease.retryAt > now || now - lease.usedAt < IDLE_MS) return false
    if (this.#leases.get(lease.key) === lease) this.#leases.delete(lease.key)
    return lease.slice !== EMPTY
  }

  /** True for the one call that must return the lease. */
  watch(lease: Lease, now: number): boolean {
    if (lease.open.size > 0 || lease.watchedUntil > now) return false
    lease.watchedUntil = now + SENTINEL_MS
    return true
  }

  /** The leases for new calls. */
  all(): IterableIterator<Lease> {
    return this.#leases.values()
  }

  /** Removes entries of keys near their limits, which have no lease whose return would remove them. */
  #invalidateRejected(): void {
    if (this.#leases.size < MAX_LEASES) return
    for (const [key, { slice, open }] of this.#leases) {
      if (slice === EMPTY && open.size === 0) this.#leases.delete(key)
    }
  }

  #extend(lease: Lease, at: number): void {
    lease.usableUntil = Math.max(lease.usableUntil, at + lease.ttlMs / 2)
  }
}

/**
 * Whether the ledger may still grant this lease. If a response was lost, the lease may have expired there and its id
 * may be charged already; it then covers no calls.
 */
function mayBeGranted({ isOver, slice, requestedAt, ttlMs }: Lease, now: number): boolean {
  return !isOver && slice === EMPTY && (requestedAt === 0 || now - requestedAt < ttlMs / 2)
}
