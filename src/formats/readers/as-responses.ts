import { isObject, type Json } from "../../support/text/json.ts"
import { type ProviderError, toProviderError } from "../chat/provider-error.ts"
import { toResponsesBodyOfChat } from "../responses/chat-body.ts"
import { advance, newResponsesReading, toChatUsage } from "../responses/stream/to-chunks.ts"
import type { ChatRequest } from "../schemas.ts"
import { dataOf, DONE_FRAME, isDone, isErrorEvent, parseEvent } from "../sse/frames.ts"
import type { FrameTranslator } from "../sse/stream-item.ts"
import type { UpstreamFields, UpstreamRequest } from "../upstream.ts"
import { chatReader } from "./chat.ts"
import { responsesReader } from "./responses.ts"
import { toEvents } from "../responses/native/to-events.ts"

/** A chat request translated for a model that needs the Responses format, and its response translated back. */
export function asResponses(request: ChatRequest, outgoing: UpstreamFields): UpstreamRequest {
  let reportedUsage: unknown
  return {
    reader: chatReader,
    path: "/responses",
    body: toResponsesBodyOfChat(request, outgoing),
    counted: () => reportedUsage,
    translate: {
      stream: () => translator((usage) => (reportedUsage = usage)),
      document: toChatDocument,
    },
  }
}

function translator(onUsage: (usage: Json) => void): FrameTranslator {
  let state = newResponsesReading()
  return (frame) => {
    if (state.phase === "over" || state.phase === "failed") return []
    const data = dataOf(frame)
    const event = data === undefined ? undefined : parseEvent(frame, data)
    // The response ends with its own event, not with `[DONE]`.
    if (!event) return isDone(data) ? [] : [frame]
    const failure = typeof event["type"] === "string" ? null : untypedError(frame, event)
    if (failure) {
      state = { ...state, phase: "failed" }
      return [toErrorChunk(failure)]
    }
    const usage = isObject(event["response"]) ? toChatUsage(event["response"]["usage"]) : null
    if (usage) onUsage(usage)
    const [next, chunks] = advance(state, event)
    state = next
    return next.phase === "over" ? [...chunks, DONE_FRAME] : chunks
  }
}

/** Through the translation of streams, so that documents and streams give the same result. */
function toChatDocument(response: Json): Json {
  const failure = toProviderError(response["error"])
  if (failure) return toErrorChunk(failure)
  const head = toEvents(response)
  // Not a response: the reader of chat responses rejects it.
  if (!head) return response
  const translate = translator(() => {})
  const items = head.items.flatMap((item) => (item instanceof Uint8Array ? translate(item) : []))
  const { result, error } = chatReader.toResult(items)
  return {
    ...(result ?? { error: error ?? { message: "The provider's response failed." } }),
    object: "chat.completion",
  }
}

function untypedError(frame: Uint8Array, event: Json): ProviderError | null {
  return responsesReader.errorIn(event) ?? (isErrorEvent(frame) ? toProviderError(event) : null)
}

function toErrorChunk({ message, status, code, retryAfter }: ProviderError): Json {
  return { error: { message, code: status ?? code, ...(retryAfter !== undefined && { retry_after: retryAfter }) } }
}
