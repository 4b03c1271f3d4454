import { parseData, dataOf, toFrame } from "../sse/frames.ts"
import type { FrameTranslator } from "../sse/stream-item.ts"
import { toConverseBody } from "../converse/to-body.ts"
import { toMessagesDocument, toMessagesEvents } from "../converse/to-messages-events.ts"
import { converseAsSse, EVENT_STREAM_TYPE } from "../converse/to-sse.ts"
import type { Conversation } from "../messages/upstream/to-body.ts"
import { type ChatStreamFacts, chatTranslator } from "../messages/upstream/to-chat-stream.ts"
import { toChatResult } from "../messages/upstream/to-result.ts"
import type { ChatRequest } from "../schemas.ts"
import type { UpstreamFields, UpstreamRequest } from "../upstream.ts"
import { chatReader } from "./chat.ts"

/** A chat request translated for Bedrock's Converse API, and its response translated back. */
export function asConverse(
  request: ChatRequest,
  outgoing: UpstreamFields,
  conversation: Conversation,
): UpstreamRequest {
  let reportedUsage: unknown
  const created = Math.floor(Date.now() / 1_000)
  const { upstreamId } = outgoing
  const operation = request.stream ? "converse-stream" : "converse"
  return {
    reader: chatReader,
    path: `/model/${encodeURIComponent(upstreamId)}/${operation}`,
    body: toConverseBody(request, outgoing, conversation),
    counted: () => reportedUsage,
    decode: { type: EVENT_STREAM_TYPE, body: converseAsSse },
    translate: {
      stream: () => converseTranslator(upstreamId, { created, onUsage: (usage) => (reportedUsage = usage) }),
      document: (result) => toChatResult(toMessagesDocument(result, upstreamId), { created }),
    },
  }
}

function converseTranslator(model: string, facts: ChatStreamFacts): FrameTranslator {
  const toChat = chatTranslator(facts)
  return (frame) => {
    const data = dataOf(frame)
    const event = data === undefined ? undefined : parseData(data)
    return event ? toMessagesEvents(event, model).flatMap((one) => toChat(toFrame(one))) : toChat(frame)
  }
}
