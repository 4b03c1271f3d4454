import { estimateDelivered } from "../formats/chat/meter.ts"
import { costOf, NO_TOKENS } from "../money/money.ts"
import type { CallContext } from "./inference-request.ts"

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
