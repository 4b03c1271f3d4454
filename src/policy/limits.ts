import type { Caller } from "./call-policy.ts"
import { budgetLimits } from "../budgets/budget.ts"
import { limitOf } from "../keys/key.ts"
import type { Limit } from "../ledger/limits.ts"

/**
 * Every limit that a caller's calls are held against, including the limits of the key's ancestors. Without the
 * account's balance: the ledger adds it.
 */
export function limitsOf(caller: Caller): readonly Limit[] {
  let limits = remembered.get(caller)
  if (!limits) {
    limits = collectLimits(caller)
    remembered.set(caller, limits)
  }
  return limits
}

/** A caller is cached between requests; its limits are those it was read with. */
const remembered = new WeakMap<Caller, readonly Limit[]>()

function collectLimits(caller: Caller): Limit[] {
  return [
    ...[caller, ...caller.ancestors].map(limitOf).filter((limit) => limit !== undefined),
    ...budgetLimits(caller.workspaceId, caller.budgets),
    ...(caller.guardrails?.limits ?? []),
  ]
}
