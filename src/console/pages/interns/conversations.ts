import { onUserChange } from "../../state/session.ts"
import { Conversation } from "./conversation.ts"

const conversations = new Map<string, Conversation>()
onUserChange(() => {
  for (const conversation of conversations.values()) conversation.stop()
  conversations.clear()
})

/** The chat that continues a session, or the new one with an intern. */
export function conversationOf(internId: string, session: string | null): Conversation {
  const key = `${internId} ${session ?? ""}`
  const conversation = conversations.get(key) ?? new Conversation(internId, session)
  conversations.set(key, conversation)
  return conversation
}
