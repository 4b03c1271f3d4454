import type { InferenceRequest } from "../../inference-request.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"

/** Enough of the beginning of a conversation to identify it. */
const MAX_CONVERSATION_LENGTH = 4_096

/**
 * Session affinity of a conversation. Only the provider that signed reasoning can verify it, so a conversation that has
 * any, or will have, stays with one provider.
 */
export function sessionAffinityOf(request: ChatRequest): Pick<InferenceRequest, "conversation" | "signatures"> {
  const { messages, reasoning, reasoning_effort: effort } = request
  const signatures = messages
    .flatMap((message) => (message.role === "assistant" ? signaturesOf(message) : []))
    .toReversed()
  const reasons = signatures.length > 0 || (reasoning != null && reasoning.effort !== "none") || effort != null
  return { conversation: reasons ? beginningOf(messages) : null, signatures }
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
