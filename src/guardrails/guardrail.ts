import { RATE_NAMES, type RateFields, toRateFields, toRateLimits } from "../ledger/rate-schemas.ts"
import { nanoToUsd, usdToNano } from "../money/money.ts"
import { NO_RATES } from "../money/rate-limits.ts"
import { GatewayError } from "../errors/errors.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { ContentChecks } from "./checks/check.ts"
import { detectorOf } from "./detectors/builtins.ts"
import { addPattern, NO_SIZES } from "./content/patterns/pattern.ts"
import type { BuiltinFilter, ContentCheckRule, ContentFilter, Guardrail, GuardrailChange } from "./schemas.ts"
import type { GuardrailRow } from "./table.ts"
import { parseStored } from "../support/text/json.ts"

/** Rules of a guardrail in API field names; absent or null fields restrict nothing. */
export type GuardrailRules = Partial<Pick<Guardrail, ListName>> &
  Partial<RateFields> &
  Partial<Record<FlagName, boolean | null>> & {
    allowed_data_regions?: Guardrail["allowed_data_regions"]
    per_metadata?: string | null
    content_filters?: readonly ContentFilter[] | null
    content_filter_builtins?: readonly BuiltinFilter[] | null
    content_checks?: readonly ContentCheckRule[] | null
  }

const LISTS = [
  "allowed_providers",
  "ignored_providers",
  "allowed_models",
  "ignored_models",
  "allowed_mcp_tools",
] as const
type ListName = (typeof LISTS)[number]
/** Authors with a separate zero-data-retention flag, by the name of the flag. */
export const ZDR_FAMILIES = ["anthropic", "google", "openai", "xai", "other"] as const
const ZDR_FLAGS = ZDR_FAMILIES.map((family) => `enforce_zdr_${family}` as const)
const FLAGS = [
  "enforce_zdr",
  ...ZDR_FLAGS,
  "enable_paid_model_training",
  "enable_free_model_training",
  "enable_free_model_publication",
  "per_end_user",
] as const
type FlagName = (typeof FLAGS)[number]
const RULE_NAMES = [
  ...LISTS,
  ...FLAGS,
  ...RATE_NAMES,
  "per_metadata",
  "allowed_data_regions",
  "content_filters",
  "content_filter_builtins",
  "content_checks",
] as const

/**
 * Fields whose values the audit log records. A pattern may contain what it searches for, so filters are logged by name
 * only.
 */
export const AUDITED_FIELDS = [
  ...RULE_NAMES.filter((name) => name !== "content_filters"),
  "name",
  "description",
  "limit_usd",
  "reset_interval",
  "include_byok_in_budgets",
]

/** Columns of a change; absent ones stay. `rules` is a merge patch: null removes a rule. */
export type RowChange = Partial<
  Pick<GuardrailRow, "name" | "description" | "limitNano" | "resetInterval" | "includeByokInBudgets">
> &
  Pick<GuardrailRow, "rules">

/** Converts a request body to columns. Throws for invalid filters. */
export function toRowChange(input: GuardrailChange): RowChange {
  rejectFilters(input.content_filters)
  const { limit_usd: limit, include_byok_in_budgets: includesByok, name, description, reset_interval: interval } = input
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(limit !== undefined && { limitNano: toLimit(limit) }),
    ...(interval !== undefined && { resetInterval: interval }),
    ...(includesByok !== undefined && { includeByokInBudgets: includesByok }),
    rules: JSON.stringify(toRules(input)),
  }
}

function toLimit(usd: number | null): number | null {
  if (usd === null) return null
  const nano = usdToNano(usd)
  if (nano < 1) throw new GatewayError("invalid_request", "limit_usd: must be at least 0.000000001.")
  return nano
}

/** The older flag sets those families that the same body omits. */
function toRules(input: GuardrailChange): Record<string, unknown> {
  const { enforce_zdr: zdr } = input
  const defined = RULE_NAMES.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const]))
  const copied = zdr === undefined ? [] : ZDR_FLAGS.map((flag) => [flag, input[flag] ?? zdr] as const)
  return Object.fromEntries([...defined, ...copied])
}

/** Rejects checks that the deployment does not have. */
export function rejectUnknownChecks(rules: readonly ContentCheckRule[] | null | undefined, known: ContentChecks): void {
  for (const [index, { check }] of (rules ?? []).entries()) {
    if (known.has(check)) continue
    const available =
      known.size > 0
        ? `must be one of ${[...known.keys()].join(", ")}`
        : "this gateway has no checks. The operator configures them in CONTENT_CHECKS"
    throw new GatewayError("invalid_request", `content_checks[${index}].check: ${available}.`)
  }
}

/** Rejects custom filters that cannot be searched in linear time. */
export function rejectFilters(filters: readonly ContentFilter[] | null | undefined): void {
  let sizes = NO_SIZES
  for (const [index, { pattern }] of (filters ?? []).entries()) {
    const added = addPattern(pattern, sizes)
    if (typeof added === "string") {
      throw new GatewayError("invalid_request", `content_filters[${index}].pattern: ${added}`, {
        metadata: { reason: "invalid_regex_pattern" },
      })
    }
    sizes = added
  }
}

export function rejectIncompleteLimit(limit: number | null | undefined, interval: string | null | undefined): void {
  if ((limit ?? null) === null && (interval ?? null) !== null) throw halfLimit("limit_usd")
  if ((limit ?? null) !== null && (interval ?? null) === null) throw halfLimit("reset_interval")
}

function halfLimit(missing: string): GatewayError {
  return new GatewayError("invalid_request", `${missing}: limit_usd and reset_interval come together, or not at all.`)
}

export function rulesOf({ rules }: Pick<GuardrailRow, "rules">): GuardrailRules {
  return parseStored(rules)
}

export function toGuardrail(row: GuardrailRow): Guardrail {
  const rules = rulesOf(row)
  const shared = Object.fromEntries([...LISTS, ...FLAGS].map((name) => [name, rules[name] ?? null]))
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    description: row.description,
    limit_usd: row.limitNano === null ? null : nanoToUsd(row.limitNano),
    reset_interval: row.resetInterval,
    include_byok_in_budgets: row.includeByokInBudgets,
    ...toRateFields(toRateLimits(rules) ?? NO_RATES),
    ...(shared as Pick<Guardrail, ListName | FlagName>),
    enforce_zdr: rules.enforce_zdr ?? false,
    per_metadata: rules.per_metadata ?? null,
    allowed_data_regions: rules.allowed_data_regions ?? null,
    content_filters: rules.content_filters?.map((one) => ({ ...one, label: one.label ?? null })) ?? null,
    content_filter_builtins: rules.content_filter_builtins?.map(toBuiltin) ?? null,
    content_checks: rules.content_checks?.map((rule) => ({ ...rule })) ?? null,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt ?? row.createdAt),
  }
}

function toBuiltin({ action, slug, scan_scope: scope }: BuiltinFilter) {
  const isInjection = slug === "regex-prompt-injection"
  return { action, slug, label: detectorOf(slug).label, ...(isInjection && { scan_scope: scope ?? "all_messages" }) }
}
