import { onUserChange } from "../../../state/session.ts"
import { Conversation } from "./conversation.ts"

const conversations = new Map<string, Conversation>()
onUserChange(() => {
  for (const conversation of conversations.values()) conversation.stop()
  conversations.clear()
})

const keyOf = (internId: string, session: string | null) => `${internId} ${session ?? ""}`

/** The chat that continues a session, or the latest one with an intern. */
export function conversationOf(internId: string, session: string | null): Conversation {
  const key = keyOf(internId, session)
  const conversation = conversations.get(key) ?? new Conversation(internId, session)
  conversations.set(key, conversation)
  return conversation
}

/** A new chat has its session with the first response: links to the session show the same chat from then on. */
export function nameConversation(internId: string, session: string, conversation: Conversation): void {
  conversations.set(keyOf(internId, session), conversation)
}

/** The next chat with the intern is a new one. */
export function beginConversation(internId: string): void {
  conversations.delete(keyOf(internId, null))
}
