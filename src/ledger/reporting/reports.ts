import type { Timer } from "../../support/time/time.ts"
import type { Generation } from "../generation.ts"
import type { Leases } from "../leases.ts"
import type { FlushRequest, FlushResult, LedgerRpc, Settlement } from "../protocol.ts"
import { tokensUsed } from "../rates.ts"
import type { PendingSettlement, Shared } from "../shared.ts"

/** The part of a report about running calls. */
export type Progress = Pick<FlushRequest, "registrations" | "renewals">

export const EMPTY_PROGRESS: Progress = { registrations: [], renewals: [] }

type Stub = DurableObjectStub<LedgerRpc>

/**
 * Time that a settlement waits for others of its isolate, unless another request to the ledger takes it along: until
 * about TARGET_BATCH_SIZE are pending, if they are frequent enough for the longest window.
 */
const BATCH_WINDOW_MS = { least: 100, most: 500 }
const TARGET_BATCH_SIZE = 8
/** Weight of the latest interval in the average time between settlements. */
const PACE_WEIGHT = 0.1
const MAX_GAP_MS = 10_000
/** A batch of this size is sent at once: each settlement adds about 1 KB and its content to a report. */
const MAX_BATCH = 100
/** Time without a result after which a call that carries a settlement counts as dead. */
const BATCH_CARRIER_TIMEOUT_MS = 1_000
/** Delays before retries of a failed settlement. The runtime allows 30 seconds after the response. */
const RETRY_AFTER_MS = [300, 1_000, 3_000, 8_000]
/** Time for which a settlement that failed all retries is sent with other requests. */
const LOST_FOR_MS = 120_000

/** Sends the requests of one call to the ledger, with pending settlements of its isolate. */
export class Reports {
  readonly #open: () => Stub
  #opened: Stub | undefined
  readonly #waiting: PendingSettlement[]
  readonly #leases: Leases
  readonly #pace: Shared["pace"]
  readonly #timer: Timer

  constructor(open: () => Stub, { waiting, leases, pace }: Pick<Shared, "waiting" | "leases" | "pace">, timer: Timer) {
    this.#open = open
    this.#waiting = waiting
    this.#leases = leases
    this.#pace = pace
    this.#timer = timer
  }

  /**
   * Opens the stub on demand: most calls run under a lease. A stub never recovers after a reset of its object, so a
   * failed request is repeated with a new one. Every method of the ledger is safe to repeat.
   */
  async request<T>(send: (stub: Stub) => Promise<T>): Promise<T> {
    const known = this.#opened
    this.#opened = known ?? this.#open()
    try {
      return await send(this.#opened)
    } catch (cause) {
      this.#opened = undefined
      if (!known || isOverloaded(cause)) throw cause
      return this.request(send)
    }
  }

  readonly send = (report: FlushRequest): Promise<FlushResult> => this.request((stub) => stub.report(report))

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Calls with pending settlements. */
  waitingIds(): Set<string> {
    return new Set(this.#waiting.map(({ generation }) => generation.id))
  }

  /**
   * Resolves when the generation is charged, or when the ledger has reported that it was charged before. `isUrgent`:
   * does not wait for others to be sent with.
   */
  async settle(settlement: Settlement, isUrgent = false): Promise<void> {
    const { generation } = settlement
    const current: PendingSettlement = { ...settlement, state: "waiting" }
    this.#waiting.push(current)
    countSettlement(this.#pace, Date.now())
    if (!isUrgent && this.#waiting.length < MAX_BATCH) await this.#timer.wait(batchWindowMs(this.#pace))
    for (const pauseMs of [...RETRY_AFTER_MS, undefined]) {
      const failure = await this.#tryToSettle(current)
      if (!failure) return
      const { cause } = failure
      if (isUnsendable(cause)) {
        this.#leases.abandon(generation.id)
        throw cause
      }
      this.#waitAgain(current)
      if (pauseMs === undefined) {
        current.lostAt = Date.now()
        throw cause
      }
      await this.#timer.wait(pauseMs)
    }
  }

  /** Sends a settlement that no other request took along. It is charged once however often it is sent. */
  async #tryToSettle(current: PendingSettlement): Promise<{ cause: unknown } | undefined> {
    if (current.state === "waiting") await this.flush()
    else if (current.state === "taken") await this.#timer.wait(BATCH_CARRIER_TIMEOUT_MS)
    if (current.state === "known") return undefined
    return this.#sendWith([current], EMPTY_PROGRESS, this.send).then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    )
  }

  /** Sends pending settlements. On failure, they are retried by their calls, or settled by the ledger's alarm. */
  async flush(): Promise<void> {
    if (this.isEmpty) return
    await this.sendWithPending(EMPTY_PROGRESS, this.send).catch(() => undefined)
  }

  /** Sends a request with the pending settlements. If it fails, they are left to their own calls. */
  async sendWithPending<T extends FlushResult>(
    progress: Progress,
    call: (report: FlushRequest) => Promise<T>,
  ): Promise<T> {
    const taken = this.#waiting.splice(0)
    for (const one of taken) one.state = "taken"
    try {
      return await this.#sendWith(taken, progress, call)
    } catch (error) {
      for (const one of taken) this.#restore(one)
      throw error
    }
  }

  /** Puts back a lost settlement, which no running call sends any more. */
  #restore(one: PendingSettlement): void {
    one.state = "returned"
    if (one.lostAt === undefined) return
    if (one.lostAt + LOST_FOR_MS > Date.now()) this.#waitAgain(one)
    else this.#leases.abandon(one.generation.id)
  }

  #waitAgain(one: PendingSettlement): void {
    one.state = "waiting"
    this.#waiting.push(one)
  }

  /** Sends a report and handles its result. */
  async #sendWith<T extends FlushResult>(
    settlements: PendingSettlement[],
    { registrations, renewals }: Progress,
    call: (report: FlushRequest) => Promise<T>,
  ): Promise<T> {
    const counted = new Set([
      ...settlements.map((one) => one.generation.id),
      ...registrations.map((one) => one.draft.id),
    ])
    // With each renewal, too: what was declared for a busy moment must not stay for as long as a stream lasts.
    const reported = [...counted, ...renewals.map(({ id }) => id)]
    const leases = new Set(reported.flatMap((id) => this.#leases.call(id)?.lease ?? []))
    const reportedAt = Date.now()
    const news = this.#leases.updates(leases, counted, reportedAt)
    const result = await call({
      settlements: settlements.map(({ generation, leaseId, content }) => ({ generation, leaseId, content })),
      registrations,
      renewals,
      leases: news,
    })
    this.#leases.registered(registrations)
    this.#leases.acknowledged(leases, news, new Set(result.alive), reportedAt)
    const charged = new Set(result.charged)
    for (const one of settlements) {
      one.state = "known"
      const { generation } = one
      this.#leases.close(generation.id, reportedSpend(generation), charged.has(generation.id))
    }
    return result
  }
}

function countSettlement(pace: Shared["pace"], now: number): void {
  const gapMs = now - pace.lastAt
  pace.gapMs = Math.min(gapMs, MAX_GAP_MS) * PACE_WEIGHT + pace.gapMs * (1 - PACE_WEIGHT)
  pace.lastAt = now
}

/** Settlements that are too rare to meet others within the longest window do not wait for it. */
function batchWindowMs({ gapMs }: Shared["pace"]): number {
  const { least, most } = BATCH_WINDOW_MS
  return gapMs > most ? least : Math.min(most, Math.max(least, TARGET_BATCH_SIZE * gapMs))
}

/** Whether a message is too large for a Durable Object, so that retries would fail too. */
function isUnsendable(cause: unknown): boolean {
  return String(cause).includes("Serialized RPC arguments")
}

function isOverloaded(cause: unknown): boolean {
  return cause instanceof Error && Reflect.get(cause, "overloaded") === true
}

function reportedSpend({ costNano, byokCostNano, tokens }: Generation): { costNano: number; tokens: number } {
  return { costNano: costNano + byokCostNano, tokens: tokensUsed(tokens) }
}
