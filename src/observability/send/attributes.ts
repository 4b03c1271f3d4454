import { type CallEvent, flaggedFields, type Flags, traceOf } from "../event.ts"
import { errorTypeOf, operationOf, outputTypeOf, toProviderName } from "./conventions.ts"
import { toDefinitions, toInputMessages, toOutputMessage, toResponseText } from "./messages.ts"

export type Attributes = Record<string, unknown>

const MS_PER_SECOND = 1_000

/** Attributes of a call by the conventions, and those of the gateway. Null values are omitted. */
export function attributesOf(event: CallEvent, flags: Flags): Attributes {
  const { generation } = event
  const { sessionId } = generation
  const { traceName, givenTraceId, metadata } = traceOf(event)
  const { cost, identity, context } = flaggedFields(event, flags)
  const isToolRun = generation.broadcast?.isToolRun === true
  return {
    "gen_ai.operation.name": operationOf(generation),
    "gen_ai.provider.name": toProviderName(generation.provider),
    "gen_ai.conversation.id": sessionId,
    ...(isToolRun ? { "gen_ai.tool.name": generation.model, "gen_ai.tool.type": "extension" } : modelAttributes(event)),
    "session.id": sessionId,
    "http.response.status_code": generation.status,
    "error.type": errorTypeOf(generation),
    "gateway.event_id": event.id,
    "gateway.generation_id": generation.id,
    "gateway.request_id": generation.requestId,
    "gateway.region": generation.broadcast?.region ?? "global",
    "gateway.provider": generation.provider,
    "gateway.streamed": generation.streamed,
    "gateway.ending": generation.ending,
    "gateway.latency_ms": generation.latencyMs,
    "gateway.attempts": generation.attempts.length,
    "trace.name": traceName,
    "trace.id": givenTraceId,
    ...withPrefix("trace.metadata", metadata),
    ...("total_cost" in cost && { "gen_ai.usage.cost": cost.total_cost, ...withPrefix("gateway.cost", cost) }),
    ...("user_id" in identity && { "user.id": identity.user_id, ...withPrefix("gateway.identity", identity) }),
    ...withPrefix("gateway.context", context),
    ...contentAttributes(event),
  }
}

function modelAttributes({ generation }: CallEvent): Attributes {
  const { tokens, latencyMs, streamed, finishReason, broadcast } = generation
  const { choices, stop, max_tokens: maxTokens, effort, ...sampling } = broadcast?.parameters ?? {}
  const { output: _, ...request } = sampling
  return {
    "gen_ai.request.model": generation.requestedModel,
    "gen_ai.request.stream": streamed,
    ...withPrefix("gen_ai.request", request),
    "gen_ai.request.max_tokens": maxTokens,
    "gen_ai.request.choice.count": choices === 1 ? null : choices,
    "gen_ai.request.stop_sequences": stop,
    "gateway.request.reasoning_effort": effort,
    "gen_ai.output.type": outputTypeOf(generation),
    "gen_ai.response.model": generation.model,
    "gen_ai.response.id": generation.id,
    "gen_ai.response.finish_reasons": finishReason === null ? null : [finishReason],
    "gen_ai.response.time_to_first_chunk": streamed && latencyMs !== null ? latencyMs / MS_PER_SECOND : null,
    "gen_ai.usage.input_tokens": tokens.prompt,
    "gen_ai.usage.output_tokens": tokens.completion,
    "gen_ai.usage.cache_read.input_tokens": tokens.cached,
    "gen_ai.usage.cache_creation.input_tokens": tokens.cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
  }
}

function contentAttributes({ generation, content }: CallEvent): Attributes {
  if (!content) return {}
  const definitions = toDefinitions(content)
  const { ending, finishReason } = generation
  // Images, audio and embeddings: their output is no text.
  const isWithoutText = ending === "complete" && finishReason === null && toResponseText(content) === ""
  return {
    "gen_ai.input.messages": JSON.stringify(toInputMessages(content)),
    ...(!isWithoutText && { "gen_ai.output.messages": JSON.stringify([toOutputMessage(content, finishReason)]) }),
    ...(definitions.length > 0 && { "gen_ai.tool.definitions": JSON.stringify(definitions) }),
  }
}

export function withPrefix(prefix: string, values: object): Attributes {
  const entries: [string, unknown][] = Object.entries(values)
  return Object.fromEntries(entries.map(([key, value]) => [`${prefix}.${key}`, value]))
}
