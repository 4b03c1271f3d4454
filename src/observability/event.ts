import type { Settled } from "../ledger/generation.ts"
import { nanoToUsd } from "../money/money.ts"
import { derivedId, uuidOf } from "../support/ids.ts"
import { sha256Hex } from "../support/text/encoding.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { DestinationRow } from "./destination.ts"
import type { Facts } from "./filter.ts"
import type { CallContent } from "./call-content.ts"
import { toTurnRow, type TurnEvent } from "./turn.ts"
import { errorTypeOf, operationOf } from "./send/conventions.ts"
import { toResponseText, toDefinitions, toToolCalls } from "./send/messages.ts"

/** One call as it is exported to a destination. Pure. */
export type CallEvent = {
  /** Deterministic for a call and a destination, so that receivers can deduplicate. */
  id: string
  generation: Settled
  keyName: string | null
  /** Content of the call; null if it was not stored or may not be exported. */
  content: CallContent | null
}

/** One record of a delivery. */
export type ExportEvent = CallEvent | TurnEvent

export function isTurn(event: ExportEvent): event is TurnEvent {
  return "turn" in event
}

/** The id of the generation or turn of an event. */
export function recordIdOf(event: ExportEvent): string {
  return isTurn(event) ? event.turn.id : event.generation.id
}

export function newEvent(
  destinationId: string,
  generation: Settled,
  keyName: string | null,
  content: CallContent | null,
): CallEvent {
  return { id: derivedId("broadcast", destinationId, generation.id), generation, keyName, content }
}

/** Fields of a call for the filter rules of a destination. */
export function factsOf({ generation, keyName, content }: Omit<CallEvent, "id">): Facts {
  const { tokens } = generation
  return {
    model: generation.model,
    provider: generation.provider,
    session_id: generation.sessionId,
    user_id: generation.broadcast?.user ?? null,
    api_key_name: keyName,
    finish_reason: generation.finishReason,
    input: content && JSON.stringify(content.input),
    output: content && (content.output.content || content.output.refusal || ""),
    total_cost: nanoToUsd(generation.costNano),
    total_tokens: tokens.prompt + tokens.completion,
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
  }
}

const TRACE_HEX = 32
const SPAN_HEX = 16

/** `trace` of a request: the keys with a meaning, and all others. */
export function traceOf({ generation }: CallEvent) {
  const { trace_id, trace_name, span_name, generation_name, parent_span_id, ...metadata } =
    generation.broadcast?.trace ?? {}
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)
  const traceId = text(trace_id)
  const parent = text(parent_span_id)
  const first = generation.broadcast?.parentId
  const operation = operationOf(generation)
  return {
    /** 32 hex digits. Without a trace id in the request, all calls of the request share one. */
    traceId: traceId === null ? uuidOf(generation.requestId) : toHexId(traceId, TRACE_HEX),
    /** 16 hex digits, of the generation. */
    spanId: spanIdOf(generation.id),
    parentSpanId: first === undefined ? (parent === null ? null : toHexId(parent, SPAN_HEX)) : spanIdOf(first),
    givenTraceId: traceId,
    traceName: text(trace_name),
    name: text(generation_name) ?? text(span_name) ?? `${operation} ${generation.model}`,
    metadata,
  }
}

const spanIdOf = (generationId: string) => sha256Hex(generationId).slice(0, SPAN_HEX)

/** Keeps valid trace and span ids, including UUIDs; hashes any other text. */
function toHexId(text: string, length: number): string {
  const bare = text.replaceAll("-", "").toLowerCase()
  const isId = new RegExp(`^[0-9a-f]{${length}}$`).test(bare) && !/^0+$/.test(bare)
  return isId ? bare : sha256Hex(text).slice(0, length)
}

/** Epoch milliseconds. */
export function timesOf({ generation }: CallEvent): { startedAt: number; endedAt: number } {
  const { createdAt, settledAt, latencyMs, generationMs } = generation
  const endedAt = latencyMs === null ? settledAt : createdAt + latencyMs + (generationMs ?? 0)
  return { startedAt: createdAt, endedAt: Math.max(createdAt, endedAt) }
}

export type Flags = Pick<
  DestinationRow,
  "broadcast_generation_cost" | "broadcast_generation_identity" | "broadcast_generation_request_context"
>

/** Cost, identity and request context of a call, each only if the destination enables it. */
export function flaggedFields({ generation, keyName }: CallEvent, flags: Flags) {
  return {
    cost: flags.broadcast_generation_cost
      ? {
          total_cost: nanoToUsd(generation.costNano),
          upstream_cost: generation.isByok ? nanoToUsd(generation.byokCostNano) : null,
          is_byok: generation.isByok,
        }
      : {},
    identity: flags.broadcast_generation_identity
      ? {
          user_id: generation.broadcast?.user ?? null,
          api_key_name: keyName,
          api_key_hash: generation.keyHash,
          workspace_id: generation.workspaceId,
          organization_id: generation.organizationId,
        }
      : {},
    context: flags.broadcast_generation_request_context
      ? { app_title: generation.appTitle, app_url: generation.appUrl, user_agent: generation.userAgent }
      : {},
  }
}

/** A call or a turn as one flat row, for destinations that store rows. */
export function toRow(event: ExportEvent, flags: Flags): Record<string, unknown> {
  return isTurn(event) ? toTurnRow(event, flags) : toCallRow(event, flags)
}

function toCallRow(event: CallEvent, flags: Flags): Record<string, unknown> {
  const { generation, content } = event
  const { tokens } = generation
  const { startedAt, endedAt } = timesOf(event)
  const trace = traceOf(event)
  const { cost, identity, context } = flaggedFields(event, flags)
  return {
    event_id: event.id,
    generation_id: generation.id,
    request_id: generation.requestId,
    trace_id: trace.traceId,
    span_id: trace.spanId,
    parent_span_id: trace.parentSpanId,
    trace_name: trace.traceName,
    name: trace.name,
    started_at: toTimestamp(startedAt),
    ended_at: toTimestamp(endedAt),
    api_type: generation.apiType,
    model: generation.model,
    requested_model: generation.requestedModel,
    provider: generation.provider,
    region: generation.broadcast?.region ?? "global",
    session_id: generation.sessionId,
    streamed: generation.streamed,
    status: generation.status,
    ending: generation.ending,
    finish_reason: generation.finishReason,
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    total_tokens: tokens.prompt + tokens.completion,
    reasoning_tokens: tokens.reasoning,
    cached_tokens: tokens.cached,
    cache_write_tokens: tokens.cacheWrite,
    error_type: errorTypeOf(generation),
    parameters: JSON.stringify(generation.broadcast?.parameters ?? {}),
    attempts: JSON.stringify(generation.attempts),
    guardrails: JSON.stringify(generation.guardrails ?? []),
    latency_ms: generation.latencyMs,
    generation_ms: generation.generationMs,
    ...cost,
    ...identity,
    ...context,
    input: content && JSON.stringify(content.input),
    output: content && toResponseText(content),
    reasoning: content && content.output.reasoning,
    refusal: content && (content.output.refusal ?? null),
    tool_calls: content && JSON.stringify(toToolCalls(content)),
    tools: content && JSON.stringify(toDefinitions(content)),
    metadata: JSON.stringify(trace.metadata),
  }
}
