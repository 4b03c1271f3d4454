import { limitTermsOf } from "./limit-terms.ts"
import type { KeyRow, NewKeyRow } from "./table.ts"

/**
 * Limits, tools and fallbacks that a key inherits from the one which it replaces. Its calls continue the counters of the
 * first key in the chain, including calls of a replaced key that end later.
 */
export function inheritedTerms(old: KeyRow): Partial<NewKeyRow> {
  const { mcpTools, overBudgetModels, requestsPerMinute, tokensPerMinute, concurrentRequests } = old
  return {
    ...limitTermsOf(old),
    mcpTools,
    overBudgetModels,
    requestsPerMinute,
    tokensPerMinute,
    concurrentRequests,
    counterHash: old.counterHash ?? old.hash,
  }
}
