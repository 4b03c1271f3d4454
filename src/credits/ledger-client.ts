import type { Ledger } from "../../durable-objects/ledger.ts"
import type { Env } from "../env.ts"
import type { Generation } from "../generations/generation.ts"
import type { Reconciliation } from "../reconciliation/reconciliation.ts"
import { logError } from "../support/log.ts"
import { realTimer, type Timer } from "../support/time.ts"
import type { FreeLimits } from "./free-requests.ts"
import { IDLE_MS, type Lease, LeaseBook } from "./lease-book.ts"
import type { Counters, Limit, Verdict } from "./ledger.ts"
import type { Balance, Heard, HoldRequest, HoldVerdict, Registration, Report, Settlement } from "./protocol.ts"

/**
 * The ledger of an organization: the one place that holds and charges its money. With `later`, which keeps the isolate at
 * work, calls may be admitted of a lease.
 */
export function openLedger(env: Env, organizationId: string, later?: (work: Promise<unknown>) => void): LedgerClient {
  return new LedgerClient(env.LEDGER.get(env.LEDGER.idFromName(organizationId)), sharedOf(organizationId), later)
}

/** How long a settlement waits for another call to take it along. */
const COMPANY_MS = 15
/** How long a call that took a settlement along may be silent before it is taken for dead. */
const CARRIER_PATIENCE_MS = 1_000
/** A call that is not streamed may be over so soon that the ledger need not hear of it before. */
const REGISTER_AFTER_MS = 50

/**
 * A settlement on its way. Calls share nothing but this plain data: a promise of a call whose client has left may never
 * settle, so no call waits for another's. `known`: the ledger has charged it, or has said that it need not.
 */
type Waiting = Settlement & { state: "waiting" | "taken" | "known" | "returned" }

/** What the calls of one isolate share of one organization. */
type Shared = { waiting: Waiting[]; book: LeaseBook }

const shared = new Map<string, Shared>()

function sharedOf(organizationId: string): Shared {
  let one = shared.get(organizationId)
  if (!one) {
    one = { waiting: [], book: new LeaseBook() }
    shared.set(organizationId, one)
  }
  return one
}

/**
 * One call's way to the ledger. A settlement goes along with the next call that this isolate makes there, whichever call
 * that is, or by itself after a moment: under load that halves the trips and the ledger's writes. Reading is always
 * preceded by what was settled here before. A settlement that an isolate takes with it when it dies is made by the
 * ledger's alarm, from the hold.
 */
export class LedgerClient {
  readonly #stub: DurableObjectStub<Ledger>
  readonly #waiting: Waiting[]
  readonly #book: LeaseBook
  readonly #later: ((work: Promise<unknown>) => void) | undefined
  readonly #timer: Timer
  readonly #cancelRegistration = new Map<string, () => void>()

  constructor(
    stub: DurableObjectStub<Ledger>,
    { waiting, book }: Shared,
    later?: (work: Promise<unknown>) => void,
    timer = realTimer,
  ) {
    this.#timer = timer
    this.#stub = stub
    this.#waiting = waiting
    this.#book = book
    this.#later = later
  }

  /** Of the isolate's lease where it has room, else by the ledger, which may answer with a lease. */
  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const mayLease = this.#later !== undefined && !request.free && request.wanted.mostNano > 0
    if (!mayLease) return this.#hold(request)
    const now = Date.now()
    const lease = this.#book.leaseFor(request, now)
    if (this.#admit(lease, request, now)) return { ok: true, grantedNano: request.wanted.mostNano }
    const ask = this.#book.ask(lease, request, now)
    const verdict = await this.#hold(ask ? { ...request, lease: ask } : request)
    if (ask) this.#book.answered(lease, verdict.ok ? verdict.leasedNano : undefined, now)
    // What this isolate leased is held against the very limits that refused.
    if (verdict.ok && !verdict.leasedNano) return verdict
    const isAdmitted = this.#admit(lease, request, Date.now())
    if (isAdmitted) return { ok: true, grantedNano: request.wanted.mostNano }
    return verdict.ok ? this.#hold(request) : verdict
  }

  /** Whether anything at all is left under these limits. Holds nothing; asks nobody where the isolate has a lease. */
  async room(limits: Limit[], chargesAccount: boolean): Promise<Verdict> {
    if (this.#book.hasRoom({ limits, chargesAccount }, Date.now())) return { ok: true, grantedNano: 0 }
    return this.#stub.room(limits, chargesAccount)
  }

  async #hold(request: HoldRequest): Promise<HoldVerdict> {
    const hold = async (report?: Report) => this.#stub.hold(request, report)
    if (this.#waiting.length === 0) return (await hold()).verdict
    // What goes along may be at fault: it must not cost another call its hold.
    return (await this.#carrying([], hold).catch(() => hold())).verdict
  }

  /** A stream goes on for longer than it takes to tell the ledger of it; of any other call it is told if it lasts. */
  #admit(lease: Lease, request: HoldRequest, now: number): boolean {
    if (!this.#book.admit(lease, request, now)) return false
    const { id, streamed } = request.draft
    const cancel = this.#timer.after(streamed ? 0 : REGISTER_AFTER_MS, () => void this.#register())
    this.#cancelRegistration.set(id, cancel)
    return true
  }

  /** All of the isolate's calls that go on, at once. */
  async #register(): Promise<void> {
    const registrations = this.#book.registrations(new Set(this.#waiting.map(({ generation }) => generation.id)))
    if (registrations.length === 0) return
    await this.#carrying(registrations, this.#report).catch((cause: unknown) =>
      logError("running calls were not registered", {}, cause),
    )
  }

  async renew(id: string, estimateNano: number, ttlMs: number): Promise<void> {
    const call = this.#book.call(id)
    if (call && !call.isRegistered) await this.#register()
    await this.#stub.renew(id, estimateNano, ttlMs)
  }

  /** Resolves when the generation is charged. */
  async settle(generation: Generation): Promise<void> {
    this.#cancelRegistration.get(generation.id)?.()
    const lease = this.#book.call(generation.id)?.lease
    const own: Waiting = { generation, leaseId: lease?.id ?? null, state: "waiting" }
    this.#waiting.push(own)
    await this.#timer.wait(COMPANY_MS)
    if (own.state === "waiting") await this.#flush()
    else if (own.state === "taken") await this.#timer.wait(CARRIER_PATIENCE_MS)
    // By itself, if it was not taken along or came back. Charged once however often it is asked.
    try {
      if (own.state !== "known") await this.#alone(own)
    } finally {
      this.#book.close(generation.id, costOf(generation), false)
    }
    if (lease && this.#book.watch(lease, Date.now())) this.#later?.(this.#returnWhenIdle(lease))
  }

  async #alone(own: Waiting): Promise<void> {
    await this.#told([own], [], this.#report)
  }

  async #returnWhenIdle(lease: Lease): Promise<void> {
    while (lease.open.size === 0 && Date.now() < lease.watchedUntil) {
      if (this.#book.retire(lease, Date.now())) {
        const { id, ttlMs } = lease
        const leases = [{ id, ttlMs, estimateNano: 0, isReturned: true }]
        // One that does not arrive there is over when it expires.
        await this.#report({ settlements: [], registrations: [], leases }).catch(() => undefined)
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

  async credit(id: string, amountNano: number): Promise<{ ok: boolean; balance: Balance }> {
    return this.#stub.credit(id, amountNano)
  }

  readonly #report = async (report: Report): Promise<Heard> => this.#stub.report(report)

  /** What cannot be charged now is charged by its own call, or from its hold by the ledger's alarm. */
  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    await this.#carrying([], this.#report).catch(() => undefined)
  }

  /** Make a call that takes along what waits; if it fails, each of what it took is left to its own call. */
  async #carrying<T extends Heard>(registrations: Registration[], call: (report: Report) => Promise<T>): Promise<T> {
    const taken = this.#waiting.splice(0)
    for (const one of taken) one.state = "taken"
    try {
      return await this.#told(taken, registrations, call)
    } catch (error) {
      for (const one of taken) one.state = "returned"
      throw error
    }
  }

  /** A report, and what follows from its having arrived. */
  async #told<T extends Heard>(
    settlements: Waiting[],
    registrations: Registration[],
    call: (report: Report) => Promise<T>,
  ): Promise<T> {
    const told = new Set([...settlements.map((one) => one.generation.id), ...registrations.map((one) => one.draft.id)])
    const leases = new Set([...told].flatMap((id) => this.#book.call(id)?.lease ?? []))
    const reportedAt = Date.now()
    const answer = await call({
      settlements: settlements.map(({ generation, leaseId }) => ({ generation, leaseId })),
      registrations,
      leases: this.#book.news(leases, told),
    })
    this.#book.registered(registrations)
    this.#book.heard(leases, new Set(answer.alive), reportedAt)
    const charged = new Set(answer.charged)
    for (const one of settlements) {
      one.state = "known"
      const { generation } = one
      this.#book.close(generation.id, costOf(generation), charged.has(generation.id))
    }
    return answer
  }
}

function costOf({ costNano, byokCostNano }: Generation): number {
  return costNano + byokCostNano
}
