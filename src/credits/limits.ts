import type { Caller } from "../access/caller.ts"
import { budgetLimits } from "../budgets/budget.ts"
import { limitOf } from "../keys/key.ts"
import type { Limit } from "./ledger.ts"

/** Every limit that a caller's calls are held against, but for the account's balance, which the ledger knows itself. */
export function limitsOf(caller: Caller): Limit[] {
  const limit = limitOf(caller)
  return [
    ...(limit ? [limit] : []),
    ...budgetLimits(caller.workspaceId, caller.budgets),
    ...(caller.guardrails?.limits ?? []),
  ]
}
