import { DurableObject } from "cloudflare:workers"
import type { FreeLimitExceeded, FreeLimits } from "../../src/ledger/free-requests.ts"
import { ACCOUNT, type Counters, keyScope, type Limit, type Verdict } from "../../src/ledger/limits.ts"
import {
  type Balance,
  type CreditResult,
  type BroadcastPace,
  type FlushResult,
  type HoldResponse,
  type HoldRequest,
  type LedgerRpc,
  NOTHING_TO_REPORT,
  type Registration,
  type FlushRequest,
  type LeaseUpdate,
  type UnconfirmedCall,
} from "../../src/ledger/protocol.ts"
import type { Env } from "../../src/config/env.ts"
import type { Generation, Settled } from "../../src/ledger/generation.ts"
import type { Reconciliation } from "../../src/ledger/reporting/reconciliation.ts"
import { logWarning } from "../../src/support/log.ts"
import { recordLimitAlerts } from "../../src/alerts/record.ts"
import { Admission } from "./admission.ts"
import { Alerts } from "./alerts.ts"
import { CounterStore } from "./counters.ts"
import { Credits } from "./credits.ts"
import { type LedgerStores, chargeAll, type LeaseChanges } from "./charge.ts"
import { expiredGeneration, heldRates, type HoldRow, Holds } from "./holds.ts"
import { Outbox } from "./outbox.ts"
import { Overruns } from "./overruns.ts"
import { ANY_CALL, Waiters } from "./waiters.ts"
import { rateHoldOfCall, RateCounts } from "./rates.ts"
import { reconcileCounters } from "./reconcile.ts"
import { checkLimits, limitStatuses, withAccount } from "./limit-status.ts"

/** Time that a settled generation waits for others before it is written to D1. */
const FLUSH_AFTER_MS = 400
const SETTLEMENT_TIMEOUT_MS = 2_000
const SHORT_TIMEOUT_MS = 300

/**
 * One per organization: its balance, every counter and every hold, and the outbox of its generations.
 * A charge, its counters and its generation record are one transaction, so the sum of the generations equals the spent
 * amount even if the runtime dies at any point; D1 receives the records later, in idempotent batches. Methods return
 * expected failures and throw only for bugs, because error classes do not survive an RPC.
 */
export class Ledger extends DurableObject<Env> implements Omit<LedgerRpc, keyof Rpc.DurableObjectBranded> {
  readonly #sql: SqlStorage
  readonly #credits: Credits
  readonly #holds: Holds
  readonly #counters: CounterStore
  readonly #outbox: Outbox
  readonly #overruns: Overruns
  readonly #rates: RateCounts
  readonly #alerts: Alerts
  readonly #admission: Admission
  readonly #charging: LedgerStores
  readonly #waiters = new Waiters()
  #alarmAt: number | null = null
  readonly #account = { get: (scope: string) => this.#counters.get(scope), creditedNano: () => this.#credits.total() }

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql = ctx.storage.sql
    this.#credits = new Credits(this.#sql)
    this.#holds = new Holds(this.#sql)
    this.#counters = new CounterStore(this.#sql)
    this.#outbox = new Outbox(this.#sql)
    this.#overruns = new Overruns(this.#sql)
    this.#rates = new RateCounts(this.#sql)
    this.#alerts = new Alerts(this.#sql)
    const stores = { credits: this.#credits, counters: this.#counters, outbox: this.#outbox, rates: this.#rates }
    this.#admission = new Admission({ ...stores, holds: this.#holds })
    const others = { holds: this.#holds, overruns: this.#overruns, alerts: this.#alerts, account: this.#account }
    this.#charging = { ...stores, ...others }
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm()
    })
  }

  /**
   * Places a hold under all limits or none, before dispatch. If a lease is requested and the key is far from every
   * limit, grants the lease with this call as its first. The report in the same request is applied first.
   */
  hold(request: HoldRequest, report: FlushRequest = NOTHING_TO_REPORT): HoldResponse {
    const received = this.report(report)
    const now = Date.now()
    const decide = () => this.#admission.decide(request, now)
    const verdict = request.rates ? this.#atomically(decide) : decide()
    if (verdict.ok) this.#wakeBy(now + request.ttlMs)
    if (this.#alerts.recordRejections(request, verdict, this.#account)) this.#wakeBy(now + FLUSH_AFTER_MS)
    return { verdict, ...received }
  }

  /** Whether anything is left under these limits. Read only. */
  checkLimits(limits: readonly Limit[], chargesAccount: boolean): Verdict {
    const checked = chargesAccount ? withAccount(limits, this.#credits.total()) : limits
    return checkLimits(checked, this.#counters, this.#holds)
  }

  /** `checkLimits` for isolates of release 0.2, which call it until they are replaced. */
  room(...limits: Parameters<Ledger["checkLimits"]>): Verdict {
    return this.checkLimits(...limits)
  }

  /** The balance, then each of these limits. */
  limitStatuses(limits: readonly Limit[]): ReturnType<typeof limitStatuses> {
    return limitStatuses(withAccount(limits, this.#credits.total()), this.#counters, this.#holds)
  }

  /** Settles calls, registers and renews others, and renews leases, in one transaction. */
  report({ settlements, registrations, renewals, leases }: FlushRequest): FlushResult {
    const length = settlements.length + registrations.length + renewals.length + leases.length
    if (length === 0) return { charged: [], alive: [] }
    const now = Date.now()
    const charged = this.#atomically(() => {
      const changes: LeaseChanges = new Map()
      for (const registration of registrations) this.#register(registration, changes, now)
      for (const { id, estimateNano, ttlMs } of renewals) this.#holds.renew(id, estimateNano, now + ttlMs)
      const ids = chargeAll(settlements, this.#charging, changes, now)
      this.#counters.save()
      for (const news of leases) this.#renewLease(news, changes.get(news.id) ?? 0, now)
      return ids
    })
    if (charged.length > 0) this.#wakeBy(now + FLUSH_AFTER_MS)
    this.#waiters.charged(charged)
    const alive = leases.map(({ id }) => id).filter((id) => this.#holds.lease(id) !== undefined)
    return { charged, alive }
  }

  /** Releases the hold of a call that was never sent, without a charge and a record. */
  release(id: string): void {
    this.#atomically(() => {
      const rates = heldRates(this.#holds.take(id) ?? { rates: null })
      if (rates) this.#rates.correct(rates, 0, Date.now())
    })
  }

  #atomically<T>(work: () => T): T {
    try {
      return this.ctx.storage.transactionSync(work)
    } catch (cause) {
      this.#holds.reload()
      this.#counters.reload()
      this.#rates.reload()
      this.#alerts.reload()
      throw cause
    }
  }

  #register({ draft, leaseId, ...hold }: Registration, changes: LeaseChanges, now: number): void {
    const lease = this.#holds.lease(leaseId)
    if (!lease || this.#outbox.has(draft.id)) return
    const change = changes.get(leaseId) ?? 0
    // A call that exceeded its bound may have used up the amount for this one.
    const amount = Math.max(0, Math.min(hold.amountNano, lease.amount + change))
    const rates = rateHoldOfCall(heldRates(lease))
    const isNew = this.#holds.add({
      id: draft.id,
      amount,
      estimate: Math.min(hold.estimateNano, amount),
      expires_at: now + hold.ttlMs,
      scopes: lease.scopes,
      draft: JSON.stringify(draft),
      rates: rates ? JSON.stringify(rates) : null,
      providers: null,
    })
    if (isNew) {
      changes.set(leaseId, change - amount)
      this.#holds.changeSlots(leaseId, -(rates?.slots ?? 0))
    }
    this.#wakeBy(now + hold.ttlMs)
  }

  #renewLease(
    { id, estimateNano, sequence, ttlMs, isReturned, rates }: LeaseUpdate,
    change: number,
    now: number,
  ): void {
    const lease = this.#holds.lease(id)
    if (isReturned) {
      const leaseRates = heldRates(this.#holds.take(id) ?? { rates: null })
      if (leaseRates && rates) this.#rates.returned(leaseRates, rates, now)
    } else if (lease) {
      const amount = lease.amount + change
      const declared = this.#holds.isNewer(id, sequence) ? estimateNano : lease.estimate
      this.#holds.changeLease(id, {
        amount,
        estimate: Math.max(0, Math.min(declared, amount)),
        expires_at: now + ttlMs,
      })
    }
  }

  /** Adds or removes credit, once per `id`. */
  credit(id: string, amountNano: number): CreditResult {
    const result = this.#credits.add(id, amountNano, Date.now())
    this.#alerts.credited(this.#account)
    return { ok: result === "done", isOtherAmount: result === "other", balance: this.balance() }
  }

  balance(): Balance {
    const { total } = this.#counters.get(ACCOUNT)
    const heldNano = this.#holds.held(ACCOUNT)
    return { creditedNano: this.#credits.total(), spentNano: total.spent, heldNano, byokNano: total.byok }
  }

  /** Requests on free models today. */
  freeToday(limits: FreeLimits): { limit: number; used: number } {
    return this.#counters.freeToday(limits, this.#credits.total(), Date.now())
  }

  countFreeRequest(limits: FreeLimits): FreeLimitExceeded | null {
    return this.#counters.countFree(limits, this.#credits.total(), Date.now())
  }

  /** Counters of these keys, in the same order. */
  usage(keyHashes: string[]): Counters[] {
    return keyHashes.map((hash) => this.#counters.at(keyScope(hash), Date.now()))
  }

  /** Calls of a key that are not in D1 yet. */
  onTheirWay(keyHash: string, since: number): Settled[] {
    return this.#outbox.undeliveredOf(keyHash, since)
  }

  /**
   * A generation that is not in D1 yet, by its id or the provider's response id. Waits for a call that is just ending.
   */
  async generation(id: string): Promise<Generation | null> {
    const found = this.#outbox.find(id)
    if (found || this.#holds.isEmpty) return found
    if (this.#holds.has(id)) await this.#waiters.wait(id, SETTLEMENT_TIMEOUT_MS)
    // With a provider's id or under a lease, the call is unknown: wait for the next settlement of any call.
    else if (!id.startsWith("gen-") || this.#holds.hasLeases) await this.#waiters.wait(ANY_CALL, SHORT_TIMEOUT_MS)
    return this.#outbox.find(id)
  }

  /** Compares the counters with the generations and repairs them where allowed: src/reconciliation. */
  async reconcile(organizationId: string, lowers: boolean): Promise<Reconciliation> {
    try {
      return await reconcileCounters({ ...this.#charging, db: this.env.DB }, organizationId, lowers)
    } finally {
      this.#wakeBy(Date.now() + FLUSH_AFTER_MS)
    }
  }

  setAlertThresholds(thresholds: number[]): void {
    this.#alerts.setThresholds(thresholds)
  }

  unconfirmedBroadcasts(ids: string[]): UnconfirmedCall[] {
    return this.#outbox.broadcasts.unconfirmed(ids)
  }

  confirmBroadcasts(ids: string[], pace?: BroadcastPace): void {
    this.#outbox.broadcasts.confirm(ids, Date.now(), pace)
  }

  backlog(): ReturnType<LedgerRpc["backlog"]> {
    return { ...this.#outbox.backlog(), holds: this.#holds.list().length }
  }

  /** Holds of calls and leases. */
  holds(): ReturnType<Holds["list"]> {
    return this.#holds.list()
  }

  /** Runs at least once for every expiry and every flush. Each step is safe to repeat. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    for (const hold of this.#holds.expired(Date.now())) this.#settleExpired(hold)
    const waits = [
      await this.#outbox.flush(this.env.DB),
      await this.#outbox.broadcast(this.env.BROADCAST, Date.now()),
      await this.#alerts.record((alerts) => recordLimitAlerts(this.env, alerts)),
    ]
    for (const waitMs of waits) if (waitMs !== null) this.#wakeBy(Date.now() + waitMs)
    const next = this.#holds.nextExpiry()
    if (next !== null) this.#wakeBy(next)
  }

  /** A lease without open calls ends without a charge; after the death of its isolate, its estimate is charged. */
  #settleExpired(hold: HoldRow): void {
    const { id, estimate } = hold
    const isLease = this.#holds.lease(id) !== undefined
    if (isLease && estimate === 0) return void this.#holds.take(id)
    logWarning("hold expired; its estimate was charged", { generation: id, estimateNano: estimate })
    const generation = expiredGeneration(hold, isLease)
    this.report({ ...NOTHING_TO_REPORT, settlements: [{ generation, leaseId: null }] })
  }

  #wakeBy(at: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return
    this.#alarmAt = at
    void this.ctx.storage.setAlarm(at)
  }
}
