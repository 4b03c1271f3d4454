import { toUpstreamBody } from "../../../providers/upstream-request.ts"
import { costBoundsOf } from "../../cost-bound.ts"
import { GatewayError } from "../../../errors/errors.ts"
import type { InferenceRequest, UpstreamPlan } from "../../inference-request.ts"
import { type Conversation, toConversation } from "../../../formats/messages/upstream/to-body.ts"
import { asMessages } from "../../../formats/readers/as-messages.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"
import { chatReader } from "../../../formats/readers/chat.ts"
import { sessionAffinityOf } from "./affinity.ts"
import { exportedRequestOf } from "./exported.ts"
import { chatEncoder } from "./encoder.ts"

/** Normalizes a chat request. */
export function chatRequest(request: ChatRequest, bodyBytes: number): InferenceRequest {
  return {
    apiType: "completions",
    output: "text",
    routing: request,
    sessionId: request.session_id ?? null,
    ...sessionAffinityOf(request),
    user: request.user ?? null,
    trace: request.trace ?? null,
    bounds: costBoundsOf(request, bodyBytes),
    upstream: chatUpstreamPlan(request),
    messages: request.messages,
    exported: () => exportedRequestOf(request),
    encoderFor: (call) => chatEncoder(request, call),
  }
}

/** Builds the upstream request: in the chat format, or translated for a provider without it. */
export function chatUpstreamPlan(request: ChatRequest): UpstreamPlan {
  /** Translated at most once, when the first provider needs it. */
  let translated: Conversation | GatewayError | undefined
  const inMessages = () => (translated ??= translate(request))
  return {
    streamed: request.stream,
    buildUpstreamRequest(provider, outgoing) {
      if (provider.format !== "anthropic") {
        return { reader: chatReader, path: "/chat/completions", body: toUpstreamBody(request, provider, outgoing) }
      }
      const conversation = inMessages()
      if (conversation instanceof GatewayError) throw conversation
      return asMessages(request, outgoing, conversation)
    },
    unsupportedReason(provider) {
      const conversation = provider.format === "anthropic" ? inMessages() : undefined
      return conversation instanceof GatewayError ? conversation : undefined
    },
  }
}

/** The request in the Messages format, or the error of what it cannot express. */
function translate(request: ChatRequest): Conversation | GatewayError {
  try {
    return toConversation(request)
  } catch (refusal) {
    if (refusal instanceof GatewayError) return refusal
    throw refusal
  }
}
