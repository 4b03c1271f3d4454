import type { ProviderFormat } from "../formats/provider-format.ts"
import type { Cloud } from "./cloud/cloud.ts"

/** Static data of a provider: its names, its URL and how its key is sent. */
export type Provider = {
  /** Lower-case slug, as used in `provider.only` and in endpoints. */
  slug: string
  /** Display name in generations and in the list of providers. */
  name: string
  /** URL before `/chat/completions`, without a trailing slash. */
  baseUrl: string
  /** `openai`: the chat format; `anthropic`: the Messages format; `converse`: Bedrock's Converse API. */
  format: ProviderFormat
  /** Also supports the Responses format. */
  responses?: true
  /** Also supports legacy completions. `fim`: only between a prompt and a suffix, at `/fim/completions`. */
  completions?: "text" | "fim"
  /**
   * Regions of its processing, such as `europe` or `us`, for regional hostnames. Absent: unknown. `any`: all regions.
   */
  regions?: readonly string[]
  /** The key; undefined for a server without keys. Never logged or returned. */
  apiKey?: string
  /** All keys if there are several, which share the calls; `apiKey` is the first. */
  apiKeys?: readonly string[]
  /** How the key is sent; `authorization` means `Authorization: Bearer KEY`. */
  keyHeader: string
  /** Further headers of each request, such as the key of a gateway in front of the provider. */
  headers?: Readonly<Record<string, string>>
  /** Parameters of the query of each request, encoded: `api-version=2024-10-21`. */
  query?: string
  /** Fields of each JSON request that does not have them. */
  body?: Readonly<Record<string, unknown>>
  /** Reached over a service binding instead of the network. */
  embedded?: true
  quirks: Quirks
  /** Supports the OpenAI batch API. `pricePercent`: price of batch requests in percent. */
  batches?: { pricePercent: number }
  /** A cloud whose requests need more than a header with a key; `apiKey` is its credential. */
  cloud?: Cloud
}

/** Deviations of a provider from the chat format. Empty for none. */
export type Quirks = {
  /** The only field for the output limit that it accepts; absent: both are forwarded unchanged. */
  maxTokensField?: "max_tokens" | "max_completion_tokens"
  /** Rejects `stream_options` with 400. */
  noStreamOptions?: true
  /** Rejects fields outside the OpenAI format with 400; reads `reasoning_effort`, not a `reasoning` object. */
  isStrict?: true
  /** The field of a message for the reasoning of earlier turns; by default `reasoning_content`, or none if strict. */
  reasoningField?: "reasoning" | "reasoning_content"
  /** Rejects a turn of the assistant without reasoning. */
  requiresReasoning?: true
  /** Reads `thinking.type` instead of the effort `none`. */
  hasThinkingSwitch?: true
  /** Accepts the role `developer`, and several messages with instructions. */
  takesDeveloper?: boolean
  /** Rejects content that is null or in parts, unless a part is no text. */
  needsStringContent?: true
  /** Accepts images and files in the result of a tool. */
  takesToolMedia?: true
  /** Rejects a tool call of an earlier turn without the signature of its models, from Gemini 3 on. */
  signsCalls?: true
  /** Rejects requests of some models in the chat format, which it accepts in the Responses format. */
  needsResponses?: true
  /** Rejects parameters of sampling for models that reason. */
  samplesWithoutReasoning?: true
  /** Fields of the OpenAI format that it rejects with 400. */
  rejects?: readonly string[]
  /**
   * `path`: below the base URL, if it is not `/rerank`. `takesTextOnly`: rejects documents that are objects.
   * `documentsField`: its name of `documents`.
   */
  rerank?: { path?: string; takesTextOnly: true; documentsField?: "texts" }
  /** The name of `seed`. */
  seedField?: "random_seed"
}

/** The default header for the key of an API format. */
export function keyHeaderOf(format: ProviderFormat): string {
  return format === "anthropic" ? "x-api-key" : "authorization"
}

/** Key fields of a provider, without duplicate keys. */
export function toKeys(keys: readonly string[]): Pick<Provider, "apiKey" | "apiKeys"> {
  const [apiKey, ...others] = new Set(keys)
  if (apiKey === undefined) return {}
  return others.length > 0 ? { apiKey, apiKeys: [apiKey, ...others] } : { apiKey }
}

/** The URL of a request; `path` starts with a slash and may have a query. */
export function providerUrl({ baseUrl, query }: Pick<Provider, "baseUrl" | "query">, path: string): string {
  if (query === undefined) return baseUrl + path
  return `${baseUrl}${path}${path.includes("?") ? "&" : "?"}${query}`
}

/** Names of headers and parameters whose values are secret. */
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential/i

/** The secrets of a request besides its key. */
export function furtherSecrets({ headers = {}, query }: Pick<Provider, "headers" | "query">): string[] {
  return [...Object.entries(headers), ...new URLSearchParams(query)].flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== "" ? [value.replace(/^(?:Bearer|Basic) /i, "")] : [],
  )
}

/** Whether calls that must stay in `region` may use the provider. */
export function isInRegion({ regions }: Provider, region: string): boolean {
  return regions?.some((one) => one === region || one === "any") ?? false
}
