import type { Limit } from "../credits/ledger.ts"
import type { Filter } from "../inference/routing/filters.ts"
import { combineRules, type OwnedRule } from "./content/rules.ts"
import { type GuardrailRules, rulesOf } from "./guardrail.ts"
import { DATA_REGIONS } from "./schemas.ts"
import { routeFilters } from "./route-filters.ts"
import type { AppliedRow } from "./store.ts"

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

/** The guardrails of a caller together; null where there is none. */
export function toCallerGuardrails(
  rows: readonly AppliedRow[],
  keyHash: string,
  userId: string | null,
): CallerGuardrails | null {
  if (rows.length === 0) return null
  const list = rows.map((row) => toApplied(row, keyHash, userId))
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

function toApplied(row: AppliedRow, keyHash: string, userId: string | null): Applied {
  const { id, name } = row
  const scope = row.by_key === 1 ? "key" : row.by_member === 1 ? "member" : "workspace"
  return { id, name, scope, rules: rulesOf(row), limits: limitsOf(row, keyHash, userId) }
}

/** One counter for each key and for each member it is assigned to; a workspace's own is assigned to all of both. */
function limitsOf(row: AppliedRow, keyHash: string, userId: string | null): Limit[] {
  const { id, limit_nano: limitNano, reset_interval: interval, include_byok_in_budgets: includesByok } = row
  if (limitNano === null) return []
  const isOfAll = row.is_default === 1
  const scopes = [
    ...(isOfAll || row.by_key === 1 ? [`guardrail:${id}:key:${keyHash}`] : []),
    ...((isOfAll || row.by_member === 1) && userId !== null ? [`guardrail:${id}:user:${userId}`] : []),
  ]
  return scopes.map((scope) => ({ scope, limitNano, interval, includeByok: includesByok === 1 }))
}

/** The regions by whose hostnames the calls of this caller may come: what all of their guardrails allow. */
export function allowedRegions(list: readonly Applied[]): Region[] {
  const lists = list.flatMap(({ rules }) => (rules.allowed_data_regions ? [rules.allowed_data_regions] : []))
  if (lists.length === 0) return ["global"]
  return DATA_REGIONS.filter((region) => lists.every((regions) => regions.includes(region)))
}
