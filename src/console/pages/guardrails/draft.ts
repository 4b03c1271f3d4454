import type { Guardrail } from "../../api/account-types.ts"
import { readList, toListText } from "../../format/list.ts"

type Action = "block" | "redact" | "flag"
export type Filter = { action: Action; label: string | null; pattern: string }

export type CheckRule = { check: string; action: Action; direction: "input" | "output" | "both" }

const COUNTED = ["key", "end_user", "metadata"] as const
/** Counted by a budget and rate limits: keys and members, end users, or values of a metadata field. */
export type Counted = (typeof COUNTED)[number]
export const toCounted = (value: string): Counted => COUNTED.find((one) => one === value) ?? "key"

/** A guardrail as edited in its form. */
export type Draft = {
  name: string
  description: string
  /** By detector; absent if it is off. */
  builtins: Readonly<Record<string, Action>>
  filters: readonly Filter[]
  checks: readonly CheckRule[]
  allowedModels: string
  ignoredModels: string
  allowedProviders: string
  ignoredProviders: string
  mcpTools: string
  limit: string
  interval: string
  includesByok: boolean
  counted: Counted
  metadataField: string
  requests: string
  tokens: string
  concurrent: string
}

export const DETECTORS: readonly { slug: string; name: string }[] = [
  { slug: "email", name: "Email addresses" },
  { slug: "phone", name: "Phone numbers" },
  { slug: "credit-card", name: "Card numbers" },
  { slug: "iban", name: "Bank accounts (IBAN)" },
  { slug: "ssn", name: "Social security numbers" },
  { slug: "ip-address", name: "IP addresses" },
  { slug: "person-name", name: "Names of people" },
  { slug: "address", name: "Postal addresses" },
  { slug: "secrets", name: "API keys and secrets" },
  { slug: "regex-prompt-injection", name: "Prompt injection" },
]

const toLines = (list: readonly string[] | null) => (list ?? []).join("\n")

export function toDraft(guardrail: Guardrail): Draft {
  return {
    name: guardrail.name,
    description: guardrail.description ?? "",
    builtins: Object.fromEntries((guardrail.content_filter_builtins ?? []).map(({ slug, action }) => [slug, action])),
    filters: guardrail.content_filters ?? [],
    checks: guardrail.content_checks ?? [],
    allowedModels: toLines(guardrail.allowed_models),
    ignoredModels: toLines(guardrail.ignored_models),
    allowedProviders: toLines(guardrail.allowed_providers),
    ignoredProviders: toLines(guardrail.ignored_providers),
    mcpTools: toListText(guardrail.allowed_mcp_tools, "\n"),
    limit: guardrail.limit_usd === null ? "" : String(guardrail.limit_usd),
    interval: guardrail.reset_interval ?? "monthly",
    includesByok: guardrail.include_byok_in_budgets,
    counted: guardrail.per_end_user ? "end_user" : guardrail.per_metadata == null ? "key" : "metadata",
    metadataField: guardrail.per_metadata ?? "",
    requests: String(guardrail.requests_per_minute ?? ""),
    tokens: String(guardrail.tokens_per_minute ?? ""),
    concurrent: String(guardrail.concurrent_requests ?? ""),
  }
}

/** The content rules, for a test or a change. */
export function rulesOf({ builtins, filters }: Pick<Draft, "builtins" | "filters">) {
  return {
    content_filter_builtins: Object.entries(builtins).map(([slug, action]) => ({ slug, action })),
    content_filters: filters.filter(({ pattern }) => pattern !== ""),
  }
}

const numberOf = (text: string) => (text.trim() === "" ? null : Number(text))

export function toChange(draft: Draft): Record<string, unknown> {
  const limit = numberOf(draft.limit)
  return {
    name: draft.name,
    description: draft.description.trim() === "" ? null : draft.description,
    ...rulesOf(draft),
    content_checks: draft.checks.length > 0 ? draft.checks : null,
    allowed_models: readList(draft.allowedModels),
    ignored_models: readList(draft.ignoredModels),
    allowed_providers: readList(draft.allowedProviders),
    ignored_providers: readList(draft.ignoredProviders),
    allowed_mcp_tools: readList(draft.mcpTools),
    limit_usd: limit,
    reset_interval: limit === null ? null : draft.interval,
    include_byok_in_budgets: draft.includesByok,
    per_end_user: draft.counted === "end_user" ? true : null,
    per_metadata: draft.counted === "metadata" ? draft.metadataField.trim() : null,
    requests_per_minute: numberOf(draft.requests),
    tokens_per_minute: numberOf(draft.tokens),
    concurrent_requests: numberOf(draft.concurrent),
  }
}
