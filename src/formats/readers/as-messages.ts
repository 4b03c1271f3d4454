import type { Outgoing, Asked } from "../upstream.ts"
import { ANTHROPIC_HEADERS, type Conversation, toMessagesBody } from "../messages/upstream/to-body.ts"
import { toChatStream } from "../messages/upstream/to-chat-stream.ts"
import { toChatResult } from "../messages/upstream/to-result.ts"
import type { ChatRequest } from "../schemas.ts"
import { chatWire } from "./chat.ts"

export const MESSAGES_PATH = "/messages"

/** A chat request as a provider of the Messages wire is asked it, and its answer on the chat wire. */
export function asMessages(request: ChatRequest, outgoing: Outgoing, conversation: Conversation): Asked {
  let counted: unknown
  const created = Math.floor(Date.now() / 1_000)
  return {
    wire: chatWire,
    path: MESSAGES_PATH,
    headers: ANTHROPIC_HEADERS,
    body: toMessagesBody(request, outgoing, conversation),
    counted: () => counted,
    translate: {
      stream: (body) => body.pipeThrough(toChatStream({ created, onUsage: (usage) => (counted = usage) })),
      whole: (result) => toChatResult(result, { created }),
    },
  }
}
