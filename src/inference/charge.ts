import { costOf, nanoToUsd, NO_TOKENS, type Tokens } from "../money/money.ts"
import type { Pricing } from "../models/catalogue.ts"
import type { Pieces } from "./cost-bound.ts"
import { estimateDelivered, isObject, type Reading } from "../formats/chat/meter.ts"
import type { Target } from "../routing/target.ts"

/** What a call is charged, and why. */
export type Charge = {
  tokens: Tokens
  tokensFrom: "upstream" | "estimate" | "none"
  costNano: number
  /** Nano-USD that the provider's count comes to above what was held: it is not charged. */
  overrunNano: number
  /** What the caller's own key cost elsewhere, by our prices, and the prompt's part of it; null with the gateway's key. */
  byok: { costNano: number; promptNano: number } | null
}

type ChargeBounds = { promptEstimate: number; pieces: Pieces }

/** Nothing was asked of a model, or no model took it: nothing is charged. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, overrunNano: 0, byok: null }

/**
 * The charge for an answer, complete or not. The provider's count where there is one, a zero included; otherwise what was
 * delivered, estimated, so that neither a missing usage nor a client disconnect makes tokens free. No charge passes what
 * was held, or a provider that counts more than `max_tokens` allows would carry a key past its limit.
 */
export function chargeFor(
  reading: Reading,
  { endpoint: { pricing }, own }: Pick<Target, "endpoint" | "own">,
  ...rest: [bounds: ChargeBounds, heldNano: number, isWhole: boolean]
): Charge {
  const charge = chargeAt(reading, pricing, ...rest)
  return own ? ofOwnKey(charge, pricing) : charge
}

function chargeAt(
  reading: Reading,
  pricing: Pricing,
  bounds: ChargeBounds,
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
    return { tokens: told, tokensFrom: "upstream", ...chargedOf(costOf(told, pricing), heldNano), byok: null }
  }
  const before = told ?? { ...NO_TOKENS, ...pieces }
  const tokens = { ...before, prompt: before.prompt || promptEstimate, completion: delivered }
  return {
    tokens,
    tokensFrom: "estimate",
    costNano: Math.min(costOf(tokens, pricing), heldNano),
    overrunNano: 0,
    byok: null,
  }
}

function chargedOf(countedNano: number, heldNano: number): Pick<Charge, "costNano" | "overrunNano"> {
  const costNano = Math.min(countedNano, heldNano)
  return { costNano, overrunNano: countedNano - costNano }
}

/** The same for a call with the caller's own key: the account pays nothing. */
function ofOwnKey({ costNano, ...charge }: Charge, pricing: Pricing): Charge {
  const promptNano = costOf({ ...charge.tokens, completion: 0, reasoning: 0 }, pricing)
  return { ...charge, costNano: 0, byok: { costNano, promptNano: Math.min(promptNano, costNano) } }
}

/** What a usage tells of money, in the words of the chat wire. */
export type Costs = { cost?: number; is_byok?: boolean; cost_details?: Record<string, number> }

export function costFields({ costNano, byok }: Pick<Charge, "costNano" | "byok">): Costs {
  return {
    cost: nanoToUsd(costNano),
    is_byok: byok !== null,
    ...(byok && {
      cost_details: {
        upstream_inference_cost: nanoToUsd(byok.costNano),
        upstream_inference_prompt_cost: nanoToUsd(byok.promptNano),
        upstream_inference_completions_cost: nanoToUsd(byok.costNano - byok.promptNano),
      },
    }),
  }
}

/** Of what may hold more, the costs alone. */
export function costsIn({ cost, is_byok: isByok, cost_details: details }: Costs): Costs {
  return {
    ...(cost !== undefined && { cost }),
    ...(isByok !== undefined && { is_byok: isByok }),
    ...(details && { cost_details: details }),
  }
}

/** The details in the words of the Responses wire; nothing where there are none. */
export function responsesCostDetails(details: unknown): Record<string, unknown> | undefined {
  if (!isObject(details)) return undefined
  const { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: output, ...rest } = details
  return { ...rest, upstream_inference_input_cost: input, upstream_inference_output_cost: output }
}
