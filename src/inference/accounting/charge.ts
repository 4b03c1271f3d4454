import { costOf, NO_TOKENS, type Tokens } from "../../money/money.ts"
import { type PricedCall, pricesOf } from "../../money/price-list.ts"
import type { Pricing } from "../../money/pricing.ts"
import type { BillableUnits } from "./cost-bound.ts"
import { estimateDelivered, type ResponseMeter } from "../../formats/chat/meter.ts"
import type { Target } from "../../routing/target.ts"
import type { Charge } from "../../formats/usage.ts"

/** Nothing was sent to a model, or no model accepted it. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, overrunNano: 0, byok: null }

export type ChargeInput = {
  target: Pick<Target, "endpoint" | "byok">
  bounds: { promptEstimate: number; pieces: BillableUnits; priced: PricedCall }
  /** Nano-USD. The charge never exceeds it. */
  heldNano: number
  /** The response is complete. */
  isComplete: boolean
}

/**
 * The charge for a complete or partial response: the provider's count if it reports one, including zero; otherwise an
 * estimate of what was delivered, so that neither missing usage nor a client disconnect makes tokens free. It never
 * exceeds the hold: a provider that counts more than `max_tokens` allows would otherwise take a key past its limit.
 */
export function chargeFor(meter: ResponseMeter, input: ChargeInput): Charge {
  const charge = chargeOf(meter, input)
  return input.target.byok ? asByokCharge(charge, callPrices(meter, input, charge.tokens.prompt)) : charge
}

/** The prices of a call: by its prompt tokens, its start, and the tier that the provider reports. */
export function callPrices(
  { serviceTier }: Pick<ResponseMeter, "serviceTier">,
  { target, bounds: { priced } }: Pick<ChargeInput, "target"> & { bounds: Pick<ChargeInput["bounds"], "priced"> },
  promptTokens: number,
): Pricing {
  return pricesOf(target.endpoint.pricing, promptTokens, { ...priced, serviceTier: serviceTier ?? priced.serviceTier })
}

function chargeOf(meter: ResponseMeter, input: ChargeInput): Charge {
  const { bounds, heldNano, isComplete } = input
  const costAt = (tokens: Tokens) => costOf(tokens, callPrices(meter, input, tokens.prompt))
  // Units reported in the response replace the requested units.
  const units = { ...bounds.pieces, ...meter.generated }
  const countedUnits = meter.tokens && { ...meter.tokens, ...units }
  const delivered = estimateDelivered(meter)
  // A count sent before the end does not include the tokens after it.
  const isTotal = isComplete && meter.units === meter.countedUnits
  if (countedUnits && (isTotal || countedUnits.completion >= delivered)) {
    return {
      tokens: countedUnits,
      tokensFrom: "upstream",
      ...cappedCharge(costAt(countedUnits), heldNano),
      byok: null,
    }
  }
  const before = countedUnits ?? { ...NO_TOKENS, ...units }
  const tokens = { ...before, prompt: before.prompt || bounds.promptEstimate, completion: delivered }
  return {
    tokens,
    tokensFrom: "estimate",
    costNano: Math.min(costAt(tokens), heldNano),
    overrunNano: 0,
    byok: null,
  }
}

function cappedCharge(countedNano: number, heldNano: number): Pick<Charge, "costNano" | "overrunNano"> {
  const costNano = Math.min(countedNano, heldNano)
  return { costNano, overrunNano: countedNano - costNano }
}

/** The same charge for a call with a BYOK credential: the account pays nothing. */
function asByokCharge({ costNano, ...charge }: Charge, pricing: Pricing): Charge {
  const promptNano = costOf({ ...charge.tokens, completion: 0, reasoning: 0 }, pricing)
  return { ...charge, costNano: 0, byok: { costNano, promptNano: Math.min(promptNano, costNano) } }
}
