import type { GenerationDraft } from "./generation.ts"
import { Declarations } from "./declarations.ts"
import { closed, declarationFor, isUsable, NO_SLICE, opened, refill, signatureOf, type Slice, wantOf } from "./lease.ts"
import { type HoldRequest, type HoldVerdict, type LeaseUpdate, newLeaseId, type Registration } from "./protocol.ts"
import { giveBack, type RateSlice, type RateTaken, refillSlice, takeOf } from "./rates.ts"

/** A caller too near a limit for a lease is asked about again after so long. */
const REFUSED_FOR_MS = 1_000
/** A request for a lease may never be answered: after this, another call of the isolate may make one. */
const REQUEST_TIMEOUT_MS = 5_000
/** A lease that nothing has used for so long goes back. */
export const IDLE_MS = 1_000
/** A sentinel that has not come back after so long never will: the runtime ends what a request leaves behind. */
const SENTINEL_MS = 25_000

const MAX_LEASES = 1_000
/** Of the largest estimate so much is left after each further call. */
const TYPICAL_DECAY = 0.9
/** Of the peak of running calls so much is left after each further report, and after each further PEAK_DECAY_MS. */
const PEAK_DECAY = 0.9
const PEAK_DECAY_MS = 100

export type Lease = {
  readonly id: string
  readonly signature: string
  readonly ttlMs: number
  slice: Slice
  /** Its share of rate limits; undefined where none apply, and before it is granted. */
  rates: RateSlice | undefined
  /** It is not used any more: the ledger no longer holds it, or is to charge what was declared of it. */
  isOver: boolean
  /** Calls admitted of it that are not charged yet. */
  readonly open: Map<string, OpenCall>
  /** Nano-USD: the estimates of those that are not registered. The ledger has declarations for at least as much. */
  unknownNano: number
  /** Nano-USD: the estimate of a call, as of late. */
  typicalNano: number
  /** Nano-USD: the most that `unknownNano` was, as of late. */
  peakNano: number
  readonly declarations: Declarations
  /** Epoch milliseconds, all of these. */
  usableUntil: number
  usedAt: number
  askAgainAt: number
  watchedUntil: number
  /** When the last declaration was made. */
  declaredAt: number
  /** Of the first request for it without a response: the ledger may hold it since then. 0 where there is none. */
  requestedAt: number
}

/** Nano-USD: at most it costs `mostNano`. */
export type OpenCall = {
  readonly lease: Lease
  readonly draft: GenerationDraft
  readonly mostNano: number
  readonly estimateNano: number
  /** Epoch milliseconds. */
  readonly openedAt: number
  isRegistered: boolean
  readonly rates: RateTaken | undefined
}

/**
 * The leases that this isolate has of one organization's ledger, and the calls it admitted of them. Plain data that
 * calls share: none waits for another's promise, since a promise of a call whose client has left may never settle.
 */
export class Leases {
  readonly #leases = new Map<string, Lease>()
  readonly #open = new Map<string, OpenCall>()

  /** The lease for calls under these limits; an empty one where there is none. */
  leaseFor(request: HoldRequest, now: number): Lease {
    const signature = signatureOf(request)
    const known = this.#leases.get(signature)
    // What the ledger has not heard of for long may be over there: its calls end under it, and new ones get another.
    if (known && (isUsable(known, now) || mayBeGranted(known, now))) return known
    const lease: Lease = {
      id: newLeaseId(),
      signature,
      ttlMs: request.ttlMs,
      slice: NO_SLICE,
      rates: undefined,
      isOver: false,
      open: new Map(),
      unknownNano: 0,
      typicalNano: 0,
      peakNano: 0,
      declarations: new Declarations(),
      usableUntil: 0,
      usedAt: now,
      askAgainAt: 0,
      watchedUntil: 0,
      declaredAt: now,
      requestedAt: 0,
    }
    this.#forgetRefused()
    this.#leases.set(signature, lease)
    return lease
  }

  /** Whether there is a lease for calls under these limits with something left of it. */
  hasRoom(limited: Parameters<typeof signatureOf>[0], now: number): boolean {
    const lease = this.#leases.get(signatureOf(limited))
    return lease !== undefined && isUsable(lease, now) && opened(lease.slice, 1) !== undefined
  }

  /** True where the lease has room for the call, and a declaration that covers it; the call then runs under it. */
  admit(lease: Lease, { draft, wanted: { mostNano }, estimateNano, rates }: HoldRequest, now: number): boolean {
    lease.typicalNano = Math.max(estimateNano, Math.floor(lease.typicalNano * TYPICAL_DECAY))
    const isDeclared = lease.unknownNano + estimateNano <= lease.declarations.inForceNano
    const slice = isDeclared && isUsable(lease, now) ? opened(lease.slice, mostNano) : undefined
    const left = rates && lease.rates && takeOf(lease.rates, rates.tokens, now)
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

  /** The lease to request with a hold; undefined where another call has requested one, or was rejected lately. */
  requestFor(lease: Lease, { wanted, estimateNano }: HoldRequest, now: number): HoldRequest["lease"] {
    if (lease.askAgainAt > now) return undefined
    lease.askAgainAt = now + REQUEST_TIMEOUT_MS
    lease.requestedAt ||= now
    const declaration = lease.declarations.next(declarationFor(lease.unknownNano + estimateNano, lease.typicalNano))
    // Where the slice has room for the call, what it lacks are requests, tokens or slots.
    const lacksRates = lease.rates !== undefined && opened(lease.slice, wanted.mostNano) !== undefined
    const wantNano = lacksRates ? 0 : wantOf(lease.slice, wanted)
    return { id: lease.id, wantNano, isHeld: lease.slice !== NO_SLICE, ...declaration }
  }

  /** `requestedAt`: the lease lives from before the ledger wrote it down, so that it ends here first. */
  granted(lease: Lease, sequence: number, verdict: HoldVerdict, requestedAt: number): void {
    lease.requestedAt = 0
    if (verdict.ok && verdict.leasedNano !== undefined) {
      lease.declarations.accepted(sequence)
      lease.slice = refill(lease.slice, verdict.leasedNano)
      if (verdict.leasedRates) lease.rates = refillSlice(lease.rates, verdict.leasedRates)
      lease.askAgainAt = 0
      this.#extend(lease, requestedAt)
    } else {
      lease.declarations.ignored(sequence)
      lease.askAgainAt = requestedAt + REFUSED_FOR_MS
    }
  }

  /**
   * The request for a lease failed: the ledger may hold it nevertheless. True where it is to be returned, because
   * nothing runs under it and no later request for it is under way.
   */
  failed(lease: Lease, requestedAt: number): boolean {
    if (lease.askAgainAt !== requestedAt + REQUEST_TIMEOUT_MS) return false
    lease.askAgainAt = requestedAt + REFUSED_FOR_MS
    if (lease.slice !== NO_SLICE) return false
    lease.isOver = true
    if (this.#leases.get(lease.signature) === lease) this.#leases.delete(lease.signature)
    return true
  }

  call(id: string): OpenCall | undefined {
    return this.#open.get(id)
  }

  /** Calls admitted before `time`, in epoch milliseconds, that are not charged yet. */
  openBefore(time: number): OpenCall[] {
    const calls: OpenCall[] = []
    for (const call of this.#open.values()) {
      if (call.openedAt >= time) break
      calls.push(call)
    }
    return calls
  }

  /** Closes a call with its charge. Without a confirmation of the ledger, the lease loses the most that the call could cost. */
  close(id: string, { costNano, tokens }: { costNano: number; tokens: number }, isCertain: boolean): void {
    const call = this.#open.get(id)
    if (!call) return
    const { lease, mostNano } = call
    this.#open.delete(id)
    lease.open.delete(id)
    if (!call.isRegistered) lease.unknownNano -= call.estimateNano
    lease.slice = closed(lease.slice, mostNano, isCertain ? costNano : Math.max(costNano, mostNano))
    if (lease.rates && call.rates) lease.rates = giveBack(lease.rates, call.rates, tokens)
  }

  /**
   * Ends a call whose charge cannot be reported. Where the ledger has registered it, its own hold charges it. Else its
   * lease still declares its estimate, and is neither used nor returned any more, so that the ledger charges what was
   * declared when it expires.
   */
  abandon(id: string): void {
    const call = this.#open.get(id)
    if (!call) return
    const { lease, mostNano } = call
    this.#open.delete(id)
    lease.open.delete(id)
    if (call.isRegistered) lease.slice = closed(lease.slice, mostNano, mostNano)
    else lease.isOver = true
  }

  /** How to register a call that goes on, at what it has cost so far; undefined where that is done, or needs not be. */
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

  /** The updates of these leases, once the calls in `reported` are charged or registered. */
  updates(leases: Iterable<Lease>, reported: ReadonlySet<string>, now: number): LeaseUpdate[] {
    return [...leases].map((lease) => {
      const { id, open, declarations, ttlMs } = lease
      let leftNano = lease.unknownNano
      for (const one of reported) {
        const call = open.get(one)
        if (call && !call.isRegistered) leftNano -= call.estimateNano
      }
      // As many calls as ended in this report may start before the next one. If none has started for a while, few are
      // declared, because a lost isolate is charged what it declared.
      const decay = PEAK_DECAY ** Math.max(1, (now - Math.max(lease.declaredAt, lease.usedAt)) / PEAK_DECAY_MS)
      lease.peakNano = Math.floor(lease.peakNano * decay)
      lease.declaredAt = now
      const estimateNano = Math.max(leftNano, declarationFor(lease.peakNano, lease.typicalNano))
      return { id, ttlMs, isReturned: false, ...declarations.next(estimateNano) }
    })
  }

  /** Of the reported leases, `alive` are those that the ledger still holds; the others are over. */
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

  /** Removes a lease that no call uses and no request is under way for. */
  retire(lease: Lease, now: number): boolean {
    if (lease.open.size > 0 || lease.askAgainAt > now || now - lease.usedAt < IDLE_MS) return false
    if (this.#leases.get(lease.signature) === lease) this.#leases.delete(lease.signature)
    return lease.slice !== NO_SLICE
  }

  /** True for the one caller that is to see to the lease's return. */
  watch(lease: Lease, now: number): boolean {
    if (lease.open.size > 0 || lease.watchedUntil > now) return false
    lease.watchedUntil = now + SENTINEL_MS
    return true
  }

  /** Those that new calls are admitted of. */
  all(): IterableIterator<Lease> {
    return this.#leases.values()
  }

  /** Callers near their limits have no lease to return, so no call removes their entry. */
  #forgetRefused(): void {
    if (this.#leases.size < MAX_LEASES) return
    for (const [signature, { slice, open }] of this.#leases) {
      if (slice === NO_SLICE && open.size === 0) this.#leases.delete(signature)
    }
  }

  #extend(lease: Lease, at: number): void {
    lease.usableUntil = Math.max(lease.usableUntil, at + lease.ttlMs / 2)
  }
}

/**
 * Whether the ledger may still grant this lease. Where a response was lost, the lease may have expired there and its id
 * been charged, after which it covers nothing more.
 */
function mayBeGranted({ isOver, slice, requestedAt, ttlMs }: Lease, now: number): boolean {
  return !isOver && slice === NO_SLICE && (requestedAt === 0 || now - requestedAt < ttlMs / 2)
}
