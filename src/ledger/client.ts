import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import { cappedAt, type Generation, type Settled } from "./generation.ts"
import type { Reconciliation } from "./reconciliation.ts"
import { logError } from "../support/log.ts"
import { NOTHING_ELSE, type Progress, Reports } from "./reports.ts"
import { type Shared, sharedOf, type TrackedCall } from "./shared.ts"
import { realTimer, type Timer } from "../support/time.ts"
import type { FreeLimits } from "./free-requests.ts"
import { IDLE_MS, type Lease, type Leases } from "./leases.ts"
import type { Counters, Limit, Standing, Verdict } from "./limits.ts"
import {
  type Balance,
  type HoldRequest,
  type HoldVerdict,
  type LedgerRpc,
  NOTHING_TO_REPORT,
  type FlushRequest,
} from "./protocol.ts"

/**
 * The ledger of an organization: the one place that holds and charges its money. With `later`, which keeps the isolate
 * at work, calls may be admitted of a lease.
 */
export function openLedger(env: Env, organizationId: string, later?: (work: Promise<unknown>) => void): LedgerClient {
  const open = () => objectNamed<LedgerRpc>(env, "LEDGER", organizationId)
  return new LedgerClient(open, sharedOf(organizationId), later)
}

/** Most calls are over so soon that the ledger need not hear of them before: a call that lasts longer is registered. */
const REGISTER_AFTER_MS = 2_000
/** How stale the estimate of a running call may be, should its isolate die. */
const RENEW_AFTER_MS = 5_000
/** A call is dead after so many reports by others without one run of its own timer, which runs as often as they do. */
const MAX_SILENT_REPORTS = 6
/** A call under a lease that is not reported by now has no timer any more. */
const UNREPORTED_MS = 30_000
/** The return of a lease is tried so often; after that, the lease costs what was declared of it. */
const RETURN_TRIES = 3
/** When the ledger releases a hold whose response did not reach its isolate. */
const RELEASED_MS = 1_000

/**
 * One call's way to the ledger. A settlement goes along with the next call that this isolate makes there, whichever
 * call that is, or by itself after a moment: under load that halves the trips and the ledger's writes. Reading is
 * always preceded by what was settled here before. A settlement that an isolate takes with it when it dies is made by
 * the ledger's alarm, from the hold.
 */
export class LedgerClient {
  readonly #reports: Reports
  readonly #leases: Leases
  readonly #later: ((work: Promise<unknown>) => void) | undefined
  readonly #timer: Timer
  readonly #shared: Shared

  constructor(
    open: () => DurableObjectStub<LedgerRpc>,
    shared: Shared,
    later?: (work: Promise<unknown>) => void,
    timer: Timer = realTimer,
  ) {
    this.#timer = timer
    this.#reports = new Reports(open, shared, timer)
    this.#leases = shared.leases
    this.#shared = shared
    this.#later = later
  }

  /** Of the isolate's lease where it has room, else by the ledger, which may answer with a lease. */
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
    // What this isolate leased is held against the very limits that refused.
    if (verdict.ok && verdict.leasedNano === undefined) return verdict
    const isAdmitted = this.#leases.admit(lease, request, Date.now())
    if (isAdmitted) return { ok: true, grantedNano: request.wanted.mostNano }
    return verdict.ok ? this.#hold(request) : verdict
  }

  /** Whether anything is left under these limits. Holds nothing; makes no request where the isolate has a lease. */
  async room(limits: readonly Limit[], chargesAccount: boolean): Promise<Verdict> {
    if (this.#leases.hasRoom({ limits, chargesAccount }, Date.now())) return { ok: true, grantedNano: 0 }
    return this.#reports.request(async (stub) => stub.room(limits, chargesAccount))
  }

  async #hold(request: HoldRequest): Promise<HoldVerdict> {
    const hold = (report?: FlushRequest) => this.#reports.request(async (stub) => stub.hold(request, report))
    if (this.#reports.isEmpty) return (await hold()).verdict
    // What goes along may be at fault: it must not cost another call its hold.
    return (await this.#reports.carrying(NOTHING_ELSE, hold).catch(() => hold())).verdict
  }

  /** After a hold that failed: if the ledger has written it down, it is to cost nothing, since nothing runs under it. */
  #release({ draft, ttlMs }: HoldRequest, leases: readonly Lease[]): void {
    const report = () => ({
      ...NOTHING_TO_REPORT,
      renewals: [{ id: draft.id, estimateNano: 0, ttlMs: RELEASED_MS }],
      leases: leases.map(({ id, declarations }) => ({ id, ttlMs, isReturned: true, ...declarations.next(0) })),
    })
    this.#later?.(this.#sendUntilReceived(report))
  }

  /** False where it was not received. */
  async #sendUntilReceived(report: () => FlushRequest): Promise<boolean> {
    for (let tries = 0; tries < RETURN_TRIES; tries++) {
      const received = await this.#reports.send(report()).catch(() => undefined)
      if (received) return true
      await this.#timer.wait(IDLE_MS)
    }
    return false
  }

  /**
   * Reports a running call to the ledger, with what `estimate` says it has cost so far in nano-USD: first when
   * REGISTER_AFTER_MS have passed since `heldAt`, then every RENEW_AFTER_MS. Returns how to stop.
   */
  track(id: string, { estimate, ttlMs, heldAt }: TrackedCall): () => void {
    const { tracked } = this.#shared
    const call = { estimate, ttlMs, reportAt: heldAt + this.firstReportMs(ttlMs), silentReports: 0 }
    tracked.set(id, call)
    const untilDue = () => {
      const ms = call.reportAt - Date.now()
      return ms > 0 ? ms : renewalMs(ttlMs)
    }
    // Only a call that is due makes a report, and others take part in it: else every call would make its own.
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

  /** How long a call lasts before it is reported, in milliseconds. */
  firstReportMs(ttlMs: number): number {
    return Math.min(REGISTER_AFTER_MS, ttlMs / 3)
  }

  /**
   * Of all calls of the isolate that are due, or soon will be, in one report. A dead call is registered, and then
   * reported no more: its hold expires, and the ledger charges its estimate.
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
      .carrying(progress, this.#reports.send)
      .catch((cause: unknown) => logError("running calls were not reported to the ledger", {}, cause))
  }

  /** Resolves when the generation is charged, and its content kept. */
  async settle(generation: Generation, content?: string): Promise<void> {
    const call = this.#leases.call(generation.id)
    const lease = call?.lease
    // Of a call that the lease covers only the isolate knows what was held for it.
    const isOver = call !== undefined && generation.costNano > call.mostNano
    const capped = isOver ? cappedAt(generation, call.mostNano) : generation
    if (this.#shared.sweptAt + RENEW_AFTER_MS < Date.now()) this.#later?.(this.#reportProgress())
    await this.#reports.settle({ generation: capped, leaseId: lease?.id ?? null, content })
    if (lease) this.#watch(lease)
  }

  /** Ends the hold of a call that was never sent. Not for one that a lease covers. Never rejects. */
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

  /** The balance, then each of these limits, with what is spent and held under it. */
  async standings(limits: readonly Limit[]): Promise<Standing[]> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.standings(limits))
  }

  async freeToday(limits: FreeLimits): Promise<{ limit: number; used: number }> {
    return this.#reports.request(async (stub) => stub.freeToday(limits))
  }

  async balance(): Promise<Balance> {
    await this.#reports.flush()
    return this.#reports.request(async (stub) => stub.balance())
  }

  /** Calls of a key that were charged since then and are not in the database yet. */
  async onTheirWay(keyHash: string, since: number): Promise<Settled[]> {
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

  /** Percent of a limit at which the organization is alerted. */
  async setAlertThresholds(thresholds: number[]): Promise<void> {
    await this.#reports.request(async (stub) => stub.setAlertThresholds(thresholds))
  }

  async credit(id: string, amountNano: number): Promise<{ ok: boolean; balance: Balance }> {
    return this.#reports.request(async (stub) => stub.credit(id, amountNano))
  }
}

function renewalMs(ttlMs: number): number {
  return Math.min(RENEW_AFTER_MS, ttlMs / 3)
}
