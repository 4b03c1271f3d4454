import type { Pricing } from "../money/pricing.ts"

/** One provider's offer of one model: what routing chooses between. */
export type Endpoint = {
  /** Model id. */
  model: string
  /** Provider slug. */
  provider: string
  /** What the provider calls the model. */
  upstreamId: string
  /** null: no price is known, so it is never routed to. */
  pricing: Pricing | null
  /** Tokens; 0 when unknown. */
  contextLength: number
  /** Tokens; null when the provider states no limit. */
  maxCompletionTokens: number | null
  supportedParameters: readonly string[]
  /** `fp8`, `int4` …; null when the provider does not say. */
  quantization: string | null
  /** Keeps nothing of a request. */
  zeroRetention: boolean
  /** May keep or train on what it is sent. */
  collectsData: boolean
  /** It is here because the provider lists it. */
  discovered?: true
}

export type Model = {
  /** `author/slug`, with `:variant` where the variant is a model of its own. */
  id: string
  /** Of an alias in a list: the id of the model that it stands for. */
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
  /** Cheapest first; never empty in a catalogue that is served. */
  endpoints: readonly Endpoint[]
}

/** What this deployment can call: models by id, each with the endpoints whose provider is configured. */
export type Catalogue = {
  models: ReadonlyMap<string, Model>
  /** Models that no configured provider has, by id in lower case, with the slugs of the providers that have them. */
  unconfigured?: ReadonlyMap<string, readonly string[]>
  /** Slugs of the providers that the operator has stopped. */
  disabled?: ReadonlySet<string>
}
