import type { Limit } from "../ledger/limits.ts"
import { toRateLimits } from "../ledger/rate-schemas.ts"
import type { RateLimit } from "../ledger/rates.ts"
import type { Filter } from "../models/endpoint-filter.ts"
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
}

/** All guardrails of a principal. Loaded with the key, so the expensive parts are computed on first use and cached. */
export type CallerGuardrails = {
  list: readonly AppliedGuardrail[]
  limits: readonly Limit[]
  routeFilters: () => readonly Filter[]
  contentRules: () => readonly OwnedRule[]
}

/**
 * Combines the guardrails of a principal; null if there are none. A guardrail that applies to several keys of a lineage
 * is listed once, with the counters of each of them.
 */
export function toCallerGuardrails(rows: readonly AppliedRow[]): CallerGuardrails | null {
  if (rows.length === 0) return null
  const byId = Map.groupBy(rows, ({ id }) => id)
  const list = [...byId.values()].map(toApplied)
  return {
    list,
    limits: list.flatMap(({ limits }) => limits),
    routeFilters: once(() => list.flatMap(routeFilters)),
    contentRules: once(() => combineRules(list.map(({ rules }) => rules))),
  }
}

/** Whether a key may be used only at regional hostnames, so that resources without a region are excluded. */
export function isConfinedToRegions(guardrails: CallerGuardrails | null): boolean {
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
  const limits = new Map(rows.flatMap(limitsOf).map((limit) => [limit.scope, limit]))
  const rules = rulesOf(row)
  const rates = toRateLimits(rules)
  const scopes = rates ? new Set(rows.flatMap(scopesOf)) : []
  return {
    id,
    name,
    scope,
    rules,
    limits: [...limits.values()],
    rates: rates ? [...scopes].map((one) => ({ ...rates, scope: one })) : [],
  }
}

/** One limit for each assigned key and member; the default guardrail of a workspace is assigned to all of them. */
function limitsOf(row: AppliedRow): Limit[] {
  const { limitNano, resetInterval: interval, includeByokInBudgets: includeByok } = row
  if (limitNano === null) return []
  return scopesOf(row).map((scope) => ({ scope, limitNano, interval, includeByok }))
}

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
