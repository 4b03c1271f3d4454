import type { ProviderFormat } from "../formats/provider-format.ts"
import type { Cloud } from "./cloud/cloud.ts"

/** What is known of a provider before any call: where it is, how it wants its key, what it is called. */
export type Provider = {
  /** Lower-case slug, as callers name it in `provider.only` and as endpoints refer to it. */
  slug: string
  /** Display name, as generation records and the provider list show it. */
  name: string
  /** Ends before `/chat/completions`, without a trailing slash. */
  baseUrl: string
  /** `openai`: the OpenAI chat wire; `anthropic`: the Messages wire; `converse`: Bedrock's Converse API. */
  format: ProviderFormat
  /** Speaks the OpenAI Responses wire as well. */
  responses?: true
  /**
   * Where it works: `europe`, `us` …; a regional hostname uses no other. Absent: nothing is known. `any`: everywhere.
   */
  regions?: readonly string[]
  /** The key, or undefined for a server that takes none. Never logged, never in an answer. */
  apiKey?: string
  /** All its keys where it has several, which share the calls; `apiKey` is the first. */
  apiKeys?: readonly string[]
  /** How the key is sent; `authorization` means `Authorization: Bearer KEY`. */
  keyHeader: string
  /** Reached over a service binding instead of the network. */
  embedded?: true
  quirks: Quirks
  /** Has batches in the form of the OpenAI API, whose requests cost this share of its prices. */
  batches?: { pricePercent: number }
  /** A cloud whose requests need more than a header with a key; `apiKey` is its credential. */
  cloud?: Cloud
}

/** How a provider's dialect differs from the contract. Empty means: it does not. */
export type Quirks = {
  /** The one spelling of the output limit it takes; absent: both are forwarded as they came. */
  maxTokensField?: "max_tokens" | "max_completion_tokens"
  /** Answers 400 to `stream_options`. */
  noStreamOptions?: true
  /** Answers 400 to fields that the OpenAI wire does not have; reads `reasoning_effort`, not a `reasoning` object. */
  isStrict?: true
}

/** The default header for the key of an API format. */
export function keyHeaderOf(format: ProviderFormat): string {
  return format === "anthropic" ? "x-api-key" : "authorization"
}

/** Keys of a provider as its fields; a key that is given twice counts once. */
export function toKeys(keys: readonly string[]): Pick<Provider, "apiKey" | "apiKeys"> {
  const [apiKey, ...others] = new Set(keys)
  if (apiKey === undefined) return {}
  return others.length > 0 ? { apiKey, apiKeys: [apiKey, ...others] } : { apiKey }
}

/** Whether calls that must stay in `region` may go there. */
export function isInRegion({ regions }: Provider, region: string): boolean {
  return regions?.some((one) => one === region || one === "any") ?? false
}
