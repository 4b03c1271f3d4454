/** What a server of the operator's own may have. */
export const CUSTOM_FORMATS = ["openai", "anthropic"] as const

/** `converse`: the Converse API of Amazon Bedrock. */
export type ProviderFormat = (typeof CUSTOM_FORMATS)[number] | "converse"
