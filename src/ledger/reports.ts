import type { Timer } from "../support/time.ts"
import type { Generation } from "./generation.ts"
import type { Leases } from "./leases.ts"
import type { FlushRequest, FlushResult, LedgerRpc, Settlement } from "./protocol.ts"
import { tokensUsed } from "./rates.ts"
import type { PendingSettlement, Shared } from "./shared.ts"

/** What a report has of calls that go on. */
export type Progress = Pick<FlushRequest, "registrations" | "renewals">

export const NOTHING_ELSE: Progress = { registrations: [], renewals: [] }

type Stub = DurableObjectStub<LedgerRpc>

/**
 * How long a settlement waits for others of its isolate, unless another request to the ledger takes it along: until
 * there are about BATCH_AIM, where they come often enough for that within the longest window.
 */
const BATCH_WINDOW_MS = { least: 100, most: 500 }
const BATCH_AIM = 8
/** Of the time between two settlements, the latest counts for so much. */
const PACE_WEIGHT = 0.1
const LONGEST_GAP_MS = 10_000
/** A batch of this size is sent at once: a report has about 1 KB for each settlement, and its content. */
const MAX_BATCH = 100
/** How long a call that took a settlement along may be silent before it is taken for dead. */
const BATCH_CARRIER_TIMEOUT_MS = 1_000
/** A settlement that fails is sent again after each of these. The runtime lets a call go on for 30 seconds. */
const RETRY_AFTER_MS = [300, 1_000, 3_000, 8_000]
/** A settlement that failed each time goes along with other requests for so long. */
const LOST_FOR_MS = 120_000

/** The requests of one call to the ledger, and the settlements of its isolate that go along with them. */
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
   * Opens the stub when it is needed: most calls run under a lease. One whose object was reset since never works again,
   * so a request fails only with a new one. Every method of the ledger may be called twice.
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

  /** Calls whose settlements wait. */
  waitingIds(): Set<string> {
    return new Set(this.#waiting.map(({ generation }) => generation.id))
  }

  /** Resolves when the generation is charged, or the ledger has said that it need not be. */
  async settle(settlement: Settlement): Promise<void> {
    const { generation } = settlement
    const current: PendingSettlement = { ...settlement, state: "waiting" }
    this.#waiting.push(current)
    countSettlement(this.#pace, Date.now())
    if (this.#waiting.length < MAX_BATCH) await this.#timer.wait(batchWindowMs(this.#pace))
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

  /** By itself, if it was not taken along or came back. Charged once however often it is sent. */
  async #tryToSettle(current: PendingSettlement): Promise<{ cause: unknown } | undefined> {
    if (current.state === "waiting") await this.flush()
    else if (current.state === "taken") await this.#timer.wait(BATCH_CARRIER_TIMEOUT_MS)
    if (current.state === "known") return undefined
    return this.#sendWith([current], NOTHING_ELSE, this.send).then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    )
  }

  /** Sends what waits. What cannot be charged now is charged by its own call, or from its hold by the ledger's alarm. */
  async flush(): Promise<void> {
    if (this.isEmpty) return
    await this.carrying(NOTHING_ELSE, this.send).catch(() => undefined)
  }

  /** Make a call that takes along what waits; if it fails, each of what it took is left to its own call. */
  async carrying<T extends FlushResult>(progress: Progress, call: (report: FlushRequest) => Promise<T>): Promise<T> {
    const taken = this.#waiting.splice(0)
    for (const one of taken) one.state = "taken"
    try {
      return await this.#sendWith(taken, progress, call)
    } catch (error) {
      for (const one of taken) this.#cameBack(one)
      throw error
    }
  }

  /** A lost settlement has no call any more that sends it. */
  #cameBack(one: PendingSettlement): void {
    one.state = "returned"
    if (one.lostAt === undefined) return
    if (one.lostAt + LOST_FOR_MS > Date.now()) this.#waitAgain(one)
    else this.#leases.abandon(one.generation.id)
  }

  #waitAgain(one: PendingSettlement): void {
    one.state = "waiting"
    this.#waiting.push(one)
  }

  /** A report, and what follows from its having arrived. */
  async #sendWith<T extends FlushResult>(
    settlements: PendingSettlement[],
    { registrations, renewals }: Progress,
    call: (report: FlushRequest) => Promise<T>,
  ): Promise<T> {
    const result = new Set([
      ...settlements.map((one) => one.generation.id),
      ...registrations.map((one) => one.draft.id),
    ])
    // With each renewal, too: what was declared for a busy moment must not stay for as long as a stream lasts.
    const reported = [...result, ...renewals.map(({ id }) => id)]
    const leases = new Set(reported.flatMap((id) => this.#leases.call(id)?.lease ?? []))
    const reportedAt = Date.now()
    const news = this.#leases.updates(leases, result, reportedAt)
    const answer = await call({
      settlements: settlements.map(({ generation, leaseId, content }) => ({ generation, leaseId, content })),
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

function countSettlement(pace: Shared["pace"], now: number): void {
  const gapMs = now - pace.lastAt
  pace.gapMs = Math.min(gapMs, LONGEST_GAP_MS) * PACE_WEIGHT + pace.gapMs * (1 - PACE_WEIGHT)
  pace.lastAt = now
}

/** Those that come too seldom to meet others within the longest window do not wait for it. */
function batchWindowMs({ gapMs }: Shared["pace"]): number {
  const { least, most } = BATCH_WINDOW_MS
  return gapMs > most ? least : Math.min(most, Math.max(least, BATCH_AIM * gapMs))
}

/** It would fail each time: it is larger than a message between a Worker and a Durable Object may be. */
function isUnsendable(cause: unknown): boolean {
  return String(cause).includes("Serialized RPC arguments")
}

function isOverloaded(cause: unknown): boolean {
  return cause instanceof Error && Reflect.get(cause, "overloaded") === true
}

function usedBy({ costNano, byokCostNano, tokens }: Generation): { costNano: number; tokens: number } {
  return { costNano: costNano + byokCostNano, tokens: tokensUsed(tokens) }
}
