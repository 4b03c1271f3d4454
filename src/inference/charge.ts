import { costOf, NO_TOKENS } from "../money/money.ts"
import type { Pricing } from "../money/pricing.ts"
import type { BillableUnits } from "./cost-bound.ts"
import { estimateDelivered, type ResponseMeter } from "../formats/chat/meter.ts"
import type { Target } from "../routing/target.ts"
import type { Charge } from "../formats/cost-fields.ts"

type ChargeBounds = { promptEstimate: number; pieces: BillableUnits }

/** Nothing was asked of a model, or no model took it: nothing is charged. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, overrunNano: 0, byok: null }

/**
 * The charge for an answer, complete or not. The provider's count where there is one, a zero included; otherwise what was
 * delivered, estimated, so that neither a missing usage nor a client disconnect makes tokens free. No charge passes what
 * was held, or a provider that counts more than `max_tokens` allows would carry a key past its limit.
 */
export function chargeFor(
  meter: ResponseMeter,
  { endpoint: { pricing }, byok: own }: Pick<Target, "endpoint" | "byok">,
  ...rest: [bounds: ChargeBounds, heldNano: number, isWhole: boolean]
): Charge {
  const charge = chargeAt(meter, pricing, ...rest)
  return own ? ofOwnKey(charge, pricing) : charge
}

function chargeAt(
  meter: ResponseMeter,
  pricing: Pricing,
  bounds: ChargeBounds,
  heldNano: number,
  isWhole: boolean,
): Charge {
  const { promptEstimate } = bounds
  // What the answer says was made stands above what was asked for.
  const pieces = { ...bounds.pieces, ...meter.made }
  const told = meter.tokens && { ...meter.tokens, ...pieces }
  const delivered = estimateDelivered(meter)
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
