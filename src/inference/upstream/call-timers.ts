import { estimateDelivered } from "../../formats/chat/meter.ts"
import { costOf, NO_TOKENS } from "../../money/money.ts"
import { pricesOf } from "../../money/price-list.ts"
import type { CallContext } from "../inference-request.ts"

/**
 * Aborts an attempt that shows no content in time. Also starts the heartbeat of the hold, so that a short call needs
 * only one timer.
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
 * Reports the cost so far of a running call to the ledger. Started only for long calls, so that short ones need no
 * timer.
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

  /** Milliseconds until the heartbeat should start. */
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

  /** Nano-USD that the ledger charges if the isolate dies: 0 with a BYOK credential. */
  #estimate(): number {
    const { servingTarget, draft, meter, estimateNano, request } = this.#call
    if (servingTarget?.byok && !draft.isByok) return 0
    const tokens = { ...NO_TOKENS, prompt: draft.promptEstimate, completion: estimateDelivered(meter) }
    if (!servingTarget) return estimateNano
    return costOf(tokens, pricesOf(servingTarget.endpoint.pricing, tokens.prompt, request.bounds.priced))
  }
}
