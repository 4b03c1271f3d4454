export const PROVIDER_WIRES = ["openai", "anthropic"] as const

export type ProviderWire = (typeof PROVIDER_WIRES)[number]
