import { normalizeLogprobs } from "../logprobs.ts"
import {
  callsIn,
  choiceIndex,
  withoutMessage,
  flattenContent,
  growthOf,
  documentMessageOf,
  toFinishReason,
  withReasoning,
} from "./provider-spellings.ts"
import { isPrompted, usesFunctions } from "./prompted.ts"
import { newThinkState, type ThinkState, withoutThinkTags, withoutThinkTagsInMessage } from "./think-tags.ts"
import { normalizeCallDeltas, normalizeCalls, restOfCalls, type SeenCall } from "./normalize-calls.ts"
import { type Reasoned, withReasoningOfDetails, withReasoningOfDetailsInMessage } from "./reasoning-fields.ts"
import { isArray, isObject, type Json } from "../../../support/text/json.ts"

/**
 * Normalizes provider output that strict chat clients reject. A conforming chunk is returned unchanged, so that its
 * original bytes can be sent.
 */

export type ChunkDefaults = {
  /** Like `model`, the same in all chunks of a stream. */
  id: string
  /** The gateway's model name. */
  model: string
  created: number
  /** The tool calls so far, for providers with wrong or missing indexes. */
  calls: SeenCall[]
  /** Started choices with their finish reason. The first delta must have a role, and one chunk the finish reason. */
  begun?: Map<number, string | null>
  /** The choices with content in deltas. */
  withDeltas?: Set<number>
  /** Reasoning in the content of each choice. */
  thoughts?: Map<number, ThinkState>
  reasoned?: Reasoned
  /** The request that the provider received. */
  upstreamBody?: Json
}

/** Fields of the gateway. A provider that is a gateway too may send its own. */
const GATEWAY_FIELDS = ["service_metadata", "openrouter_metadata"] as const

/** A provider's response in any format without them; the same object if it has none. */
export function withoutGatewayFields(response: Json): Json {
  if (GATEWAY_FIELDS.every((key) => !(key in response))) return response
  const { service_metadata: _, openrouter_metadata: _openrouter, ...rest } = response
  return rest
}

/** Normalizes a chunk; returns the same object if it already conforms. */
export function normalizeChunk(chunk: Json, defaults: ChunkDefaults): Json {
  const fixed: Json = { ...chunk }
  let changed = false
  const set = (key: string, value: unknown) => {
    fixed[key] = value
    changed = true
  }
  const drop = (key: string) => {
    delete fixed[key]
    changed = true
  }
  if (chunk["object"] !== "chat.completion.chunk") set("object", "chat.completion.chunk")
  if (chunk["id"] !== defaults.id) set("id", defaults.id)
  if (chunk["model"] !== defaults.model) set("model", defaults.model)
  if (!Number.isSafeInteger(chunk["created"])) set("created", toInteger(chunk["created"]) ?? defaults.created)
  if ("system_fingerprint" in chunk && typeof chunk["system_fingerprint"] !== "string") drop("system_fingerprint")
  if ("usage" in chunk && !isUsage(chunk["usage"])) drop("usage")
  if ("error" in chunk && chunk["error"] === null) drop("error")
  if ("service_tier" in chunk && !isTextOrNull(chunk["service_tier"])) drop("service_tier")
  for (const key of GATEWAY_FIELDS) if (key in chunk) drop(key)
  if (!Array.isArray(chunk["choices"])) set("choices", [])
  else {
    const choices = chunk["choices"] as unknown[]
    const normal = choices.map((choice, index) => normalizeChoice(choice, index, defaults))
    if (normal.some((choice, index) => choice !== choices[index])) set("choices", normal)
  }
  return changed ? fixed : chunk
}

function normalizeChoice(choice: unknown, position: number, defaults: ChunkDefaults): unknown {
  const { calls, begun, withDeltas = new Set() } = defaults
  if (!isObject(choice)) return { index: position, delta: {}, finish_reason: null }
  const index = choiceIndex(choice, position)
  const reported = growthOf(choice, index, withDeltas)
  const normalized = reported ? normalizeDelta(reported, index, defaults) : {}
  const isFirst = begun !== undefined && !begun.has(index)
  const begin = isFirst && !("role" in normalized) ? { role: "assistant", ...normalized } : normalized
  const reason = finishReasonOf(
    choice,
    calls.some((call) => call.choice === index),
  )
  const finishReason = reason === begun?.get(index) ? null : reason
  begun?.set(index, reason ?? begun.get(index) ?? null)
  const untagged = withoutTags(begin, defaults, index, reason)
  const rest = finishReason === null ? [] : restOfCalls({ seen: calls, choice: index }, finishReason === "tool_calls")
  const delta = withCalls(untagged, rest)
  const logprobs = logprobsOf(choice)
  const isNormal = delta === choice["delta"] && index === choice["index"] && logprobs === choice["logprobs"]
  if (isNormal && finishReason === choice["finish_reason"] && !("message" in choice)) return choice
  const normal: Json = {
    ...withoutMessage(choice),
    index,
    delta,
    finish_reason: finishReason,
    ...nativeReasonOf(choice, finishReason),
  }
  return withLogprobs(normal, logprobs)
}

function withoutTags(
  delta: Json,
  { thoughts, upstreamBody }: ChunkDefaults,
  choice: number,
  reason: string | null,
): Json {
  if (!thoughts) return delta
  const state = thoughts.get(choice) ?? newThinkState((tag) => isPrompted(tag, upstreamBody))
  thoughts.set(choice, state)
  return withoutThinkTags(delta, state, reason !== null)
}

function withCalls(delta: Json, missing: readonly Json[]): Json {
  return missing.length === 0 ? delta : { ...delta, tool_calls: [...callsIn(delta), ...missing] }
}

/** Null stays: strict clients accept it. */
function logprobsOf({ logprobs }: Json): Json | null | undefined {
  return logprobs == null ? logprobs : normalizeLogprobs(logprobs)
}

function withLogprobs(choice: Json, logprobs: Json | null | undefined): Json {
  if (logprobs === undefined) delete choice["logprobs"]
  else choice["logprobs"] = logprobs
  return choice
}

/**
 * Some providers end a response with tool calls with `stop`, and clients then ignore the calls. Others send
 * nonstandard finish reasons, which strict clients reject.
 */
function finishReasonOf({ finish_reason: native }: Json, hasCalls: boolean): string | null {
  if (typeof native !== "string" || native === "") return null
  const reason = toFinishReason(native)
  return hasCalls && (reason === "stop" || reason === "function_call") ? "tool_calls" : reason
}

/** The provider's finish reason, if the client receives another. */
function nativeReasonOf(choice: Json, finishReason: string | null): Json {
  const { finish_reason: native, native_finish_reason: nativeReason } = choice
  if (finishReason === null || typeof nativeReason === "string" || typeof native !== "string") return {}
  return native === "" || toFinishReason(native) === native ? {} : { native_finish_reason: native }
}

const LISTS = ["tool_calls", "images", "reasoning_details"] as const
/** Fields that strict clients accept only without null. */
const OBJECTS = ["audio", "name", "model"] as const

function normalizeDelta(delta: Json, choice: number, { calls: seen, upstreamBody, reasoned }: ChunkDefaults): Json {
  const called = withToolCalls(delta, upstreamBody)
  const plain = withReasoning(flattenContent(called))
  const flat = reasoned ? withReasoningOfDetails(plain, reasoned, choice) : plain
  const fixed = { ...flat }
  let changed = flat !== delta
  const reportedCalls = callsIn(called)
  if ("role" in delta && delta["role"] !== "assistant") {
    if (typeof delta["role"] === "string" && delta["role"] !== "") fixed["role"] = "assistant"
    else delete fixed["role"]
    changed = true
  }
  for (const key of LISTS) {
    if (!(key in fixed) || Array.isArray(fixed[key])) continue
    delete fixed[key]
    changed = true
  }
  for (const key of OBJECTS) {
    if (!(key in delta) || delta[key] !== null) continue
    delete fixed[key]
    changed = true
  }
  if (reportedCalls.length > 0 || isArray(fixed["tool_calls"])) {
    const calls = normalizeCallDeltas(reportedCalls, { choice, seen, upstreamBody })
    if (calls !== delta["tool_calls"]) {
      fixed["tool_calls"] = calls
      // Its calls are held.
      if (calls.length === 0 && reportedCalls.length > 0) delete fixed["tool_calls"]
      changed = true
    }
  }
  return changed ? fixed : delta
}

/** The deprecated form of a call as the only one of `tool_calls`, unless the client uses that form. */
function withToolCalls(message: Json, upstreamBody: Json | undefined): Json {
  const { function_call: called, ...rest } = message
  if (!isObject(called) || usesFunctions(upstreamBody)) return message
  return callsIn(message).length > 0 ? rest : { ...rest, tool_calls: [{ index: 0, function: called }] }
}

function isUsage(usage: unknown): boolean {
  return isObject(usage) && ["prompt_tokens", "completion_tokens", "total_tokens"].every((key) => isCount(usage[key]))
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function toInteger(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? Math.floor(value) : undefined
}

function isTextOrNull(value: unknown): boolean {
  return typeof value === "string" || value === null
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null
}

/** Normalizes a complete response. */
export function normalizeResult(result: Json, defaults: ChunkDefaults): Json {
  const choices = Array.isArray(result["choices"]) ? (result["choices"] as unknown[]) : []
  const { usage: _, error, ...rest } = withoutGatewayFields(result)
  return {
    ...rest,
    ...(error != null && { error }),
    id: typeof result["id"] === "string" ? result["id"] : defaults.id,
    object: "chat.completion",
    created: toInteger(result["created"]) ?? defaults.created,
    model: defaults.model,
    choices: choices.map((choice, index) => normalizeDocumentChoice(choice, index, defaults.upstreamBody)),
    system_fingerprint: textOrNull(result["system_fingerprint"]),
    service_tier: textOrNull(result["service_tier"]),
  }
}

function normalizeDocumentChoice(choice: unknown, position: number, upstreamBody: Json | undefined): unknown {
  if (!isObject(choice))
    return { index: position, finish_reason: "stop", message: { role: "assistant", content: null } }
  const message = withToolCalls(documentMessageOf(choice), upstreamBody)
  const { delta: _, ...fields } = choice
  const hasCalls = callsIn(message).length > 0
  // A document is complete: a missing finish reason means that the model stopped by itself.
  const finishReason = finishReasonOf(choice, hasCalls) ?? (hasCalls ? "tool_calls" : "stop")
  const normal = {
    ...(isObject(choice["message"]) ? fields : withoutMessage(fields)),
    index: choiceIndex(choice, position),
    finish_reason: finishReason,
    ...nativeReasonOf(choice, finishReason),
    message: normalizeMessage(message, finishReason, upstreamBody),
  }
  return withLogprobs(normal, logprobsOf(choice))
}

/** Normalizes a complete message. */
export function normalizeMessage(text: Json, finishReason: unknown, upstreamBody?: Json): Json {
  const reasoned = withReasoningOfDetailsInMessage(withReasoning(flattenContent(text)))
  const flat = withoutThinkTagsInMessage(reasoned, finishReason === "length", (tag) => isPrompted(tag, upstreamBody))
  const message: Json = { ...flat, role: "assistant", content: flat["content"] ?? null }
  for (const key of LISTS) if (key in message && !Array.isArray(message[key])) delete message[key]
  for (const key of OBJECTS) if (message[key] === null) delete message[key]
  if ("tool_calls" in message || isObject(text["tool_calls"])) {
    message["tool_calls"] = normalizeCalls(callsIn(text).filter(isObject), finishReason === "length")
  }
  return message
}
