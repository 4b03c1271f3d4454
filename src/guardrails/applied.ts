import type { Limit } from "../ledger/limits.ts"
import type { Filter } from "../models/endpoint-filter.ts"
import { combineRules, type OwnedRule } from "./content/rules.ts"
import { type GuardrailRules, rulesOf } from "./guardrail.ts"
import { DATA_REGIONS } from "./schemas.ts"
import { routeFilters } from "./route-filters.ts"
import type { AppliedRow } from "./store.ts"
import { elementAt } from "../support/arrays.ts"

type Region = (typeof DATA_REGIONS)[number]

/** A guardrail that a caller is under, and what it is theirs by. */
export type Applied = {
  id: string
  name: string
  scope: "key" | "member" | "workspace"
  rules: GuardrailRules
  limits: readonly Limit[]
}

/** All that a caller is under. Read with the key, so what is dear is worked out when it is first needed, and kept. */
export type CallerGuardrails = {
  list: readonly Applied[]
  limits: readonly Limit[]
  routeFilters: () => readonly Filter[]
  contentRules: () => readonly OwnedRule[]
}

/**
 * The guardrails of a caller, combined; null if it has none. A guardrail that applies to several keys of a lineage
 * is listed once, as the caller's own where it is, with the counters of each of them.
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

function once<T>(work: () => T): () => T {
  let done: { value: T } | undefined
  return () => (done ??= { value: work() }).value
}

/** The rows of one guardrail, that of the caller's own key first. */
function toApplied(rows: readonly AppliedRow[]): Applied {
  const row = elementAt(rows, 0)
  const { id, name } = row
  const scope = row.byKey ? "key" : row.byMember ? "member" : "workspace"
  const limits = new Map(rows.flatMap(limitsOf).map((limit) => [limit.scope, limit]))
  return { id, name, scope, rules: rulesOf(row), limits: [...limits.values()] }
}

/** One counter for each key and for each member it is assigned to; a workspace's own is assigned to all of both. */
function limitsOf(row: AppliedRow): Limit[] {
  const { id, limitNano, resetInterval: interval, includeByokInBudgets: includeByok, keyHash, userId } = row
  if (limitNano === null) return []
  const scopes = [
    ...(row.isDefault || row.byKey ? [`guardrail:${id}:key:${keyHash}`] : []),
    ...((row.isDefault || row.byMember) && userId !== null ? [`guardrail:${id}:user:${userId}`] : []),
  ]
  return scopes.map((scope) => ({ scope, limitNano, interval, includeByok }))
}

/** The regions by whose hostnames the calls of this caller may come: what all of their guardrails allow. */
export function allowedRegions(list: readonly Applied[]): Region[] {
  const lists = list.flatMap(({ rules }) => (rules.allowed_data_regions ? [rules.allowed_data_regions] : []))
  if (lists.length === 0) return ["global"]
  return DATA_REGIONS.filter((region) => lists.every((regions) => regions.includes(region)))
}
