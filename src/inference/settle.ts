import { costOf, NO_TOKENS, type Tokens } from "../credits/money.ts"
import type { Pricing } from "../models/catalogue.ts"
import type { Pieces } from "./admit.ts"
import { estimateDelivered, type Reading } from "./chat/reading.ts"

/** What a call is charged, and why. */
export type Charge = { tokens: Tokens; tokensFrom: "upstream" | "estimate" | "none"; costNano: number }

/** Nothing was asked of a model, or no model took it: nothing is charged. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0 }

/**
 * The charge for an answer, whole or not. The provider's count where there is one, a zero included; otherwise what was
 * delivered, estimated, so that neither a missing usage nor a caller who leaves makes tokens free. An estimate never
 * passes what was held; a count may, since it happened.
 */
export function chargeFor(
  reading: Reading,
  pricing: Pricing,
  bounds: { promptEstimate: number; pieces: Pieces },
  heldNano: number,
  isWhole: boolean,
): Charge {
  const { promptEstimate } = bounds
  // What the answer says was made stands above what was asked for.
  const pieces = { ...bounds.pieces, ...reading.made }
  const told = reading.tokens && { ...reading.tokens, ...pieces }
  const delivered = estimateDelivered(reading)
  // A count from before the end cannot know what came after it.
  if (told && (isWhole || told.completion >= delivered)) {
    return { tokens: told, tokensFrom: "upstream", costNano: costOf(told, pricing) }
  }
  const before = told ?? { ...NO_TOKENS, ...pieces }
  const tokens = { ...before, prompt: before.prompt || promptEstimate, completion: delivered }
  return { tokens, tokensFrom: "estimate", costNano: Math.min(costOf(tokens, pricing), heldNano) }
}
