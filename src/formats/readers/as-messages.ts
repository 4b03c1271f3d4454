import type { UpstreamFields, UpstreamRequest } from "../upstream.ts"
import { ANTHROPIC_HEADERS, type Conversation, toMessagesBody } from "../messages/upstream/to-body.ts"
import { chatTranslator } from "../messages/upstream/to-chat-stream.ts"
import { toChatResult } from "../messages/upstream/to-result.ts"
import type { ChatRequest } from "../schemas.ts"
import { chatReader } from "./chat.ts"

export const MESSAGES_PATH = "/messages"

/** A chat request translated for a provider with the Messages format, and its response translated back. */
export function asMessages(
  request: ChatRequest,
  outgoing: UpstreamFields,
  conversation: Conversation,
): UpstreamRequest {
  let reportedUsage: unknown
  const created = Math.floor(Date.now() / 1_000)
  return {
    reader: chatReader,
    path: MESSAGES_PATH,
    headers: ANTHROPIC_HEADERS,
    body: toMessagesBody(request, outgoing, conversation),
    counted: () => reportedUsage,
    translate: {
      stream: () => chatTranslator({ created, onUsage: (usage) => (reportedUsage = usage) }),
      document: (result) => toChatResult(result, { created }),
    },
  }
}
