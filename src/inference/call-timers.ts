import { estimateDelivered } from "../formats/chat/meter.ts"
import { costOf, NO_TOKENS } from "../money/money.ts"
import type { CallContext } from "./inference-request.ts"

/** Cancels dispatch when the client disconnects: the attempt under way and those to come. */
export class DispatchAbort {
  #attempt: AbortController | undefined
  aborted = false

  abort(): void {
    this.aborted = true
    this.#attempt?.abort()
  }

  /** The attempt that is under way from now on. */
  follow(attempt: AbortController): void {
    this.#attempt = attempt
    if (this.aborted) attempt.abort()
  }
}

/**
 * Aborts an attempt that shows nothing in time. It starts the heartbeat of the hold as well, so that a short call has
 * one timer.
 */
export class AttemptTimer {
  readonly #abort: AbortController
  readonly #heartbeat: HoldHeartbeat
  readonly #startedAt = Date.now()
  #deadline: number
  #id: ReturnType<typeof setTimeout> | undefined
  hasFired = false

  constructor(abort: AbortController, heartbeat: HoldHeartbeat, limitMs: number) {
    this.#abort = abort
    this.#heartbeat = heartbeat
    this.#deadline = this.#startedAt + limitMs
    this.#arm()
  }

  /** Allows the attempt this long since it started. */
  extendTo(limitMs: number): void {
    this.#deadline = this.#startedAt + limitMs
  }

  stop(): void {
    clearTimeout(this.#id)
  }

  #arm(): void {
    const dueMs = this.#heartbeat.isRunning ? Number.POSITIVE_INFINITY : this.#heartbeat.dueMs
    this.#id = setTimeout(() => this.#onTimer(), Math.max(0, Math.min(dueMs, this.#deadline - Date.now())))
  }

  #onTimer(): void {
    if (this.#heartbeat.dueMs === 0) this.#heartbeat.start()
    if (Date.now() < this.#deadline) return this.#arm()
    this.hasFired = true
    this.#abort.abort()
  }
}

/**
 * Reports to the ledger what a call has cost so far while it runs. Started for a call that lasts: a short one ends
 * without a timer of its own.
 */
export class HoldHeartbeat {
  readonly #call: CallContext
  readonly #heldAt = Date.now()
  #stop: (() => void) | undefined

  constructor(call: CallContext) {
    this.#call = call
  }

  get isRunning(): boolean {
    return this.#stop !== undefined
  }

  /** Milliseconds until it is to be started. */
  get dueMs(): number {
    const { ledger, timers } = this.#call.deps
    return Math.max(0, this.#heldAt + ledger.firstReportMs(timers.holdTtlMs) - Date.now())
  }

  start(): void {
    const { deps, draft } = this.#call
    const tracked = { estimate: () => this.#estimate(), ttlMs: deps.timers.holdTtlMs, heldAt: this.#heldAt }
    this.#stop ??= deps.ledger.track(draft.id, tracked)
  }

  stop(): void {
    this.#stop?.()
  }

  /** Nano-USD that the ledger charges if the isolate dies: nothing where a BYOK credential pays. */
  #estimate(): number {
    const { servingTarget, draft, meter, estimateNano } = this.#call
    if (servingTarget?.byok && !draft.isByok) return 0
    const tokens = { ...NO_TOKENS, prompt: draft.promptEstimate, completion: estimateDelivered(meter) }
    return servingTarget ? costOf(tokens, servingTarget.endpoint.pricing) : estimateNano
  }
}
