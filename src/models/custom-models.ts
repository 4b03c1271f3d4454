import type { CustomProvider } from "../providers/custom.ts"
import type { Endpoint, Model } from "./catalogue.ts"
import type { PriceList } from "../money/price-list.ts"
import { PRICE_NAMES } from "../money/pricing.ts"

/** For models outside the database: they depend on the configuration. */
export const MODEL_DEFAULTS = {
  created: 0,
  inputModalities: ["text"],
  outputModalities: ["text"],
  tokenizer: "Other",
  knowledgeCutoff: null,
} as const

/** Parameters that any OpenAI-compatible server accepts; support for others is unknown. */
export const COMMON_PARAMETERS = [
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
]
export const TOOL_PARAMETERS = ["tools", "tool_choice", "parallel_tool_calls"]
export const FORMAT_PARAMETERS = ["response_format", "structured_outputs"]

/**
 * The models of a custom provider, by the id that clients use: the configured one, or `slug/id`. Providers with the
 * same id are endpoints of one model. Without both configured prices there is no price; `completion` may be omitted
 * where there are no completion tokens.
 */
export function toCustomModels(provider: CustomProvider): Model[] {
  return provider.models.map((custom) => {
    const id = custom.model ?? `${provider.slug}/${custom.id}`
    const contextLength = custom.context_length ?? 0
    const endpoint: Endpoint = {
      model: id,
      provider: provider.slug,
      upstreamId: custom.id,
      pricing: toPricing(custom),
      contextLength,
      maxCompletionTokens: custom.max_completion_tokens ?? null,
      supportedParameters: [...COMMON_PARAMETERS, ...TOOL_PARAMETERS, ...FORMAT_PARAMETERS],
      quantization: null,
      zeroRetention: provider.zero_retention,
      collectsData: provider.collects_data,
    }
    const name = custom.name ?? `${provider.name ?? provider.slug}: ${custom.id}`
    return {
      ...MODEL_DEFAULTS,
      id,
      name,
      description: "",
      contextLength,
      ...(custom.input && { inputModalities: custom.input }),
      ...(custom.output && { outputModalities: custom.output }),
      endpoints: [endpoint],
    }
  })
}

/** Outputs that have no completion tokens. */
const WITHOUT_COMPLETION: ReadonlySet<string> = new Set(["embeddings", "rerank"])

function toPricing(custom: CustomProvider["models"][number]): PriceList | null {
  const hasNoCompletion = custom.output?.every((output) => WITHOUT_COMPLETION.has(output)) ?? false
  const { prompt, completion = hasNoCompletion ? "0" : undefined } = custom
  if (prompt === undefined || completion === undefined) return null
  const names = [...PRICE_NAMES, "overrides"] as const
  const others = names.map((name) => [name, custom[name]]).filter(([, price]) => price !== undefined)
  return { ...Object.fromEntries(others), prompt, completion }
}
