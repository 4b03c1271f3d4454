import type { KeyRow, NewKeyRow } from "./table.ts"

/**
 * Limits, tools and fallbacks that a key inherits from the one which it replaces. Its calls continue the counters of the
 * first key in the chain, including calls of a replaced key that end later.
 */
export function inheritedTerms(old: KeyRow): Partial<NewKeyRow> {
  const { limitNano, limitReset, dailyLimitNano, includeByokInLimit, mcpTools, overBudgetModels } = old
  const { requestsPerMinute, tokensPerMinute, concurrentRequests, spentBeforeNano } = old
  return {
    limitNano,
    limitReset,
    dailyLimitNano,
    includeByokInLimit,
    mcpTools,
    overBudgetModels,
    requestsPerMinute,
    tokensPerMinute,
    concurrentRequests,
    spentBeforeNano,
    counterHash: old.counterHash ?? old.hash,
  }
}
