import type { Principal } from "../access/principal.ts"
import { budgetLimits, NO_BUDGETS, type WorkspaceBudgets } from "../budgets/budget.ts"
import type { ProviderBudgets } from "../budgets/provider-budget.ts"
import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { CallerGuardrails } from "../guardrails/applied.ts"
import { limitsOfKey } from "../keys/key.ts"
import { keyScope, type Limit } from "../ledger/limits.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { workspaceScope } from "../ledger/scopes.ts"
import type { DestinationFilter } from "../observability/coverage.ts"
import { type CallDefaults, toCallDefaults } from "../workspaces/settings.ts"

/** Everything that applies to calls of a principal. Read with the principal, in one query, and cached with it. */
export type CallPolicy = {
  /** Of the key's workspace, as are its budgets. */
  defaults: CallDefaults
  budgets: WorkspaceBudgets
  /** Of the organization. */
  providerBudgets: ProviderBudgets
  /** Guardrails of the key, its ancestors, their creators and workspaces; null if there are none. */
  guardrails: CallerGuardrails | null
  /** BYOK credentials, sealed. */
  byok: readonly ByokCredential[]
  /** Destinations that calls of the workspace are exported to. */
  destinations: readonly DestinationFilter[]
  /** Of the runs of an intern's schedules that a call belongs to; empty for any other call. */
  runLimits: readonly Limit[]
  /** The turn of an intern that a call is part of; null for any other call. */
  turn: TurnTrace | null
}

/** How destinations know a turn of an intern: ids of its trace and its span, in hex. */
export type TurnTrace = { sessionId: string; traceId: string; spanId: string }

/** A principal with the policy of its calls, as the inference pipeline takes it. */
export type Caller = Principal & CallPolicy

const callers = new WeakMap<Principal, Caller>()

/** The policy of a principal's calls, for `callerOf`. */
export function setPolicy(principal: Principal, policy: CallPolicy): Principal {
  callers.set(principal, { ...principal, ...policy })
  return principal
}

/** A principal that `authenticate` made, with the policy that was read with it; no rule applies where none was read. */
export function callerOf(principal: Principal): Caller {
  return callers.get(principal) ?? { ...principal, ...NO_POLICY }
}

/** For a call outside the runs of an intern. */
export const NO_RUN = { runLimits: [], turn: null } satisfies Partial<CallPolicy>

const NO_POLICY: CallPolicy = {
  defaults: toCallDefaults(null),
  budgets: NO_BUDGETS,
  providerBudgets: null,
  guardrails: null,
  byok: [],
  destinations: [],
  ...NO_RUN,
}

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
    ...caller.runLimits,
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
