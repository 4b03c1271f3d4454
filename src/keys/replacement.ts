import type { Env } from "../config/env.ts"
import { openLedger } from "../ledger/client.ts"
import type { KeyRow, NewKeyRow } from "./table.ts"

/** Limits, tools, fallbacks and spent amounts that a key inherits from the deleted key which it replaces. */
export async function inheritedTerms(env: Env, old: KeyRow): Promise<Partial<NewKeyRow>> {
  const [counters] = await openLedger(env, old.organizationId).usage([old.hash])
  const { limitNano, limitReset, dailyLimitNano, includeByokInLimit, mcpTools, overBudgetModels } = old
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = old
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
    spentBeforeNano: old.spentBeforeNano + (counters?.total.spent ?? 0),
  }
}
