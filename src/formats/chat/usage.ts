import { isObject, type Json } from "../../support/json.ts"
import type { Charge } from "../cost-fields.ts"

/**
 * The usage that a client receives: the tokens that were charged, with the further fields that the provider reported.
 * Where the two differ, the client must be able to reconcile its own sums with its bill.
 */
export function usageOf({ tokens }: Charge, reported: unknown): Json {
  const { prompt, completion, cached, cacheWrite, reasoning } = tokens
  const { prompt_tokens_details, completion_tokens_details, ...rest } = isObject(reported) ? reported : {}
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

/** Counts are integers, never null. `charged` overrides a count that was reported, and adds one that is not zero. */
function detailsOf(reported: unknown, charged: Readonly<Record<string, number>>): Json | undefined {
  const counts = Object.entries(isObject(reported) ? reported : {}).filter(([, value]) => value !== null)
  const details: Json = Object.fromEntries(counts)
  for (const [key, value] of Object.entries(charged)) if (value > 0 || key in details) details[key] = value
  return isObject(reported) || Object.keys(details).length > 0 ? details : undefined
}
