import type { CostRange } from "../../../ledger/limits.ts"
import { costOf, maxCost } from "../../../money/money.ts"
import { highestPrices, plainCall, pricesOf } from "../../../money/price-list.ts"
import type { Target } from "../../../routing/target.ts"
import type { Conversation } from "./conversation.ts"

/** Amounts to hold for one response. Pure. */

/** Context length to assume if it is unknown. */
const UNKNOWN_CONTEXT = 128_000
/** Output limit to assume if it is unknown. */
const UNKNOWN_OUTPUT = 4_096
/** A shorter response is useless: about three seconds of audio. */
const MIN_OUTPUT = 64

export type Slice = { wanted: CostRange; estimateNano: number; estimateTokens: number }

/**
 * `mostNano`: cost of a response with full context and maximum output, since a response may request more than its
 * session. `leastNano`: cost of the conversation so far and a short response.
 */
export function sliceOf(targets: readonly Target[], conversation: Conversation): Slice {
  const slice = { wanted: { leastNano: 0, mostNano: 0 }, estimateNano: 0, estimateTokens: 0 }
  const { bound, estimate } = conversation
  for (const { endpoint } of targets) {
    const { pricing } = endpoint
    const context = endpoint.contextLength || UNKNOWN_CONTEXT
    const output = endpoint.maxCompletionTokens ?? UNKNOWN_OUTPUT
    const highest = highestPrices(pricing, context, plainCall())
    const minCost = maxCost(Math.min(bound, context), Math.min(MIN_OUTPUT, output), highest)
    const { wanted } = slice
    wanted.leastNano = Math.max(wanted.leastNano, minCost)
    wanted.mostNano = Math.max(wanted.mostNano, minCost, maxCost(context, output, highest))
    const tokens = { ...estimate, completion: Math.min(MIN_OUTPUT, output) }
    slice.estimateNano = Math.max(slice.estimateNano, costOf(tokens, pricesOf(pricing, tokens.prompt, plainCall())))
    slice.estimateTokens = Math.max(slice.estimateTokens, tokens.prompt + tokens.completion)
  }
  return slice
}
