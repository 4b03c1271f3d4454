import type { Env } from "../config/env.ts"
import { cappedAt, type Generation } from "./generation.ts"
import type { Reconciliation } from "./reconciliation.ts"
import { logError } from "../support/log.ts"
import { type PendingSettlement, type Shared, sharedOf, type TrackedCall } from "./shared.ts"
import { realTimer, type Timer } from "../support/time.ts"
import type { FreeLimits } from "./free-requests.ts"
import { IDLE_MS, type Lease, type Leases } from "./leases.ts"
import type { Counters, Limit, Standing, Verdict } from "./limits.ts"
import { tokensUsed } from "./rates.ts"
import {
  type Balance,
  type FlushResult,
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
  const open = () => env.LEDGER.get(env.LEDGER.idFromName(organizationId)) as DurableObjectStub<LedgerRpc>
  return new LedgerClient(open, sharedOf(organizationId), later)
}

/** How long a settlement waits for others of its isolate, unless another request to the ledger takes it along. */
const BATCH_WINDOW_MS = 100
/** A batch of this size is sent at once: a report has about 1 KB for each settlement. */
const MAX_BATCH = 100
/** How long a call that took a settlement along may be silent before it is taken for dead. */
const BATCH_CARRIER_TIMEOUT_MS = 1_000
/** Most calls are over so soon that the ledger need not hear of them before: a call that lasts longer is registered. */
const REGISTER_AFTER_MS = 2_000
/** How stale the estimate of a running call may be, should its isolate die. */
const RENEW_AFTER_MS = 5_000
/** The return of a lease is tried so often; after that, the lease costs what was declared of it. */
const RETURN_TRIES = 3

/**
 * One call's way to the ledger. A settlement goes along with the next call that this isolate makes there, whichever
 * call that is, or by itself after a moment: under load that halves the trips and the ledger's writes. Reading is
 * always preceded by what was settled here before. A settlement that an isolate takes with it when it dies is made by
 * the ledger's alarm, from the hold.
 */
export class LedgerClient {
  readonly #open: () => DurableObjectStub<LedgerRpc>
  #opened: DurableObjectStub<LedgerRpc> | undefined
  readonly #waiting: PendingSettlement[]
  readonly #leases: Leases
  readonly #later: ((work: Promise<unknown>) => void) | undefined
  readonly #timer: Timer
  readonly #tracked: Shared["tracked"]

  constructor(
    open: () => DurableObjectStub<LedgerRpc>,
    { waiting, leases, tracked }: Shared,
    later?: (work: Promise<unknown>) => void,
    timer = realTimer,
  ) {
    this.#timer = timer
    this.#open = open
    this.#waiting = waiting
    this.#leases = leases
    this.#tracked = tracked
    this.#later = later
  }

  /** Opened when it is needed: most calls run under a lease. */
  get #stub(): DurableObjectStub<LedgerRpc> {
    return (this.#opened ??= this.#open())
  }

  /** Of the isolate's lease where it has room, else by the ledger, which may answer with a lease. */
  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const mayLease = this.#later !== undefined && !request.free
    if (!mayLease) return this.#hold(request)
    const now = Date.now()
    const lease = this.#leases.leaseFor(request, now)
    if (this.#leases.admit(lease, request, now)) return { ok: true, grantedNano: request.wanted.mostNano }
    const leaseRequest = this.#leases.requestFor(lease, request, now)
    const verdict = await this.#hold(leaseRequest ? { ...request, lease: leaseRequest } : request)
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
    return this.#stub.room(limits, chargesAccount)
  }

  async #hold(request: HoldRequest): Promise<HoldVerdict> {
    const hold = async (report?: FlushRequest) => this.#stub.hold(request, report)
    if (this.#waiting.length === 0) return (await hold()).verdict
    // What goes along may be at fault: it must not cost another call its hold.
    return (await this.#carrying(NOTHING_ELSE, hold).catch(() => hold())).verdict
  }

  /**
   * Reports a running call to the ledger, with what `estimate` says it has cost so far in nano-USD: first when
   * REGISTER_AFTER_MS have passed since `heldAt`, then every RENEW_AFTER_MS. Returns how to stop.
   */
  track(id: string, { estimate, ttlMs, heldAt }: TrackedCall): () => void {
    const reportAt = heldAt + this.firstReportMs(ttlMs)
    const firstMs = Math.max(0, reportAt - Date.now())
    const nextMs = Math.min(RENEW_AFTER_MS, ttlMs / 3)
    this.#tracked.set(id, { estimate, ttlMs, reportAt })
    const tick = () => {
      cancel = this.#timer.after(nextMs, tick)
      void this.#reportProgress()
    }
    let cancel = this.#timer.after(firstMs, tick)
    return () => {
      this.#tracked.delete(id)
      cancel()
    }
  }

  /** How long a call lasts before it is reported, in milliseconds. */
  firstReportMs(ttlMs: number): number {
    return Math.min(REGISTER_AFTER_MS, ttlMs / 3)
  }

  /** Of all calls of the isolate that are due, in one report: each call's own timer would be a trip of its own. */
  async #reportProgress(): Promise<void> {
    const now = Date.now()
    const ending = new Set(this.#waiting.map(({ generation }) => generation.id))
    const progress: Progress = { registrations: [], renewals: [] }
    for (const [id, call] of this.#tracked) {
      if (ending.has(id)) continue
      const renewMs = Math.min(RENEW_AFTER_MS, call.ttlMs / 3)
      const isLeased = this.#leases.call(id)?.isRegistered === false
      if (call.reportAt - (isLeased ? 0 : renewMs / 2) > now) continue
      call.reportAt = now + renewMs
      const estimateNano = call.estimate()
      const registration = this.#leases.registration(id, estimateNano)
      if (registration) progress.registrations.push(registration)
      else progress.renewals.push({ id, estimateNano, ttlMs: call.ttlMs })
    }
    if (progress.registrations.length + progress.renewals.length === 0) return
    await this.#carrying(progress, this.#report).catch((cause: unknown) =>
      logError("running calls were not reported to the ledger", {}, cause),
    )
  }

  /** Resolves when the generation is charged. */
  async settle(generation: Generation): Promise<void> {
    const call = this.#leases.call(generation.id)
    const lease = call?.lease
    // Of a call that the lease covers only the isolate knows what was held for it.
    const capped = call ? cappedAt(generation, call.mostNano) : generation
    const current: PendingSettlement = { generation: capped, leaseId: lease?.id ?? null, state: "waiting" }
    this.#waiting.push(current)
    if (this.#waiting.length < MAX_BATCH) await this.#timer.wait(BATCH_WINDOW_MS)
    if (current.state === "waiting") await this.#flush()
    else if (current.state === "taken") await this.#timer.wait(BATCH_CARRIER_TIMEOUT_MS)
    // By itself, if it was not taken along or came back. Charged once however often it is asked.
    try {
      if (current.state !== "known") await this.#alone(current)
    } finally {
      this.#leases.close(generation.id, usedBy(capped), false)
    }
    if (lease && this.#leases.watch(lease, Date.now())) this.#later?.(this.#returnWhenIdle(lease))
  }

  async #alone(current: PendingSettlement): Promise<void> {
    await this.#send([current], NOTHING_ELSE, this.#report)
  }

  async #returnWhenIdle(lease: Lease): Promise<void> {
    while (lease.open.size === 0 && Date.now() < lease.watchedUntil) {
      if (this.#leases.retire(lease, Date.now())) {
        const { id, ttlMs, declarations, rates } = lease
        for (let tries = 0; tries < RETURN_TRIES; tries++) {
          const leases = [{ id, ttlMs, isReturned: true, ...(rates && { rates }), ...declarations.next(0) }]
          const received = await this.#report({ ...NOTHING_TO_REPORT, leases }).catch(() => undefined)
          if (received) return
          await this.#timer.wait(IDLE_MS)
        }
        logError("lease was not returned; its declared estimate will be charged", { lease: id })
        return
      }
      await this.#timer.wait(IDLE_MS)
    }
    lease.watchedUntil = 0
  }

  async usage(keyHashes: string[]): Promise<Counters[]> {
    await this.#flush()
    return this.#stub.usage(keyHashes)
  }

  /** The balance, then each of these limits, with what is spent and held under it. */
  async standings(limits: readonly Limit[]): Promise<Standing[]> {
    await this.#flush()
    return this.#stub.standings(limits)
  }

  async freeToday(limits: FreeLimits): Promise<{ limit: number; used: number }> {
    return this.#stub.freeToday(limits)
  }

  async balance(): Promise<Balance> {
    await this.#flush()
    return this.#stub.balance()
  }

  async generation(id: string): Promise<Generation | null> {
    await this.#flush()
    return this.#stub.generation(id)
  }

  async reconcile(organizationId: string, lowers: boolean): Promise<Reconciliation> {
    await this.#flush()
    return this.#stub.reconcile(organizationId, lowers)
  }

  /** Percent of a limit at which the organization is alerted. */
  async setAlertThresholds(thresholds: number[]): Promise<void> {
    await this.#stub.setAlertThresholds(thresholds)
  }

  async credit(id: string, amountNano: number): Promise<{ ok: boolean; balance: Balance }> {
    return this.#stub.credit(id, amountNano)
  }

  readonly #report = async (report: FlushRequest): Promise<FlushResult> => this.#stub.report(report)

  /** What cannot be charged now is charged by its own call, or from its hold by the ledger's alarm. */
  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    await this.#carrying(NOTHING_ELSE, this.#report).catch(() => undefined)
  }

  /** Make a call that takes along what waits; if it fails, each of what it took is left to its own call. */
  async #carrying<T extends FlushResult>(progress: Progress, call: (report: FlushRequest) => Promise<T>): Promise<T> {
    const taken = this.#waiting.splice(0)
    for (const one of taken) one.state = "taken"
    try {
      return await this.#send(taken, progress, call)
    } catch (error) {
      for (const one of taken) one.state = "returned"
      throw error
    }
  }

  /** A report, and what follows from its having arrived. */
  async #send<T extends FlushResult>(
    settlements: PendingSettlement[],
    { registrations, renewals }: Progress,
    call: (report: FlushRequest) => Promise<T>,
  ): Promise<T> {
    const result = new Set([
      ...settlements.map((one) => one.generation.id),
      ...registrations.map((one) => one.draft.id),
    ])
    const leases = new Set([...result].flatMap((id) => this.#leases.call(id)?.lease ?? []))
    const reportedAt = Date.now()
    const news = this.#leases.updates(leases, result)
    const answer = await call({
      settlements: settlements.map(({ generation, leaseId }) => ({ generation, leaseId })),
      registrations,
      renewals,
      leases: news,
    })
    this.#leases.registered(registrations)
    this.#leases.acknowledged(leases, news, new Set(answer.alive), reportedAt)
    const charged = new Set(answer.charged)
    for (const one of settlements) {
      one.state = "known"
      const { generation } = one
      this.#leases.close(generation.id, usedBy(generation), charged.has(generation.id))
    }
    return answer
  }
}

/** What a report has of calls that go on. */
type Progress = Pick<FlushRequest, "registrations" | "renewals">

const NOTHING_ELSE: Progress = { registrations: [], renewals: [] }

function usedBy({ costNano, byokCostNano, tokens }: Generation): { costNano: number; tokens: number } {
  return { costNano: costNano + byokCostNano, tokens: tokensUsed(tokens) }
}
