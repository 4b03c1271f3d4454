import type { InferenceRequest } from "../../inference-request.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"

/** Enough of the beginning of a conversation to identify it. */
const MAX_CONVERSATION_LENGTH = 4_096

/**
 * Session affinity of a conversation. Its turns go to one provider, which has the conversation in its prompt cache, and
 * which alone can verify the reasoning that it signed. `prompt_cache_key` names the conversation; else its beginning
 * does, which every turn repeats.
 */
export function sessionAffinityOf(request: ChatRequest): Pick<InferenceRequest, "conversation" | "signatures"> {
  const { messages, prompt_cache_key: cacheKey } = request
  const signatures = messages
    .flatMap((message) => (message.role === "assistant" ? signaturesOf(message) : []))
    .toReversed()
  return { conversation: () => cacheKey ?? beginningOf(messages), signatures }
}

function signaturesOf({ reasoning_details: details }: { reasoning_details?: readonly object[] | null | undefined }) {
  return (details ?? []).flatMap((detail) => {
    const { signature, data } = detail as { signature?: unknown; data?: unknown }
    return [signature, data].filter((one): one is string => typeof one === "string" && one !== "")
  })
}

/** Up to the first message of the user: every turn of a conversation repeats it. */
function beginningOf(messages: ChatRequest["messages"]): string {
  const first = messages.findIndex(({ role }) => role === "user")
  return JSON.stringify(messages.slice(0, first + 1)).slice(0, MAX_CONVERSATION_LENGTH)
}
