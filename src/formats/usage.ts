import { nanoToUsd, type Tokens } from "../money/money.ts"
import { isObject, type Json } from "../support/text/json.ts"
import { toCount } from "../support/tokens.ts"

/** The charge of a call, and its basis. */
export type Charge = {
  tokens: Tokens
  tokensFrom: "upstream" | "estimate" | "none"
  costNano: number
  /** Nano-USD of the provider's count that exceed the hold and are not charged. */
  overrunNano: number
  /** Cost at the provider by catalogue prices if a BYOK credential paid, and its prompt part; otherwise null. */
  byok: { costNano: number; promptNano: number } | null
}

/**
 * The usage that a client receives: the charged tokens, with the other fields that the provider reported, so that the
 * client can reconcile its own sums with its bill.
 */
export function usageOf({ tokens }: Charge, reported: unknown): Json {
  const { prompt, completion, cached, cacheWrite, reasoning } = tokens
  const { prompt_tokens_details, completion_tokens_details, ...rest } = withoutCosts(reported)
  const details = {
    prompt_tokens_details: detailsOf(prompt_tokens_details, { cached_tokens: cached, cache_write_tokens: cacheWrite }),
    completion_tokens_details: detailsOf(completion_tokens_details, { reasoning_tokens: reasoning }),
  }
  const further = Object.entries({ ...rest, ...details }).filter(([, value]) => value !== undefined && value !== null)
  return {
    ...Object.fromEntries(further),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
}

/** Without the costs of a provider that is a gateway too: they are what the operator pays. */
export function withoutCosts(reported: unknown): Json {
  const { cost: _, is_byok: _isByok, cost_details: _details, ...rest } = isObject(reported) ? reported : {}
  return rest
}

/** Counts are integers, never null. `charged` overrides reported counts, and adds counts that are not zero. */
function detailsOf(reported: unknown, charged: Readonly<Record<string, number>>): Json | undefined {
  const details = countsIn(reported)
  for (const [key, value] of Object.entries(charged)) if (value > 0 || key in details) details[key] = value
  return isObject(reported) || Object.keys(details).length > 0 ? details : undefined
}

/** The details of a usage for strict clients, which accept only integers. Invalid counts are dropped. */
export function countsIn(details: unknown): Json {
  const counts = Object.entries(isObject(details) ? details : {}).map(([name, value]) => {
    if (isObject(value)) return [name, countsIn(value)] as const
    return [name, toCount(value) ?? (typeof value === "number" || value === null ? undefined : value)] as const
  })
  return Object.fromEntries(counts.filter(([, value]) => value !== undefined))
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

/** The charged usage of a chat response, with the other fields that the provider reported. */
export const chargedUsage = (charge: Charge, reported: unknown): Json => ({
  ...usageOf(charge, reported),
  ...costFields(charge),
})

/** Picks the cost fields. */
export function costsIn({ cost, is_byok: isByok, cost_details: details }: Costs): Costs {
  return {
    ...(cost !== undefined && { cost }),
    ...(isByok !== undefined && { is_byok: isByok }),
    ...(details && { cost_details: details }),
  }
}

/** The cost details in the Responses format; undefined if there are none. */
export function responsesCostDetails(details: unknown): Record<string, unknown> | undefined {
  if (!isObject(details)) return undefined
  const { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: output, ...rest } = details
  return { ...rest, upstream_inference_input_cost: input, upstream_inference_output_cost: output }
}
