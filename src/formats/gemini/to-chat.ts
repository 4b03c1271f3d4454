import { GatewayError } from "../../errors/errors.ts"
import type { Json } from "../../support/text/json.ts"
import { toJsonSchema } from "./json-schema.ts"
import { toMessages } from "./messages.ts"
import { GATEWAY_FIELD_NAMES, type GeminiRequest, type GenerationConfig } from "./schemas.ts"
import { toToolFields } from "./tools.ts"
import { withoutNulls } from "../../support/text/json.ts"

/**
 * Translates a request to the fields of the chat format, which the schema of a chat request still has to check. Safety
 * settings, and fields that only Google's service reads, are ignored.
 */
export function toChatFields(request: GeminiRequest): Json {
  const { generationConfig: config, serviceTier } = request
  const shared = Object.entries(request).filter(([name]) => GATEWAY_FIELD_NAMES.has(name))
  return {
    ...Object.fromEntries(shared),
    messages: toMessages(request),
    ...toToolFields(request),
    ...(config && toParameters(config)),
    ...(serviceTier && { service_tier: serviceTier.toLowerCase().replace(/^standard$/, "default") }),
  }
}

function toParameters(config: GenerationConfig): Json {
  return withoutNulls({
    stop: config.stopSequences?.length ? config.stopSequences : undefined,
    n: config.candidateCount,
    // Some model servers ignore the newer name.
    max_tokens: config.maxOutputTokens,
    temperature: config.temperature,
    top_p: config.topP,
    // Google's clients allow fractions.
    top_k: config.topK == null ? undefined : Math.round(config.topK),
    seed: config.seed,
    presence_penalty: config.presencePenalty,
    frequency_penalty: config.frequencyPenalty,
    logprobs: config.responseLogprobs,
    top_logprobs: config.logprobs,
    response_format: toResponseFormat(config),
    modalities: toModalities(config.responseModalities),
    reasoning: toReasoning(config.thinkingConfig),
  })
}

/** The chat format requires a name. */
const FORMAT_NAME = "response"

function toResponseFormat({ responseMimeType, responseSchema, responseJsonSchema }: GenerationConfig) {
  const schema = responseJsonSchema ?? (responseSchema ? toJsonSchema(responseSchema) : undefined)
  if (schema) return { type: "json_schema", json_schema: { name: FORMAT_NAME, schema } }
  return responseMimeType === "application/json" ? { type: "json_object" } : undefined
}

function toModalities(modalities: readonly string[] | null | undefined): string[] | undefined {
  if (!modalities || modalities.length === 0) return undefined
  return modalities.map((modality) => {
    const name = modality.toLowerCase()
    if (name === "text" || name === "image") return name
    throw new GatewayError("invalid_request", "generationConfig.responseModalities: accepts TEXT and IMAGE.")
  })
}

/** A budget of 0 disables reasoning, -1 lets the model choose. */
function toReasoning(thinking: GenerationConfig["thinkingConfig"]): Json | undefined {
  const { thinkingBudget: budget, thinkingLevel: level } = thinking ?? {}
  if (budget === 0) return { effort: "none" }
  if (level && level !== "THINKING_LEVEL_UNSPECIFIED") return { effort: level.toLowerCase() }
  if (budget == null) return undefined
  return budget < 0 ? { enabled: true } : { max_tokens: budget }
}
