export const PROVIDER_FORMATS = ["openai", "anthropic"] as const

export type ProviderFormat = (typeof PROVIDER_FORMATS)[number]
