import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import { capCost, type Generation, type Settled } from "./generation.ts"
import type { Reconciliation } from "./reporting/reconciliation.ts"
import { logError } from "../support/log.ts"
import { EMPTY_PROGRESS, type Progress, Reports } from "./reporting/reports.ts"
import { type ClientOptions, RENEW_AFTER_MS, renewalMs, type Shared, sharedOf, type TrackedCall } from "./shared.ts"
import { realTimer, type Timer } from "../support/time/time.ts"
import type { FreeLimitExceeded, FreeLimits } from "./free-requests.ts"
import { IDLE_MS, type Lease, type Leases } from "./leases.ts"
import type { Counters, Limit, LimitStatus, Verdict } from "./limits.ts"
import {
  type Balance,
  type CreditResult,
  type HoldRequest,
  type HoldVerdict,
  type LedgerRpc,
  NOTHING_TO_REPORT,
  type FlushRequest,
} from "./protocol.ts"

/**
 * Opens the ledger of an organization, which holds and charges its money. With `waitUntil`, which extends the life of the
 * isolate, calls may be admitted from a lease.
 */
export function openLedger(env: Env, organizationId: string, options: ClientOptions = {}): LedgerClient {
  const open = () => objectNamed<LedgerRpc>(env, "LEDGER", organizationId)
  return new LedgerClient(open, sharedOf(organizationId), options)
}

/** Calls that run longer are registered with the ledger. Most calls under a lease end earlier and need no report. */
const REGISTER_AFTER_MS = 2_000
/** Reports of other calls without a run of the call's own timer, after which the call counts as dead. */
const MAX_SILENT_REPORTS = 6
/** A call under a lease without a report for this long has lost its timer. */
const UNREPORTED_MS = 30_000
/** Attempts to return a lease. After that, its declared estimate is charged. */
const RETURN_TRIES = 3
/** Expiry of a hold whose response did not reach the isolate. */
const RELEASED_MS = 1_000

/**
 * Client of the ledger for one call. A settlement is sent with the next request of this isolate to the ledger, or
 * alone after a short delay: under load this halves the requests and the ledger's writes. Pending settlements are sent
 * before every read. If the isolate dies before a settlement is sent, the ledger's alarm settles the hold.
 */
export class LedgerClient {
  readonly #reports: Reports
  readonly #leases: Leases
  readonly #later: ((work: Promise<unknown>) => void) | undefined
  readonly #timer: Timer
  readonly #shared: Shared
  readonly #settlesAtOnce: boolean

  constructor(
    open: () => DurableObjectStub<LedgerRpc>,
    shared: Shared,
    { waitUntil, timer = realTimer, settlesAtOnce = false }: ClientOptions = {},
  ) {
    this.#timer = timer
    this.#settlesAtOnce = settlesAtOnce
    this.#reports = new Reports(open, shared, timer)
    this.#leases = shared.leases
    this.#shared = shared
    this.#later = waitUntil
  }

  /** Holds from the isolate's lease if it has room, otherwise at the ledger, which may return a lease. */
  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const mayLease = this.#later !== undefined && !request.free
    if (!mayLease) {
      return this.#hold(request).catch((cause: unknown) => {
        this.#release(request, [])
        throw cause
      })
    }
    const now = Date.now()
    const lease = this.#leases.leaseFor(request, now)
    if (this.#leases.admit(lease, request, now)) return { ok: true, grantedNano: request.wanted.mostNano }
    const leaseRequest = this.#leases.requestFor(lease, request, now)
    const verdict = await this.#hold(leaseRequest ? { ...request, lease: leaseRequest } : request).catch(
      (cause: unknown) => {
        this.#release(request, leaseRequest && this.#leases.failed(lease, now) ? [lease] : [])
        throw cause
      },
    )
    if (leaseRequest) this.#leases.granted(lease, leaseRequest.sequence, verdict, now)
    // The isolate's own leases may use up the limits that rejected the call.
    if (verdict.ok && verdict.leasedNano === undefined) return verdict
    const isAdmitted = this.#leases.admit(lease, request, Date.now())
    if (isAdmitted) return { ok: true, grantedNano: request.wanted.mostNano }
    return verdict.ok ? this.#hold(request) : verdict
  }

  /** Whether anything is left under these limits. Holds nothing, and sends no request if the isolate has a lease. */
  async checkLimits(limits: readonly Limit[], chargesAccount: boolean): Promise<Verdict> {
    if (this.#leases.hasRoom({ limits, chargesAccount }, Date.now())) return { ok: true, grantedNano: 0 }
    return this.#reports.request(async (stub) => stub.checkLimits(limits, chargesAccount))
  }

  async #hold(request: HoldRequest): Promise<HoldVerdict> {
    const hold = (report?: FlushRequest) => this.#reports.request(async (stub) => stub.hold(request, report))
    if (this.#reports.isEmpty) return (await hold()).verdict
    // A failing report must not prevent the hold, so the hold is retried without it.
    return (await this.#reports.sendWithPending(EMPTY_PROGRESS, hold).catch(() => hold())).verdict
  }

  /** Releases a failed hold that the ledger may have stored, since nothing runs under it. */
  #release({ draft, ttlMs }: HoldRequest, leases: readonly Lease[]): void {
    const report = () => ({
      ...NOTHING_TO_REPORT,
      renewals: [{ id: draft.id, estimateNano: 0, ttlMs: RELEASED_MS }],
      leases: leases.map(({ id, declarations }) => ({ id, ttlMs, isReturned: true, ...declarations.next(0) })),
    })
    this.#later?.(this.#sendUntilReceived(report))
  }

  /** False if the report was not received. */
  async #sendUntilReceived(report: () => FlushRequest): Promise<boolean> {
    for (let tries = 0; tries < RETURN_TRIES; tries++) {
      const received = await this.#reports.send(report()).catch(() => undefined)
      if (received) return true
      await this.#timer.wait(IDLE_MS)
    }
    return false
  }

  /**
   * Reports a running call to the ledger with its `estimate`, the cost so far in nano-USD: first REGISTER_AFTER_MS
   * after `heldAt`, then every RENEW_AFTER_MS. Returns a function that stops the reports.
   */
  track(id: string, { estimate, ttlMs, heldAt }: TrackedCall): () => void {
    const { tracked } = this.#shared
    const call = { estimate, ttlMs, reportAt: heldAt + this.firstReportMs(ttlMs), silentReports: 0 }
    tracked.set(id, call)
    const untilDue = () => {
      const ms = call.reportAt - Date.now()
      return ms > 0 ? ms : renewalMs(ttlMs)
    }
    // Only a call that is due sends a report, which includes the others: otherwise each call would send its own.
    const tick = () => {
      call.silentReports = 0
      if (call.reportAt <= Date.now()) void this.#reportProgress()
      cancel = this.#timer.after(untilDue(), tick)
    }
    let cancel = this.#timer.after(Math.max(0, call.reportAt - Date.now()), tick)
    return () => {
      tracked.delete(id)
      cancel()
    }
  }

  /** Milliseconds until the first report of a call. */
  firstReportMs(ttlMs: number): number {
    return Math.min(REGISTER_AFTER_MS, ttlMs / 3)
  }

  /**
   * Reports all calls of the isolate that are due now or soon. A dead call is registered once and then not reported, so
   * that its hold expires and the ledger charges its estimate.
   */
  async #reportProgress(): Promise<void> {
    const now = Date.now()
    const { tracked } = this.#shared
    const ending = this.#reports.waitingIds()
    const progress: Progress = { registrations: [], renewals: [] }
    for (const [id, call] of tracked) {
      if (ending.has(id)) continue
      const renewMs = renewalMs(call.ttlMs)
      const isLeased = this.#leases.call(id)?.isRegistered === false
      if (call.reportAt - (isLeased ? this.firstReportMs(call.ttlMs) / 4 : renewMs / 2) > now) continue
      if (call.silentReports++ >= MAX_SILENT_REPORTS) {
        tracked.delete(id)
        continue
      }
      call.reportAt = now + renewMs
      const estimateNano = call.estimate()
      const registration = this.#leases.registration(id, estimateNano)
      if (registration) progress.registrations.push(registration)
      else progress.renewals.push({ id, estimateNano, ttlMs: call.ttlMs })
    }
    for (const { draft, estimateNano, lease } of this.#leases.openBefore(now - UNREPORTED_MS)) {
      if (tracked.has(draft.id) || ending.has(draft.id)) continue
      const registration = this.#leases.registration(draft.id, estimateNano)
      if (registration) progress.registrations.push(registration)
      else {
        this.#leases.abandon(draft.id)
        this.#watch(lease)
      }
    }
    this.#shared.sweptAt = now
    if (progress.registrations.length + progress.renewals.length === 0) return
    await this.#reports
      .sendWithPending(progress, this.#reports.send)
      .catch((cause: unknown) => logError("running calls were not reported to the ledger", {}, cause))
  }

  /** Resolves when the generation is charged and its content stored. */
  async settle(generation: Generation, content?: string): Promise<void> {
    const call = this.#leases.call(generation.id)
    const lease = call?.lease
    // Only the isolate knows the amount held for a call under a lease.
    const isOver = call !== undefined && generation.costNano > call.mostNano
    const capped = isOver ? capCost(generation, call.mostNano) : generation
    if (this.#shared.sweptAt + RENEW_AFTER_MS < Date.now()) this.#later?.(this.#reportProgress())
    const settlement = { generation: capped, leaseId: lease?.id ?? null, content }
    await this.#reports.settle(settlement, this.#settlesAtOnce)
    if (lease) this.#watch(lease)
  }

  /** Releases the hold of a call that was never sent. Not for calls under a lease. Never rejects. */
  async release(id: string): Promise<void> {
    for (let tries = 0; tries < RETURN_TRIES; tries++) {
      const isReleased = await this.#reports
        .request(async (stub) => stub.release(id))
        .then(
          () => true,
          () => false,
        )
      if (isReleased) return
      await this.#timer.wait(IDLE_MS)
    }
    logError("hold was not released; its estimate will be charged", { generation: id })
  }

  #watch(lease: Lease): void {
    if (this.#leases.watch(lease, Date.now())) this.#later?.(this.#returnWhenIdle(lease))
  }

  async #returnWhenIdle(lease: Lease): Promise<void> {
    while (lease.open.size === 0 && Date.now() < lease.watchedUntil) {
      if (this.#leases.retire(lease, Date.now())) {
        if (lease.isOver) return
        const { id, ttlMs, declarations, rates } = lease
        const isReturned = await this.#sendUntilReceived(() => {
          const leases = [{ id, ttlMs, isReturned: true, ...(rates && { rates }), ...declarations.next(0) }]
          return { ...NOTHING_TO_REPORT, leases }
        })
        if (isReturned) return
        logError("lease was not returned; its declared estimate will be charged", { lease: id })
        return
      }
      await this.#timer.wait(IDLE_MS)
    }
    lease.watchedUntil = 0
  }

  async usage(keyHashes: string[]): Promise<Counters[]> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.usage(keyHashes))
  }

  /** The balance, then each of these limits, with the spent and held amounts. */
  async limitStatuses(limits: readonly Limit[]): Promise<LimitStatus[]> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.limitStatuses(limits))
  }

  async freeToday(limits: FreeLimits): Promise<{ limit: number; used: number }> {
    return this.#reports.request(async (stub) => stub.freeToday(limits))
  }

  /** Counts a request on a free model. The limit that it exceeds, or null. */
  async countFreeRequest(limits: FreeLimits): Promise<FreeLimitExceeded | null> {
    return this.#reports.request(async (stub) => stub.countFreeRequest(limits))
  }

  async balance(): Promise<Balance> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.balance())
  }

  /** Calls of a key that were charged since `since` and are not in D1 yet. */
  async undeliveredCalls(keyHash: string, since: number): Promise<Settled[]> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.onTheirWay(keyHash, since))
  }

  async generation(id: string): Promise<Generation | null> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.generation(id))
  }

  async reconcile(organizationId: string, lowers: boolean): Promise<Reconciliation> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.reconcile(organizationId, lowers))
  }

  /** Sets the alert thresholds, in percent of a limit. */
  async setAlertThresholds(thresholds: number[]): Promise<void> {
    await this.#reports.request(async (stub) => stub.setAlertThresholds(thresholds))
  }

  async credit(id: string, amountNano: number): Promise<CreditResult> {
    return this.#reports.request(async (stub) => stub.credit(id, amountNano))
  }
}
