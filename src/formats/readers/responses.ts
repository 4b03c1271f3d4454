import { keep, readNames, readSignature, readTokens, type ResponseMeter, toTokens } from "../chat/meter.ts"
import { errorOfUnknownShape, type ProviderError, toProviderError } from "../chat/provider-error.ts"
import { isArray, isCount, isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import { dataOf, isDone, parseEvent } from "../sse/frames.ts"
import type { StreamItem } from "../sse/stream-item.ts"
import { ResponseEvents } from "../responses/native/events.ts"
import { normalizeItem } from "../responses/native/normalize.ts"
import { endStatus, ENDED, toEvents } from "../responses/native/to-events.ts"
import type { ResponseReader } from "./reader.ts"
import { appendToolCall } from "../transcript.ts"

/** The Responses format. https://platform.openai.com/docs/api-reference/responses */
export const responsesReader: ResponseReader = {
  name: "responses",
  read,
  hasContent: isMeaningful,
  errorIn,
  isResponse: ({ output, status = "completed" }) => isArray(output) && ENDED.includes(String(status)),
  normalize: (event) => event,
  toStreamHead: toEvents,
  toResult,
}

/** `response.done` is the name of the realtime API. */
const ENDS = ["response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done"]

/** The response object of an event, or the document itself. */
function responseIn(body: Json): Json | undefined {
  if (isObject(body["response"])) return body["response"]
  return "output" in body ? body : undefined
}

function isEnd(type: unknown): boolean {
  return typeof type === "string" && ENDS.includes(type)
}

function read(meter: ResponseMeter, body: Json): void {
  const { type } = body
  meter.error ??= errorIn(body)
  if (typeof type === "string" && type.endsWith(".delta")) {
    const units = typeof body["delta"] === "string" ? body["delta"].length : 0
    if (/_text\.delta$|refusal/.test(type)) {
      const kind = type.includes("refusal") ? "refusal" : type.includes("reasoning") ? "reasoning" : "content"
      keep(meter, kind, body["delta"])
    }
    meter.units += units
    meter.pieces += units > 0 ? 1 : 0
    return
  }
  if (isObject(body["item"])) {
    readSignature(meter, body["item"]["encrypted_content"])
    if (type === "response.output_item.done") {
      keepCall(meter, body["item"])
      addToolUnits(meter, [body["item"]])
    }
  }
  const response = responseIn(body)
  if (!response) return
  readToolUnits(meter, response)
  readNames(meter, { ...response, created: response["created_at"] })
  // In a document, text is only in `output`.
  if (type === undefined) readText(meter, objectsOf(response["output"]).map(normalizeItem))
  readTokens(meter, toTokens(response["usage"]))
  if (!isEnd(type) && type !== undefined) return
  meter.finishReason = toFinishReason(response)
  meter.choices.set(0, true)
  meter.done = true
}

/** Counts the items of a stream, in case it ends without a response. */
function addToolUnits({ generated }: ResponseMeter, items: unknown): void {
  const [searches, pictures] = [countSearches(items), countImages(items)]
  if (searches > 0) generated.searches = (generated.searches ?? 0) + searches
  if (pictures > 0) generated.pictures = (generated.pictures ?? 0) + pictures
}

function readToolUnits({ generated }: ResponseMeter, { output, tool_usage: usage }: Json): void {
  const [searches, pictures] = [countSearches(output), countImages(output)]
  if (searches > 0) generated.searches = searches
  if (pictures > 0) generated.pictures = pictures
  // The provider's count of billable searches: some are discounted.
  const search = isObject(usage) ? usage["web_search"] : undefined
  const reported = isObject(search) ? search["num_requests"] : undefined
  if (isCount(reported)) generated.searches = reported
}

function countImages(output: unknown): number {
  return objectsOf(output).filter(({ type, status }) => type === "image_generation_call" && status !== "failed").length
}

/** Providers charge for searches, and not for opening a result or searching in it. */
function countSearches(output: unknown): number {
  return listOf(output).filter((item) => {
    if (!isObject(item) || item["type"] !== "web_search_call" || item["status"] === "failed") return false
    return !isObject(item["action"]) || item["action"]["type"] === "search"
  }).length
}

function toFinishReason(response: Json): string {
  const { status, incomplete_details: details, output } = response
  if (status === "failed" || status === "cancelled") return "error"
  if (status === "incomplete")
    return isObject(details) && details["reason"] === "content_filter" ? "content_filter" : "length"
  const calls = isArray(output) && output.some((item) => isObject(item) && isCall(item))
  return calls ? "tool_calls" : "stop"
}

function isCall(item: Json): boolean {
  return item["type"] === "function_call" || item["type"] === "custom_tool_call"
}

function keepCall({ transcript }: ResponseMeter, item: Json): void {
  if (!transcript || !isCall(item)) return
  const { id, call_id: callId = id, name, arguments: input = item["input"] } = item
  appendToolCall(transcript, String(callId), { id: callId, name, arguments: input })
}

function readText(meter: ResponseMeter, output: unknown): void {
  if (!isArray(output)) return
  for (const item of output) {
    if (!isObject(item)) continue
    readSignature(meter, item["encrypted_content"])
    keep(meter, item["type"] === "reasoning" ? "reasoning" : "content", item["content"])
    keep(meter, "reasoning", item["summary"])
    for (const part of listOf(item["content"])) if (isObject(part)) keep(meter, "refusal", part["refusal"])
    keepCall(meter, item)
    const parts = [item["content"], item["summary"]].flatMap((list) => listOf(list))
    const texts = parts.map((part) => (isObject(part) ? (part["text"] ?? part["refusal"]) : undefined))
    const text = [...texts, item["arguments"], item["input"]].filter((one) => typeof one === "string")
    const units = text.reduce((sum, one) => sum + one.length, 0)
    meter.units += units
    meter.pieces += units > 0 ? 1 : 0
  }
}

/** A new item is not content yet: reasoning may start long before the text, and fail. */
function isMeaningful({ type }: Json): boolean {
  return isEnd(type) || type === "response.output_item.done" || (typeof type === "string" && type.endsWith(".delta"))
}

function errorIn(body: Json): ProviderError | null {
  if (body["type"] === "error") return toProviderError(isObject(body["error"]) ? body["error"] : body)
  const response = responseIn(body)
  if (!response) return typeof body["type"] === "string" ? toProviderError(body["error"]) : errorOfUnknownShape(body)
  const failed = response["status"] === "failed" || body["type"] === "response.failed"
  return toProviderError(response["error"] ?? (failed ? "The provider's response failed." : null))
}

/** The last event has the complete response. Some servers leave out its output. */
function toResult(items: readonly StreamItem[]): { result: Json | undefined; error: ProviderError | null } {
  const events = new ResponseEvents()
  let latest: Json | undefined
  for (const item of items) {
    const data = item instanceof Uint8Array ? (dataOf(item) ?? "") : ""
    const event = item instanceof Uint8Array ? parseEvent(item, data) : item
    const isLast = isDone(data) || isEnd(event?.["type"])
    const error = event ? errorIn(event) : null
    if (error) return { result: undefined, error }
    if (event && isObject(event["response"])) latest = event["response"]
    if (event && !isLast) events.take(event)
    if (!isLast || !latest) continue
    const { output } = events.end(latest["output"])
    return { result: { ...latest, status: endStatus(event?.["type"], latest), output }, error: null }
  }
  return { result: undefined, error: null }
}
