import type { PriceList } from "../money/price-list.ts"

/** One model at one provider: the unit of routing. */
export type Endpoint = {
  /** Model id. */
  model: string
  /** Provider slug. */
  provider: string
  /** Id of the model at the provider. */
  upstreamId: string
  /** null: the price is unknown, so it is never routed to. */
  pricing: PriceList | null
  /** Tokens; 0 when unknown. */
  contextLength: number
  /** Tokens; null if the provider states no limit. */
  maxCompletionTokens: number | null
  supportedParameters: readonly string[]
  /** `fp8`, `int4` …; null if the provider does not state it. */
  quantization: string | null
  /** Stores nothing of a request. */
  zeroRetention: boolean
  /** May store or train on requests. */
  collectsData: boolean
  /** Added because the provider lists it. */
  discovered?: true
}

export type Model = {
  /** `author/slug`, with `:variant` if the variant is a separate model. */
  id: string
  /** For an alias in a list: the id of the model that it resolves to. */
  aliasOf?: string
  name: string
  description: string
  /** Unix seconds. */
  created: number
  contextLength: number
  inputModalities: readonly string[]
  outputModalities: readonly string[]
  tokenizer: string
  /** YYYY-MM-DD or null. */
  knowledgeCutoff: string | null
  /** Cheapest first; never empty in a served catalogue. */
  endpoints: readonly Endpoint[]
}

/** Models that this deployment can call, by id, each with the endpoints of configured providers. */
export type Catalogue = {
  models: ReadonlyMap<string, Model>
  /** Models without a configured provider, by lower-case id, with the slugs of their providers. */
  unconfigured?: ReadonlyMap<string, readonly string[]>
  /** Slugs of the providers that the operator has stopped. */
  disabled?: ReadonlySet<string>
}
