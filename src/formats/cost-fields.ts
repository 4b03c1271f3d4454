import { nanoToUsd, type Tokens } from "../money/money.ts"
import { isObject } from "../support/json.ts"

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
