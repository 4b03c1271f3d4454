import type { Generation } from "../../ledger/generation.ts"

/**
 * Names and values of the OpenTelemetry conventions for generative AI, version 1.41.0: the last with its own schema
 * URL. A test compares the attributes with its registry.
 */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"

/** Providers that the registry names; others keep their name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "Amazon Bedrock": "aws.bedrock",
  Anthropic: "anthropic",
  Azure: "azure.ai.openai",
  Cohere: "cohere",
  DeepSeek: "deepseek",
  "Google AI Studio": "gcp.gemini",
  "Google Vertex": "gcp.vertex_ai",
  Groq: "groq",
  Mistral: "mistral_ai",
  OpenAI: "openai",
  Perplexity: "perplexity",
  xAI: "x_ai",
}

export function toProviderName(provider: string | null): string | null {
  return provider === null ? null : (PROVIDERS[provider] ?? provider)
}

const OPERATIONS: Readonly<Record<Generation["apiType"], string>> = {
  completions: "chat",
  embeddings: "embeddings",
  rerank: "rerank",
  decisions: "moderation",
  image: "generate_content",
  tts: "generate_content",
  stt: "generate_content",
  video: "generate_content",
  realtime: "chat",
}

export function operationOf({ apiType, broadcast }: Pick<Generation, "apiType" | "broadcast">): string {
  return broadcast?.isToolRun ? "execute_tool" : OPERATIONS[apiType]
}

/** The kind of output that a request specifies; null if it specifies none. */
export function outputTypeOf({ apiType, broadcast }: Pick<Generation, "apiType" | "broadcast">): string | null {
  if (apiType === "image") return "image"
  if (apiType === "tts") return "speech"
  return broadcast?.parameters?.output ?? null
}

/** An error code, or how the call ended: a short list of values. */
export function errorTypeOf({ ending, error, attempts }: Pick<Generation, "ending" | "error" | "attempts">) {
  return ending === "complete" ? null : (error?.code ?? attempts.at(-1)?.error?.code ?? ending)
}

/** Attributes that are doubles even if their value is an integer: collectors keep the type of the first value. */
const DOUBLES = new Set([
  "gen_ai.request.temperature",
  "gen_ai.request.top_p",
  "gen_ai.request.top_k",
  "gen_ai.request.frequency_penalty",
  "gen_ai.request.presence_penalty",
  "gen_ai.response.time_to_first_chunk",
])
const COST = /(?:^|[._])cost$/

export function isDouble(key: string): boolean {
  return DOUBLES.has(key) || COST.test(key)
}
