import { keep, readNames, readSignature, type ResponseMeter, toTokens } from "../chat/meter.ts"
import { errorOfUnknownShape, type ProviderError, toProviderError } from "../chat/provider-error.ts"
import { isArray, isCount, isObject, type Json } from "../../support/text/json.ts"
import type { Tokens } from "../../money/money.ts"
import { isMessage, normalizeMessage } from "../messages/native/message.ts"
import { toFinishReason } from "../messages/stop-reasons.ts"
import { addCounts, type Counts, NO_COUNTS, toChatUsage } from "../messages/usage.ts"
import { toEvents } from "./messages-events.ts"
import { toMessage } from "./messages-json.ts"
import type { ResponseReader } from "./reader.ts"
import { appendToolCall, type Transcript } from "../transcript.ts"

/** The Messages format. https://docs.anthropic.com/en/api/messages-streaming */
export const messagesReader: ResponseReader = {
  name: "messages",
  read,
  hasContent: isMeaningful,
  errorIn,
  isResponse: isMessage,
  normalize: (event) => event,
  toStreamHead: toEvents,
  toResult: (items) => toMessage(items, messagesReader),
}

function read(meter: ResponseMeter, event: Json): void {
  const { type } = event
  meter.error ??= errorIn(event)
  if (type === "message_start" && isObject(event["message"])) readMessage(meter, event["message"])
  else if (type === "message" || isMessage(event)) readDocument(meter, event)
  else if (type === "content_block_start") readText(meter, event["content_block"], event["index"])
  else if (type === "content_block_delta") readText(meter, event["delta"], event["index"])
  else if (type === "message_delta") {
    readUsage(meter, event["usage"])
    if (isObject(event["delta"])) readEnd(meter, event["delta"])
  } else if (type === "message_stop") meter.done = true
}

function readDocument(meter: ResponseMeter, document: Json): void {
  // A stream that repeats the complete message: its events count.
  if (meter.id !== null || meter.pieces > 0) return
  const message = normalizeMessage(document)
  if (isArray(message["content"])) for (const [at, block] of message["content"].entries()) readText(meter, block, at)
  readMessage(meter, message)
  readEnd(meter, { stop_reason: document["stop_reason"] ?? message["stop_reason"] })
  meter.done = true
}

function readMessage(meter: ResponseMeter, message: Json): void {
  readNames(meter, message)
  readUsage(meter, message["usage"])
}

function readEnd(meter: ResponseMeter, reported: Json): void {
  const reason = reported["stop_reason"]
  if (typeof reason !== "string") return
  meter.finishReason = toFinishReason(reason)
  if (meter.finishReason !== reason) meter.nativeFinishReason = reason.slice(0, 256)
  meter.choices.set(0, true)
}

function readUsage(meter: ResponseMeter, usage: unknown): void {
  if (!isObject(usage)) return
  const toolUse = isObject(usage["server_tool_use"]) ? usage["server_tool_use"] : {}
  const searches = toolUse["web_search_requests"]
  if (isCount(searches) && searches > 0) meter.generated.searches = searches
  const reported = toTokens(toChatUsage(addCounts(countsOf(meter.tokens), usage)))
  if (!reported) return
  meter.tokens = reported
  if (isCount(usage["output_tokens"])) meter.countedUnits = meter.units
}

/** The counts in tokens that were reported before. */
function countsOf(tokens: Tokens | null): Counts {
  if (!tokens) return NO_COUNTS
  const { prompt, cached, cacheWrite, cacheWrite1h, completion, reasoning } = tokens
  return {
    ...NO_COUNTS,
    input: prompt - cached - cacheWrite,
    cacheRead: cached,
    cacheWrite,
    cacheWrite1h,
    output: completion,
    thinking: reasoning,
  }
}

const RULE = ["text", "thinking", "partial_json", "data"] as const

function readText(meter: ResponseMeter, text: unknown, index: unknown): void {
  if (!isObject(text)) return
  if (meter.transcript) keepToolUse(meter.transcript, text, String(index))
  readSignature(meter, text["signature"], text["type"] === "redacted_thinking" ? text["data"] : undefined)
  let units = RULE.reduce((sum, key) => sum + (typeof text[key] === "string" ? text[key].length : 0), 0)
  if (isObject(text["input"]) && Object.keys(text["input"]).length > 0) units += JSON.stringify(text["input"]).length
  if (units === 0) return
  keep(meter, "content", text["text"])
  keep(meter, "reasoning", text["thinking"])
  meter.units += units
  meter.pieces += 1
}

function keepToolUse(transcript: Transcript, block: Json, key: string): void {
  const { type, id, name, input, partial_json: part } = block
  const isStart = type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use"
  const hasInput = isObject(input) && Object.keys(input).length > 0
  if (isStart) appendToolCall(transcript, key, { id, name, arguments: hasInput ? JSON.stringify(input) : "" })
  else if (typeof part === "string") appendToolCall(transcript, key, { arguments: part })
}

/** The start of a block is not content, except for a block that arrives complete. */
function isMeaningful(event: Json): boolean {
  const { type, content_block: block, delta } = event
  if (type === "content_block_delta") {
    return isObject(delta) && Object.entries(delta).some(([key, value]) => key !== "type" && value !== "")
  }
  if (type === "content_block_start") return isObject(block) && block["type"] !== "text" && block["type"] !== "thinking"
  return type === "message_delta" || type === "message_stop"
}

function errorIn(body: Json): ProviderError | null {
  const { type, error } = body
  if (typeof type !== "string") return errorOfUnknownShape(body)
  if (type !== "error" && !("error" in body)) return null
  return toProviderError(error ?? (type === "error" ? "The provider reported an error." : null))
}
