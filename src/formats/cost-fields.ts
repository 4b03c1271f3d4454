import { nanoToUsd, type Tokens } from "../money/money.ts"
import { isObject } from "../support/json.ts"

/** The charge of a call, and its basis. */
export type Charge = {
  tokens: Tokens
  tokensFrom: "upstream" | "estimate" | "none"
  costNano: number
  /** Nano-USD of the provider's count above the hold, which are not charged. */
  overrunNano: number
  /** Cost at the provider by our prices where a BYOK credential paid, and the prompt's part of it; null otherwise. */
  byok: { costNano: number; promptNano: number } | null
}

/** The cost fields of a chat usage. */
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

/** Picks the cost fields. */
export function costsIn({ cost, is_byok: isByok, cost_details: details }: Costs): Costs {
  return {
    ...(cost !== undefined && { cost }),
    ...(isByok !== undefined && { is_byok: isByok }),
    ...(details && { cost_details: details }),
  }
}

/** The cost details in the Responses format; undefined where there are none. */
export function responsesCostDetails(details: unknown): Record<string, unknown> | undefined {
  if (!isObject(details)) return undefined
  const { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: output, ...rest } = details
  return { ...rest, upstream_inference_input_cost: input, upstream_inference_output_cost: output }
}
