import { costOf, NO_TOKENS } from "../money/money.ts"
import type { Pricing } from "../money/pricing.ts"
import type { BillableUnits } from "./cost-bound.ts"
import { estimateDelivered, type ResponseMeter } from "../formats/chat/meter.ts"
import type { Target } from "../routing/target.ts"
import type { Charge } from "../formats/usage.ts"

/** Nothing was sent to a model, or no model accepted it. */
export const NO_CHARGE: Charge = { tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, overrunNano: 0, byok: null }

export type ChargeInput = {
  target: Pick<Target, "endpoint" | "byok">
  bounds: { promptEstimate: number; pieces: BillableUnits }
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
  const { endpoint, byok } = input.target
  const charge = chargeAt(meter, endpoint.pricing, input)
  return byok ? asByokCharge(charge, endpoint.pricing) : charge
}

function chargeAt(meter: ResponseMeter, pricing: Pricing, { bounds, heldNano, isComplete }: ChargeInput): Charge {
  // Units reported in the response replace the requested units.
  const units = { ...bounds.pieces, ...meter.generated }
  const countedUnits = meter.tokens && { ...meter.tokens, ...units }
  const delivered = estimateDelivered(meter)
  // A count sent before the end does not include the tokens after it.
  if (countedUnits && (isComplete || countedUnits.completion >= delivered)) {
    return {
      tokens: countedUnits,
      tokensFrom: "upstream",
      ...cappedCharge(costOf(countedUnits, pricing), heldNano),
      byok: null,
    }
  }
  const before = countedUnits ?? { ...NO_TOKENS, ...units }
  const tokens = { ...before, prompt: before.prompt || bounds.promptEstimate, completion: delivered }
  return {
    tokens,
    tokensFrom: "estimate",
    costNano: Math.min(costOf(tokens, pricing), heldNano),
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
