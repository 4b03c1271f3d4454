import type { Limit } from "../ledger/limits.ts"
import { toRateLimits } from "../ledger/rate-schemas.ts"
import type { RateLimit } from "../ledger/rates.ts"
import { endUserScope } from "../ledger/scopes.ts"
import type { Filter } from "../models/lists/endpoint-filter.ts"
import { type AppliedCheck, combineChecks } from "./checks/combine.ts"
import { combineRules, type OwnedRule } from "./content/rules.ts"
import { type GuardrailRules, rulesOf } from "./guardrail.ts"
import { DATA_REGIONS } from "./schemas.ts"
import { routeFilters } from "./route-filters.ts"
import type { AppliedRow } from "./store.ts"
import { elementAt } from "../support/arrays.ts"

type Region = (typeof DATA_REGIONS)[number]

/** A guardrail that applies to a call, with the assignment that causes it. */
export type AppliedGuardrail = {
  id: string
  name: string
  scope: "key" | "member" | "workspace"
  rules: GuardrailRules
  limits: readonly Limit[]
  rates: readonly RateLimit[]
  /** Whether the limits count each end user, instead of each key and member. */
  isPerEndUser: boolean
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
export function countedFor(guardrails: AppliedGuardrails, user: string): AppliedGuardrails | undefined {
  if (!guardrails.list.some(({ isPerEndUser }) => isPerEndUser)) return undefined
  const list = guardrails.list.map((guardrail) => (guardrail.isPerEndUser ? withUser(guardrail, user) : guardrail))
  return { ...guardrails, list, limits: list.flatMap(({ limits }) => limits) }
}

function withUser(guardrail: AppliedGuardrail, user: string): AppliedGuardrail {
  const scope = endUserScope(guardrail.id, user)
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
  const isPerEndUser = rules.per_end_user === true
  const scopesIn = isPerEndUser ? () => [endUserScope(id, "")] : scopesOf
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
    isPerEndUser,
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
export function allowedRegions(list: readonly AppliedGuardrail[]): Region[] {
  const lists = list.flatMap(({ rules }) => (rules.allowed_data_regions ? [rules.allowed_data_regions] : []))
  if (lists.length === 0) return ["global"]
  return DATA_REGIONS.filter((region) => lists.every((regions) => regions.includes(region)))
}
