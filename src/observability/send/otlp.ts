import { type CallEvent, flaggedOf, type Flags, timesOf, traceOf } from "../event.ts"
import type { CallContent } from "../call-content.ts"
import { isArray, isObject, type Json } from "../../support/json.ts"

/** Calls as OTLP/JSON: an ExportTraceServiceRequest with one span per call, with `gen_ai.*` attributes. Pure. */

type Value =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: Value[] } }
type Attribute = { key: string; value: Value }
export type Attributes = Record<string, unknown>

export const SERVICE = "edge-model-gateway"
const SPAN_KIND_CLIENT = 3
const STATUS_UNSET = 0
const STATUS_ERROR = 2

/** Attributes that a kind of destination reads besides the conventions, for the resource and for each span. */
export type Extras = { resource?: Attributes; span?: (event: CallEvent, flags: Flags) => Attributes }

export function toOtlp(events: readonly CallEvent[], flags: Flags, more: Extras = {}) {
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ "service.name": SERVICE, ...more.resource }) },
        scopeSpans: [{ scope: { name: SERVICE }, spans: events.map((event) => toSpan(event, flags, more)) }],
      },
    ],
  }
}

function toSpan(event: CallEvent, flags: Flags, { span }: Extras) {
  const { startedAt, endedAt } = timesOf(event)
  const { traceId, spanId, parentSpanId, name } = traceOf(event)
  const { ending, status } = event.generation
  const isFailure = ending !== "complete" && ending !== "cancelled"
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: SPAN_KIND_CLIENT,
    startTimeUnixNano: toNano(startedAt),
    endTimeUnixNano: toNano(endedAt),
    attributes: toAttributes({ ...attributesOf(event, flags), ...span?.(event, flags) }),
    status: isFailure
      ? { code: STATUS_ERROR, message: `The call ended as ${ending} (${status}).` }
      : { code: STATUS_UNSET },
  }
}

/** As a string: a 64-bit number has no place in JSON. */
function toNano(epochMs: number): string {
  return `${epochMs}000000`
}

function attributesOf(event: CallEvent, flags: Flags): Attributes {
  const { generation, content } = event
  const { tokens, sessionId } = generation
  const { operation, traceName, givenTraceId, metadata } = traceOf(event)
  const { cost, identity, context } = flaggedOf(event, flags)
  return {
    "gen_ai.operation.name": operation === "completions" ? "chat" : operation,
    "gen_ai.provider.name": generation.provider,
    "gen_ai.system": generation.provider,
    "gen_ai.request.model": generation.requestedModel,
    "gen_ai.response.model": generation.model,
    "gen_ai.response.id": generation.id,
    "gen_ai.response.finish_reasons": generation.finishReason === null ? null : [generation.finishReason],
    "gen_ai.usage.input_tokens": tokens.prompt,
    "gen_ai.usage.output_tokens": tokens.completion,
    "gen_ai.usage.cache_read.input_tokens": tokens.cached,
    "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
    "gen_ai.conversation.id": sessionId,
    "session.id": sessionId,
    "http.response.status_code": generation.status,
    "error.type": generation.ending === "complete" ? null : generation.ending,
    "gateway.event_id": event.id,
    "gateway.generation_id": generation.id,
    "gateway.request_id": generation.requestId,
    "gateway.region": generation.broadcast?.region ?? "global",
    "gateway.streamed": generation.streamed,
    "gateway.ending": generation.ending,
    "gateway.latency_ms": generation.latencyMs,
    "trace.name": traceName,
    "trace.id": givenTraceId,
    ...prefixed("trace.metadata", metadata),
    ...("total_cost" in cost && { "gen_ai.usage.cost": cost.total_cost, ...prefixed("gateway.cost", cost) }),
    ...("user_id" in identity && { "user.id": identity.user_id, ...prefixed("gateway.identity", identity) }),
    ...prefixed("gateway.context", context),
    ...(content && {
      "gen_ai.input.messages": JSON.stringify(content.input.map(toMessage)),
      "gen_ai.output.messages": JSON.stringify([toAnswer(content, generation.finishReason)]),
    }),
  }
}

export function prefixed(prefix: string, values: object): Attributes {
  const entries: [string, unknown][] = Object.entries(values)
  return Object.fromEntries(entries.map(([key, value]) => [`${prefix}.${key}`, value]))
}

/** A chat message in the shape of the OpenTelemetry conventions for generative AI. */
function toMessage(message: unknown): object {
  const { role, content, tool_calls: toolCalls }: Json = isObject(message) ? message : {}
  const parts = isArray(content) ? content.map(toPart) : []
  const spoken = typeof content === "string" ? [{ type: "text", content }] : parts
  const calls = isArray(toolCalls) ? toolCalls.map(toCallPart) : []
  return { role: typeof role === "string" ? role : "user", parts: [...spoken, ...calls] }
}

function toPart(part: unknown): object {
  const { type, text }: Json = isObject(part) ? part : {}
  return typeof text === "string"
    ? { type: "text", content: text }
    : { type: typeof type === "string" ? type : "unknown", content: part }
}

function toCallPart(call: unknown): object {
  const { id, function: called }: Json = isObject(call) ? call : {}
  const { name, arguments: input }: Json = isObject(called) ? called : {}
  return { type: "tool_call", id, name, arguments: input }
}

function toAnswer({ output }: CallContent, finishReason: string | null): object {
  const reasoning = output.reasoning === "" ? [] : [{ type: "reasoning", content: output.reasoning }]
  return {
    role: "assistant",
    parts: [...reasoning, { type: "text", content: output.content }],
    finish_reason: finishReason ?? "error",
  }
}

/** USD amounts are always doubles: collectors keep the type that came first. */
const COST = /(?:^|[._])cost$/

/** Drops attributes without a value. */
function toAttributes(values: Attributes): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const result = typeof value === "number" && COST.test(key) ? { doubleValue: value } : toValue(value)
    return result === undefined ? [] : [{ key, value: result }]
  })
}

function toValue(value: unknown): Value | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === "string")
  if (isTexts) return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
  return { stringValue: JSON.stringify(value) }
}
