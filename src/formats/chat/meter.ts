import { appendText, appendToolCall, type Transcript, type TranscriptText } from "../transcript.ts"
import { type GeneratedUnits, NO_TOKENS, type Tokens } from "../../money/money.ts"
import {
  callsIn,
  choiceIndex,
  growthOf,
  hasFields,
  messageOf,
  partsOf,
  reasoningIn,
  reasoningInDetails,
  thoughtIn,
  toFinishReason,
} from "./normalize/provider-spellings.ts"
import { isArray, isInteger, isObject, type Json, listOf } from "../../support/text/json.ts"
import { errorIn, type ProviderError, toProviderError } from "./provider-error.ts"
import { encodedArguments } from "./call-deltas.ts"
import { reportedUsage } from "./reported-usage.ts"
import { toCount, UNITS_PER_TOKEN } from "../../support/tokens.ts"

/** Data read from a response to charge it, record it and determine how it ended. */
export type ResponseMeter = {
  id: string | null
  model: string | null
  created: number | null
  serviceTier: string | null
  /** Usage reported by the provider; null until reported. Zero is a valid count. */
  tokens: Tokens | null
  /** Generated units with a price each. */
  generated: Partial<GeneratedUnits>
  /** Finish reason of the chat format. */
  finishReason: string | null
  /** The provider's finish reason, if it differs. */
  nativeFinishReason: string | null
  /** The last reasoning signature, which only its provider can verify. */
  signature: string | null
  error: ProviderError | null
  /** `[DONE]` was seen. */
  done: boolean
  /** The choices by index, with true for finished ones. */
  choices: Map<number, boolean>
  /** The choices with content in deltas. */
  withDeltas: Set<number>
  /** UTF-16 units of all generated text, when the tokens were last counted, and the number of chunks with text. */
  units: number
  countedUnits: number
  pieces: number
  /** The text, if content logging or a destination needs it. */
  transcript: Transcript | null
}

export function newMeter(): ResponseMeter {
  return {
    id: null,
    model: null,
    created: null,
    serviceTier: null,
    tokens: null,
    generated: {},
    finishReason: null,
    nativeFinishReason: null,
    signature: null,
    error: null,
    done: false,
    choices: new Map(),
    withDeltas: new Set(),
    units: 0,
    countedUnits: 0,
    pieces: 0,
    transcript: null,
  }
}

/** Longer names are ignored: generations are stored for a long time. */
const MAX_NAME_LENGTH = 256

/** Whether a value is valid as the name of a model, a response or a finish reason. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH
}

/**
 * Id, model and creation time of a response. The first values count, except for the service tier, which is known at the
 * end.
 */
export function readNames(meter: ResponseMeter, body: Json): void {
  if (isName(body["id"])) meter.id ??= body["id"]
  if (isName(body["model"])) meter.model ??= body["model"]
  if (isInteger(body["created"])) meter.created ??= body["created"]
  if (isName(body["service_tier"])) meter.serviceTier = body["service_tier"]
}

/** Meters one chunk or a document. Upstream JSON is untrusted: every field is checked. */
export function readResponse(meter: ResponseMeter, body: Json): void {
  readNames(meter, body)
  meter.error ??= errorIn(body)
  readChoices(meter, body["choices"])
  readTokens(meter, toTokens(reportedUsage(body)))
}

/**
 * Counts are totals, so the last one counts, after the text of its chunk. Zeros after a count are ignored: some
 * providers end with them.
 */
export function readTokens(meter: ResponseMeter, tokens: Tokens | null): void {
  if (!tokens) return
  meter.countedUnits = meter.units
  if (meter.tokens === null || tokens.prompt > 0 || tokens.completion > 0) meter.tokens = tokens
}

function readChoices(meter: ResponseMeter, choices: unknown): void {
  if (!isArray(choices)) return
  for (const [position, choice] of choices.entries()) {
    if (!isObject(choice)) continue
    const index = choiceIndex(choice, position)
    if (!meter.choices.has(index)) meter.choices.set(index, false)
    if (isName(choice["finish_reason"])) {
      readFinishReason(meter, choice["finish_reason"], choice["native_finish_reason"])
      meter.choices.set(index, true)
      if (meter.finishReason === "error") meter.error ??= toProviderError(choice["error"])
    }
    const text = growthOf(choice, index, meter.withDeltas)
    if (text) readMessage(meter, text, index)
  }
}

function readFinishReason(meter: ResponseMeter, reported: string, native: unknown): void {
  meter.finishReason = toFinishReason(reported)
  const upstream = isName(native) ? native : reported
  if (upstream !== meter.finishReason) meter.nativeFinishReason = upstream
}

function readMessage(meter: ResponseMeter, text: Json, choice: number): void {
  for (const detail of listOf(text["reasoning_details"]))
    if (isObject(detail)) readSignature(meter, detail["signature"], detail["data"])
  // Some providers send the same reasoning under several names. Count it once.
  const reasoning = reasoningIn(text) || ("reasoning_details" in text ? reasoningInDetails(text) : "")
  const texts = [text["content"], text["refusal"], reasoning]
  const calls = callsIn(text)
  if (meter.transcript) {
    keep(meter, "content", text["content"])
    keep(meter, "refusal", text["refusal"])
    keep(meter, "reasoning", reasoning)
    for (const [at, call] of calls.entries()) keepToolCall(meter.transcript, call, choice, at)
    if (isObject(text["function_call"])) appendToolCall(meter.transcript, `${choice}:function`, text["function_call"])
  }
  const functions = [text["function_call"], ...calls.map((call) => (isObject(call) ? call["function"] : undefined))]
  let units = 0
  for (const part of texts) units += unitsOf(part)
  for (const fn of functions) if (isObject(fn)) units += unitsOf(fn["name"]) + unitsOf(encodedArguments(fn))
  if (units === 0) return
  meter.units += units
  meter.pieces += 1
}

export function readSignature(meter: ResponseMeter, ...candidates: unknown[]): void {
  for (const candidate of candidates) if (typeof candidate === "string" && candidate !== "") meter.signature = candidate
}

function keepToolCall(transcript: Transcript, call: unknown, ...[choice, at]: [choice: number, at: number]): void {
  if (!isObject(call)) return
  const { id, index = at } = call
  const fn = [call["function"], call["custom"]].find(isObject) ?? {}
  appendToolCall(transcript, `${choice}:${String(index)}`, {
    id,
    name: fn["name"],
    arguments: fn["arguments"] ?? fn["input"],
  })
}

/** Adds text, a string or content parts, to the transcript if there is one. */
export function keep({ transcript }: ResponseMeter, kind: TranscriptText, text: unknown): void {
  if (!transcript) return
  if (typeof text === "string") return appendText(transcript, kind, text)
  for (const part of partsOf(text) ?? []) {
    if (typeof part === "string") appendText(transcript, kind, part)
    if (!isObject(part)) continue
    const thought = thoughtIn(part)
    if (thought !== "") appendText(transcript, "reasoning", thought)
    else if (typeof part["text"] === "string") appendText(transcript, kind, part["text"])
  }
}

/** UTF-16 units of a string or of content parts, including reasoning parts. */
function unitsOf(content: unknown): number {
  if (typeof content === "string") return content.length
  let units = 0
  for (const part of partsOf(content) ?? []) {
    units += isObject(part) ? thoughtIn(part).length || unitsOf(part["text"]) : unitsOf(part)
  }
  return units
}

/** Whether a chunk has content of the model. A role, an empty text and a comment are not content. */
export function hasContent(chunk: Json): boolean {
  if (!isArray(chunk["choices"])) return false
  return chunk["choices"].some((choice) => {
    if (!isObject(choice)) return false
    if (isName(choice["finish_reason"])) return true
    const delta = isObject(choice["delta"]) ? choice["delta"] : messageOf(choice)
    return delta !== undefined && hasFields(delta)
  })
}

/** Tokens to charge if no usage was reported: an estimate of the delivered text, at about four units per token. */
export function estimateDelivered(meter: ResponseMeter): number {
  return Math.max(Math.ceil(meter.units / UNITS_PER_TOKEN), meter.pieces)
}

/** Normalizes usage of the chat and Responses formats; null if the value is not a usage. */
export function toTokens(usage: unknown): Tokens | null {
  if (!isObject(usage)) return null
  const total = toCount(usage["total_tokens"])
  const without = (part: number | undefined) =>
    total === undefined || part === undefined || total < part ? undefined : total - part
  const result = toCount(usage["completion_tokens"]) ?? toCount(usage["output_tokens"])
  const prompt = toCount(usage["prompt_tokens"]) ?? toCount(usage["input_tokens"]) ?? without(result)
  const rest = without(prompt)
  const completion = result ?? rest
  // A partial count is ignored: the missing part would be free.
  if (prompt === undefined || completion === undefined) return null
  const detailsOf = (...names: string[]) => names.map((name) => usage[name]).find(isObject) ?? {}
  const promptDetails = detailsOf("prompt_tokens_details", "input_tokens_details")
  const completionDetails = detailsOf("completion_tokens_details", "output_tokens_details")
  const reasoning = toCount(completionDetails["reasoning_tokens"]) ?? 0
  const reportedCached =
    toCount(promptDetails["cached_tokens"]) ??
    toCount(usage["prompt_cache_hit_tokens"]) ??
    toCount(usage["cached_tokens"]) ??
    toCount(usage["cache_read_input_tokens"]) ??
    0
  const reportedCacheWrite =
    toCount(promptDetails["cache_write_tokens"]) ??
    toCount(promptDetails["cache_creation_tokens"]) ??
    toCount(usage["cache_creation_input_tokens"]) ??
    0
  // Mistral's total includes tokens of audio, which belong to the prompt and are charged by the second.
  const hasAudio = typeof usage["prompt_audio_seconds"] === "number" && usage["prompt_audio_seconds"] > 0
  const ofPrompt = [reportedCached, reportedCacheWrite, reportedCached + reportedCacheWrite]
  const uncounted = hasAudio ? 0 : uncountedReasoning(completion, reasoning, rest, ofPrompt)
  // No part exceeds its total: the client's sums would differ from the charge.
  const cached = Math.min(reportedCached, prompt)
  const cacheWrite = Math.min(reportedCacheWrite, prompt - cached)
  return {
    ...NO_TOKENS,
    prompt,
    completion: completion + uncounted,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(toCount(promptDetails["cache_write_1h_tokens"]) ?? 0, cacheWrite),
    reasoning: Math.min(Math.max(reasoning, uncounted), completion + uncounted),
    audio: Math.min(toCount(promptDetails["audio_tokens"]) ?? 0, prompt - cached - cacheWrite),
  }
}

/**
 * Reasoning tokens that the completion count does not include, derived from the total: xAI reports them in the details,
 * Google's compatible API does not. A difference that equals cached prompt tokens is not reasoning.
 */
function uncountedReasoning(
  completion: number,
  reasoning: number,
  rest: number | undefined,
  ofPrompt: number[],
): number {
  const uncounted = rest === undefined ? 0 : rest - completion
  if (uncounted <= 0) return 0
  return reasoning > 0 ? (uncounted === reasoning ? uncounted : 0) : ofPrompt.includes(uncounted) ? 0 : uncounted
}
