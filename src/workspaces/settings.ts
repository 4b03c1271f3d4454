/** What a workspace sets for its calls and its records, on the wire's names. Absent is the default, which is below. */
export type WorkspaceSettings = {
  default_text_model: string | null
  default_image_model: string | null
  default_provider_sort: ProviderSort | null
  disabled_server_tools: string[] | null
  io_logging_api_key_ids: number[] | null
  io_logging_sampling_rate: number
  is_data_discount_logging_enabled: boolean
  is_observability_broadcast_enabled: boolean
  is_observability_io_logging_enabled: boolean
}

export const PROVIDER_SORTS = ["price", "throughput", "latency", "exacto"] as const
export type ProviderSort = (typeof PROVIDER_SORTS)[number]

const DEFAULTS: WorkspaceSettings = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  disabled_server_tools: null,
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
}
export const SETTING_NAMES = Object.keys(DEFAULTS) as (keyof WorkspaceSettings)[]

/** The settings that a row keeps as JSON. */
export function toSettings(json: string | null): WorkspaceSettings {
  return { ...DEFAULTS, ...(JSON.parse(json ?? "{}") as Partial<WorkspaceSettings>) }
}

/** The settings in a body, as JSON to merge with what is kept; null takes a setting back to its default. */
export function toSettingsPatch(input: { [name in keyof WorkspaceSettings]?: unknown }): string {
  return JSON.stringify(Object.fromEntries(SETTING_NAMES.map((name) => [name, input[name]])))
}

/** What every call of a workspace's keys carries of its settings. */
export type CallDefaults = {
  textModel: string | null
  imageModel: string | null
  providerSort: ProviderSort | null
  /** Names of server tools without a prefix. */
  disabledTools: readonly string[]
}

export const NO_DEFAULTS: CallDefaults = { textModel: null, imageModel: null, providerSort: null, disabledTools: [] }

export function toCallDefaults(json: string | null): CallDefaults {
  if (json === null || json === "{}") return NO_DEFAULTS
  const settings = toSettings(json)
  return {
    textModel: settings.default_text_model,
    imageModel: settings.default_image_model,
    providerSort: settings.default_provider_sort,
    disabledTools: (settings.disabled_server_tools ?? []).map((tool) => tool.slice(tool.indexOf(":") + 1)),
  }
}
