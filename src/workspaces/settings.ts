import { type RateFields, toRateLimits } from "../ledger/rate-schemas.ts"
import type { RateLimits } from "../money/rate-limits.ts"
import type { Aliases } from "./alias.ts"
import { keysOf } from "../support/arrays.ts"

/** Settings of a workspace for calls and records, in API field names. Absent fields have the defaults below. */
export type WorkspaceSettings = {
  default_text_model: string | null
  default_image_model: string | null
  default_provider_sort: ProviderSort | null
  over_budget_models: string[] | null
  response_cache_seconds: number | null
  disabled_server_tools: string[] | null
  io_logging_api_key_ids: number[] | null
  io_logging_sampling_rate: number
  is_data_discount_logging_enabled: boolean
  is_observability_broadcast_enabled: boolean
  is_observability_io_logging_enabled: boolean
} & RateFields

export const PROVIDER_SORTS = ["price", "throughput", "latency", "exacto"] as const
export type ProviderSort = (typeof PROVIDER_SORTS)[number]

const DEFAULTS: WorkspaceSettings = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  over_budget_models: null,
  response_cache_seconds: null,
  disabled_server_tools: null,
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
}
export const SETTING_NAMES = keysOf(DEFAULTS)

/** The settings in a row's JSON. */
export function toSettings(json: string | null): WorkspaceSettings {
  const { aliases: _, ...settings } = JSON.parse(json ?? "{}") as Stored
  return { ...DEFAULTS, ...settings }
}

type Stored = Partial<WorkspaceSettings> & { aliases?: Aliases }

/** The model aliases of a row; null for none. */
export function aliasesOf(json: string | null): Aliases | null {
  const { aliases } = JSON.parse(json ?? "{}") as Stored
  return aliases && Object.keys(aliases).length > 0 ? aliases : null
}

/** The settings in a body, as JSON to merge into the stored ones; null restores a default. */
export function toSettingsPatch(input: { [name in keyof WorkspaceSettings]?: unknown }): string {
  return JSON.stringify(Object.fromEntries(SETTING_NAMES.map((name) => [name, input[name]])))
}

/** The workspace settings that apply to every call of its keys. */
export type CallDefaults = {
  textModel: string | null
  imageModel: string | null
  providerSort: ProviderSort | null
  /** Models to try if a limit rejects the requested ones. */
  overBudgetModels: readonly string[]
  aliases: Aliases | null
  /** Lifetime of cached responses; null if only requests that enable the cache use it. */
  responseCacheSeconds: number | null
  /** Names of server tools without a prefix. */
  disabledTools: readonly string[]
  /** Calls whose content is stored: a share of those of all keys, or of some by key number; null for none. */
  contentLogging: { rate: number; keyNumbers: readonly number[] | null } | null
  /** For all keys of the workspace together; null for none. */
  rates: RateLimits | null
}

export const NO_DEFAULTS: CallDefaults = {
  textModel: null,
  imageModel: null,
  providerSort: null,
  overBudgetModels: [],
  aliases: null,
  responseCacheSeconds: null,
  disabledTools: [],
  contentLogging: null,
  rates: null,
}

export function toCallDefaults(json: string | null): CallDefaults {
  if (json === null || json === "{}") return NO_DEFAULTS
  const settings = toSettings(json)
  return {
    textModel: settings.default_text_model,
    imageModel: settings.default_image_model,
    providerSort: settings.default_provider_sort,
    aliases: aliasesOf(json),
    responseCacheSeconds: settings.response_cache_seconds,
    overBudgetModels: settings.over_budget_models ?? [],
    contentLogging: settings.is_observability_io_logging_enabled
      ? { rate: settings.io_logging_sampling_rate, keyNumbers: settings.io_logging_api_key_ids }
      : null,
    rates: toRateLimits(settings),
    disabledTools: (settings.disabled_server_tools ?? []).map((tool) => tool.slice(tool.indexOf(":") + 1)),
  }
}

/** A key's number in io_logging_api_key_ids: the first 32 bits of its hash. */
export function keyNumber(hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16)
}

/** Whether the content of a call is stored. Deterministic for an id: its last 32 bits are random. */
export function storesContent(
  { contentLogging: logging }: CallDefaults,
  keyHash: string,
  generationId: string,
): boolean {
  if (!logging || (logging.keyNumbers !== null && !logging.keyNumbers.includes(keyNumber(keyHash)))) return false
  return Number.parseInt(generationId.slice(-8), 16) / 2 ** 32 < logging.rate
}
