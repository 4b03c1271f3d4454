import type { Principal } from "../access/principal.ts"
import { budgetLimits, NO_BUDGETS, type WorkspaceBudgets } from "../budgets/budget.ts"
import type { ProviderBudgets } from "../budgets/provider-budget.ts"
import type { ByokCredential } from "../byok/usable-credentials.ts"
import { type AppliedGuardrails, countedForMetadata, countedForUser } from "../guardrails/applied.ts"
import { counterScope, limitsOfKey } from "../keys/key.ts"
import { otherCountedKeys } from "../keys/lineage.ts"
import type { Limit } from "../ledger/limits.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { workspaceScope } from "../ledger/scopes.ts"
import { isObject } from "../support/text/json.ts"
import type { DestinationFilter } from "../observability/coverage.ts"
import { type CallDefaults, toCallDefaults } from "../workspaces/settings.ts"

/** Everything that applies to calls of a principal. Loaded with the principal in one query, and cached with it. */
export type CallPolicy = {
  /** Defaults of the key's workspace. */
  defaults: CallDefaults
  budgets: WorkspaceBudgets
  /** Provider budgets of the organization. */
  providerBudgets: ProviderBudgets
  /** Guardrails of the key, its ancestors, their creators and workspaces; null if there are none. */
  guardrails: AppliedGuardrails | null
  /** BYOK credentials, sealed. */
  byok: readonly ByokCredential[]
  /** Destinations that calls of the workspace are exported to. */
  destinations: readonly DestinationFilter[]
  /** Limits of the schedules of an intern whose runs a call belongs to; empty for other calls. */
  runLimits: readonly Limit[]
  /** The turn of an intern that a call belongs to; null for other calls. */
  turn: TurnTrace | null
}

/** Trace of a turn of an intern for destinations: ids of its trace and span, in hex. */
export type TurnTrace = { sessionId: string; traceId: string; spanId: string }

/** A principal with the policy of its calls, for the inference pipeline. */
export type Caller = Principal & CallPolicy

const callers = new WeakMap<Principal, Caller>()

/** Stores the policy of a principal's calls for `callerOf`. */
export function setPolicy(principal: Principal, policy: CallPolicy): Principal {
  const guardrails =
    policy.guardrails && (countedForUser(policy.guardrails, principal.externalUser ?? "") ?? policy.guardrails)
  callers.set(principal, { ...principal, ...policy, guardrails })
  return principal
}

/** A principal from `authenticate` with the policy that was loaded with it; without a policy, no rules apply. */
export function callerOf(principal: Principal): Caller {
  return callers.get(principal) ?? { ...principal, ...NO_POLICY }
}

/** As in chat and Responses requests. */
const MAX_METADATA_VALUE = 512
/** Maximum number of end users, and of metadata values, per caller with cached limits; beyond it, a cache is cleared. */
const MAX_CACHED = 1_000
type Cache = WeakMap<Caller, Map<string, Caller>>
const byEndUser: Cache = new WeakMap()
const byMetadata: Cache = new WeakMap()

/**
 * The caller with the limits of an end user, where guardrails count each of them. A key that was made for an external
 * user counts as that user, whatever its requests name.
 */
export function callerFor(caller: Caller, endUser: string | null): Caller {
  if (caller.guardrails === null || endUser === null || endUser === "" || caller.externalUser !== null) return caller
  return withCounters(byEndUser, caller, endUser, (guardrails) => countedForUser(guardrails, endUser))
}

/** The caller with the limits of a request's metadata values, where guardrails count each of them. */
export function callerWithMetadata(caller: Caller, metadata: unknown): Caller {
  if (caller.guardrails === null) return caller
  const values = caller.guardrails.list.flatMap(({ counts }) =>
    counts?.kind === "metadata" ? [metadataValue(metadata, counts.field)] : [],
  )
  if (values.every((value) => value === "")) return caller
  return withCounters(byMetadata, caller, JSON.stringify(values), (guardrails) =>
    countedForMetadata(guardrails, (field) => metadataValue(metadata, field)),
  )
}

/** The caller with the counters that `count` selects, from the cache if it has them; the same if none are selected. */
function withCounters(
  cache: Cache,
  caller: Caller,
  id: string,
  count: (guardrails: AppliedGuardrails) => AppliedGuardrails | undefined,
): Caller {
  const cached = cache.get(caller) ?? new Map<string, Caller>()
  const known = cached.get(id)
  if (known) return known
  const guardrails = caller.guardrails && count(caller.guardrails)
  if (!guardrails) return caller
  if (cached.size >= MAX_CACHED) cached.clear()
  const counted = { ...caller, guardrails }
  cached.set(id, counted)
  cache.set(caller, cached)
  return counted
}

/** The caller with the limits of one value of every metadata field that guardrails count. */
export function callerWithMetadataValue(caller: Caller, value: string): Caller {
  const guardrails = caller.guardrails && countedForMetadata(caller.guardrails, () => value)
  return guardrails ? { ...caller, guardrails } : caller
}

/** Empty if the request does not have the field. Messages requests may have values that are not strings. */
function metadataValue(metadata: unknown, field: string): string {
  const value = isObject(metadata) && Object.hasOwn(metadata, field) ? metadata[field] : undefined
  return typeof value === "string" && value.length <= MAX_METADATA_VALUE ? value : ""
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

/** Caches a result per caller. Callers are cached between requests and never change. */
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
 * All limits that a caller's calls are held against, including those of the key's ancestors. The ledger adds the
 * balance of the account.
 */
export const limitsOf: (caller: Caller) => readonly Limit[] = perCaller(collectLimits)

/** Every rate limit of a caller's calls; empty for none. */
export const rateLimitsOf: (caller: Caller) => readonly RateLimit[] = perCaller(collectRates)

/** The other keys under which a caller's calls count: its ancestors, and the first keys that they replaced. */
export const otherKeysOf: (caller: Caller) => readonly string[] = perCaller((caller) =>
  otherCountedKeys([caller, ...caller.ancestors]),
)

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
  const ofKeys = [caller, ...caller.ancestors].flatMap((key) =>
    key.rates ? [{ ...key.rates, scope: counterScope(key) }] : [],
  )
  const ofWorkspace = defaults.rates ? [{ ...defaults.rates, scope: workspaceScope(workspaceId) }] : []
  return [...ofKeys, ...ofWorkspace, ...(guardrails?.list.flatMap(({ rates }) => rates) ?? [])]
}
