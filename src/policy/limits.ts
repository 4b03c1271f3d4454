import type { Caller } from "./call-policy.ts"
import { budgetLimits } from "../budgets/budget.ts"
import { limitOf } from "../keys/key.ts"
import { keyScope, type Limit } from "../ledger/limits.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { workspaceScope } from "../ledger/scopes.ts"

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

/** Every rate limit of a caller's calls; empty for none. */
export function rateLimitsOf(caller: Caller): readonly RateLimit[] {
  let rates = rememberedRates.get(caller)
  if (!rates) {
    rates = collectRates(caller)
    rememberedRates.set(caller, rates)
  }
  return rates
}

const rememberedRates = new WeakMap<Caller, readonly RateLimit[]>()

function collectRates(caller: Caller): RateLimit[] {
  const { workspaceId, defaults, guardrails } = caller
  const ofKeys = [caller, ...caller.ancestors].flatMap(({ keyHash, rates }) =>
    rates ? [{ ...rates, scope: keyScope(keyHash) }] : [],
  )
  const ofWorkspace = defaults.rates ? [{ ...defaults.rates, scope: workspaceScope(workspaceId) }] : []
  return [...ofKeys, ...ofWorkspace, ...(guardrails?.list.flatMap(({ rates }) => rates) ?? [])]
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
