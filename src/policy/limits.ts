import type { Caller } from "./call-policy.ts"
import { budgetLimits } from "../budgets/budget.ts"
import { limitsOfKey } from "../keys/key.ts"
import { keyScope, type Limit } from "../ledger/limits.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { workspaceScope } from "../ledger/scopes.ts"

/** A caller is cached between requests; its limits are those it was read with. */
function perCaller<T extends object>(collect: (caller: Caller) => T): (caller: Caller) => T {
  const collected = new WeakMap<Caller, T>()
  return (caller) => {
    let limits = collected.get(caller)
    if (!limits) {
      limits = collect(caller)
      collected.set(caller, limits)
    }
    return limits
  }
}

/**
 * Every limit that a caller's calls are held against, including the limits of the key's ancestors. Without the
 * account's balance: the ledger adds it.
 */
export const limitsOf: (caller: Caller) => readonly Limit[] = perCaller(collectLimits)

/** Every rate limit of a caller's calls; empty for none. */
export const rateLimitsOf: (caller: Caller) => readonly RateLimit[] = perCaller(collectRates)

function collectLimits(caller: Caller): Limit[] {
  return [
    ...[caller, ...caller.ancestors].flatMap(limitsOfKey),
    ...budgetLimits(caller.workspaceId, caller.budgets),
    ...(caller.guardrails?.limits ?? []),
  ]
}

function collectRates(caller: Caller): RateLimit[] {
  const { workspaceId, defaults, guardrails } = caller
  const ofKeys = [caller, ...caller.ancestors].flatMap(({ keyHash, rates }) =>
    rates ? [{ ...rates, scope: keyScope(keyHash) }] : [],
  )
  const ofWorkspace = defaults.rates ? [{ ...defaults.rates, scope: workspaceScope(workspaceId) }] : []
  return [...ofKeys, ...ofWorkspace, ...(guardrails?.list.flatMap(({ rates }) => rates) ?? [])]
}
