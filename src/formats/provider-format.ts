/** API formats for custom providers. */
export const CUSTOM_FORMATS = ["openai", "anthropic"] as const

/** `converse`: the Converse API of Amazon Bedrock. */
export type ProviderFormat = (typeof CUSTOM_FORMATS)[number] | "converse"
