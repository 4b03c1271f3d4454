import type { Json } from "../../../support/text/json.ts"
import type { UpstreamFields } from "../../upstream.ts"
import type { ChatRequest } from "../../schemas.ts"
import { markLastBlock } from "./breakpoint.ts"
import { type Block, invalidField } from "./content.ts"
import { toOutputSchema } from "./output-schema.ts"
import { type Traits, traitsOf } from "./models.ts"
import { toEffort, toMaxTokens, toThinking, reasoningRequestOf } from "./thinking.ts"
import { isForced, toTools } from "./tools.ts"
import { canThink, toTurns } from "./turns.ts"
import { withoutNulls } from "../../../support/text/json.ts"

/** API version sent upstream. */
export const ANTHROPIC_HEADERS: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" }

/** The Messages API has JSON schemas only, so `json_object` becomes an instruction to the model. */
const JSON_ONLY_INSTRUCTION =
  "Answer with one valid JSON object and nothing else: no words before or after it, and no code fence."

/** The part of a request that does not depend on the model. */
export type Conversation = ReturnType<typeof toConversation>

/** Throws a GatewayError for a request that the Messages API cannot express. */
export function toConversation(request: ChatRequest) {
  const { system, turns } = toTurns(request)
  const tools = toTools(request)
  const { format, sentence } = toFormat(request.response_format)
  return { instructions: sentence === undefined ? system : [...system, sentence], turns, tools, format }
}

/**
 * The body for a provider of the Messages format. Contains only known fields, since the API rejects unknown ones.
 */
export function toMessagesBody(
  request: ChatRequest,
  outgoing: UpstreamFields,
  { instructions, turns, tools, format }: Conversation = toConversation(request),
): Json {
  const traits = traitsOf(outgoing.upstreamId)
  const reasoning = reasoningRequestOf(request)
  const maxTokens = toMaxTokens(request, reasoning, traits, outgoing.maxCompletionTokens)
  const canBudget = canThink(turns) && !isForced(tools["tool_choice"])
  const { thinking, effort } = toThinking(reasoning, maxTokens, traits, canBudget)
  // Explicit mode caches only blocks with a breakpoint of the client.
  const mark = request.prompt_cache_options ? undefined : request.cache_control
  const marked = markLastBlock({ system: instructions, turns }, mark, tools["tools"])
  const config = withoutNulls({ effort: effort ?? toVerbosity(request, traits), format })
  return {
    model: outgoing.upstreamId,
    max_tokens: maxTokens,
    ...(instructions.length > 0 && { system: marked.system }),
    messages: marked.turns,
    ...tools,
    ...withoutNulls({
      thinking,
      ...toSampling(request, traits, thinking !== undefined && thinking["type"] !== "disabled"),
      stop_sequences: toStops(request.stop),
      service_tier: toServiceTier(request.service_tier),
      metadata: outgoing.pseudonym === undefined ? undefined : { user_id: outgoing.pseudonym },
      output_config: Object.keys(config).length > 0 ? config : undefined,
    }),
    stream: request.stream,
  }
}

function toFormat(format: ChatRequest["response_format"]): { format?: Json; sentence?: Block } {
  if (format == null || format.type === "text") return {}
  if (format.type === "json_schema" && format.json_schema.schema) {
    return { format: { type: "json_schema", schema: toOutputSchema(format.json_schema.schema) } }
  }
  if (format.type === "json_object" || format.type === "json_schema") {
    return { sentence: { type: "text", text: JSON_ONLY_INSTRUCTION } }
  }
  const content = `${format.type} is not supported by this provider; use text, json_object or json_schema`
  throw invalidField("response_format.type", content)
}

/**
 * The chat temperature goes up to 2, the Messages temperature to 1. With thinking, models accept neither a temperature
 * nor `top_k`, and only high values of `top_p`.
 */
function toSampling(request: ChatRequest, traits: Traits, isThinking: boolean): Json {
  if (!traits.samples) return {}
  const { temperature, top_p: topP, top_k: topK } = request
  if (isThinking) return { top_p: topP != null && topP >= 0.95 ? topP : undefined }
  return {
    temperature: temperature == null ? undefined : Math.min(1, temperature),
    top_p: temperature != null && traits.samplesOneWay ? undefined : topP,
    // In the chat format, 0 and -1 mean no limit.
    top_k: topK != null && topK > 0 ? topK : undefined,
  }
}

function toStops(stop: ChatRequest["stop"]): string[] | undefined {
  const stops = (typeof stop === "string" ? [stop] : (stop ?? [])).filter((sequence) => sequence !== "")
  return stops.length > 0 ? stops : undefined
}

function toServiceTier(tier: ChatRequest["service_tier"]): string | undefined {
  if (tier === "auto") return "auto"
  return tier === "default" ? "standard_only" : undefined
}

/** Maps `verbosity` to the effort, which also controls the output length. */
function toVerbosity(request: ChatRequest, traits: Traits): string | undefined {
  const { verbosity }: Json = request
  return typeof verbosity === "string" && traits.efforts.length > 0 ? toEffort(verbosity, traits) : undefined
}
