import { type Cost, costOf, NO_TOKENS, type Tokens } from "../credits/money.ts"
import type { Pricing } from "../models/catalogue.ts"
import { estimateDelivered, type Reading } from "./chat/reading.ts"

/** What a call is charged, and why. */
export type Charge = { tokens: Tokens; tokensFrom: "upstream" | "estimate" | "none"; costNano: number; cost: Cost }

const NOTHING: Cost = { totalNano: 0, promptNano: 0, completionNano: 0 }

/** Nothing was asked of a model, or no model took it: nothing is charged. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, cost: NOTHING }

/**
 * The charge for an answer, whole or not. The provider's count where there is one, a zero included; otherwise what was
 * delivered, estimated, so that neither a missing usage nor a caller who leaves makes tokens free. An estimate never
 * passes what was held; a count may, since it happened.
 */
export function chargeFor(
  reading: Reading,
  pricing: Pricing,
  prompt: { promptEstimate: number; images: number },
  heldNano: number,
  isWhole: boolean,
): Charge {
  const { promptEstimate, images } = prompt
  const told = reading.tokens && { ...reading.tokens, images }
  const delivered = estimateDelivered(reading)
  if (told && !isWhole && told.completion < delivered) {
    // A count from before the end: it cannot know what came after it.
    const tokens = { ...told, prompt: told.prompt || promptEstimate, completion: delivered }
    const cost = costOf(tokens, pricing)
    return { tokens, tokensFrom: "estimate", costNano: Math.min(cost.totalNano, heldNano), cost }
  }
  if (told) {
    const cost = costOf(told, pricing)
    return { tokens: told, tokensFrom: "upstream", costNano: cost.totalNano, cost }
  }
  const tokens = { ...NO_TOKENS, images, prompt: promptEstimate, completion: delivered }
  const cost = costOf(tokens, pricing)
  return { tokens, tokensFrom: "estimate", costNano: Math.min(cost.totalNano, heldNano), cost }
}
