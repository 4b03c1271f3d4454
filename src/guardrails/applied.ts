import { DATA_REGIONS, type DataRegion } from "../support/regions.ts"
import type { Limit } from "../ledger/limits.ts"
import { toRateLimits } from "../ledger/rate-schemas.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { endUserScope, metadataScope } from "../ledger/scopes.ts"
import type { Filter } from "../models/lists/endpoint-filter.ts"
import { type AppliedCheck, combineChecks } from "./checks/combine.ts"
import { type CountedSubject, countedSubjectOf, unnamedScope } from "./counted-subject.ts"
import { combineRules, type OwnedRule } from "./content/rules.ts"
import { type GuardrailRules, rulesOf } from "./guardrail.ts"
import { routeFilters } from "./route-filters.ts"
import type { AppliedRow } from "./store.ts"
import { elementAt } from "../support/arrays.ts"

/** A guardrail that applies to a call, with the assignment that causes it. */
export type AppliedGuardrail = {
  id: string
  name: string
  scope: "key" | "member" | "workspace"
  rules: GuardrailRules
  limits: readonly Limit[]
  rates: readonly RateLimit[]
  /** The subject that the limits count; null for each key and member. */
  counts: CountedSubject | null
}

/** All guardrails of a principal. Loaded with the key, so the expensive parts are computed on first use and cached. */
export type AppliedGuardrails = {
  list: readonly AppliedGuardrail[]
  limits: readonly Limit[]
  routeFilters: () => readonly Filter[]
  contentRules: () => readonly OwnedRule[]
  contentChecks: () => readonly AppliedCheck[]
}

/**
 * Combines the guardrails of a principal; null if there are none. A guardrail that applies to several keys of a lineage
 * is listed once, with the counters of each of them.
 */
export function toAppliedGuardrails(rows: readonly AppliedRow[]): AppliedGuardrails | null {
  if (rows.length === 0) return null
  const byId = Map.groupBy(rows, ({ id }) => id)
  const list = [...byId.values()].map(toApplied)
  return {
    list,
    limits: list.flatMap(({ limits }) => limits),
    routeFilters: once(() => list.flatMap(routeFilters)),
    contentRules: once(() => combineRules(list.map(({ rules }) => rules))),
    contentChecks: once(() => combineChecks(list.map(({ rules }) => rules))),
  }
}

/** The same guardrails with the counters of an end user; undefined if no limit counts end users. */
export function countedForUser(guardrails: AppliedGuardrails, user: string): AppliedGuardrails | undefined {
  return withCounters(guardrails, ({ id, counts }) =>
    counts?.kind === "end_user" ? endUserScope(id, user) : undefined,
  )
}

/** The same guardrails with the counters of metadata values; undefined if no limit counts them. */
export function countedForMetadata(
  guardrails: AppliedGuardrails,
  valueOf: (field: string) => string,
): AppliedGuardrails | undefined {
  return withCounters(guardrails, ({ id, counts }) =>
    counts?.kind === "metadata" ? metadataScope(id, valueOf(counts.field)) : undefined,
  )
}

/** `scopeOf`: the scope of all limits of a guardrail; undefined if they stay. */
function withCounters(
  guardrails: AppliedGuardrails,
  scopeOf: (guardrail: AppliedGuardrail) => string | undefined,
): AppliedGuardrails | undefined {
  let isChanged = false
  const list = guardrails.list.map((guardrail) => {
    const scope = scopeOf(guardrail)
    if (scope === undefined) return guardrail
    isChanged = true
    return inScope(guardrail, scope)
  })
  return isChanged ? { ...guardrails, list, limits: list.flatMap(({ limits }) => limits) } : undefined
}

function inScope(guardrail: AppliedGuardrail, scope: string): AppliedGuardrail {
  const { limits, rates } = guardrail
  return {
    ...guardrail,
    limits: limits.map((limit) => ({ ...limit, scope })),
    rates: rates.map((rate) => ({ ...rate, scope })),
  }
}

/** Whether content filters or checks may block or change a text. */
export function mayBlock({ contentRules, contentChecks }: AppliedGuardrails): boolean {
  const actionsOf = ({ input, output }: AppliedCheck) => [...input.values(), ...output.values()]
  const actions = [...contentRules().map(({ action }) => action), ...contentChecks().flatMap(actionsOf)]
  return actions.some((action) => action !== "flag")
}

/** Whether a key may be used only at regional hostnames, so that resources without a region are excluded. */
export function isConfinedToRegions(guardrails: AppliedGuardrails | null): boolean {
  return guardrails !== null && !allowedRegions(guardrails.list).includes("global")
}

function once<T>(work: () => T): () => T {
  let done: { value: T } | undefined
  return () => (done ??= { value: work() }).value
}

/** Combines the rows of one guardrail. The row of the principal's own key comes first. */
function toApplied(rows: readonly AppliedRow[]): AppliedGuardrail {
  const row = elementAt(rows, 0)
  const { id, name } = row
  const scope = row.byKey ? "key" : row.byMember ? "member" : "workspace"
  const rules = rulesOf(row)
  const counts = countedSubjectOf(rules)
  const scopesIn = counts ? () => [unnamedScope(id, counts)] : scopesOf
  const limits = new Map(rows.flatMap((one) => limitsOf(one, scopesIn(one))).map((limit) => [limit.scope, limit]))
  const rates = toRateLimits(rules)
  const scopes = rates ? new Set(rows.flatMap(scopesIn)) : []
  return {
    id,
    name,
    scope,
    rules,
    limits: [...limits.values()],
    rates: rates ? [...scopes].map((one) => ({ ...rates, scope: one })) : [],
    counts,
  }
}

function limitsOf(row: AppliedRow, scopes: readonly string[]): Limit[] {
  const { limitNano, resetInterval: interval, includeByokInBudgets: includeByok } = row
  if (limitNano === null) return []
  return scopes.map((scope) => ({ scope, limitNano, interval, includeByok }))
}

/** One for each assigned key and member; the default guardrail of a workspace is assigned to all of them. */
function scopesOf({ id, isDefault, byKey, byMember, keyHash, userId }: AppliedRow): string[] {
  return [
    ...(isDefault || byKey ? [`guardrail:${id}:key:${keyHash}`] : []),
    ...((isDefault || byMember) && userId !== null ? [`guardrail:${id}:user:${userId}`] : []),
  ]
}

/** Regional hostnames that all guardrails of this principal allow. */
export function allowedRegions(list: readonly AppliedGuardrail[]): DataRegion[] {
  const lists = list.flatMap(({ rules }) => (rules.allowed_data_regions ? [rules.allowed_data_regions] : []))
  if (lists.length === 0) return ["global"]
  return DATA_REGIONS.filter((region) => lists.every((regions) => regions.includes(region)))
}
