import { endUserOf } from "../../draft.ts"
import { toUpstreamBody } from "../../../providers/upstream-request.ts"
import { costBoundsOf } from "../../accounting/cost-bound.ts"
import { GatewayError } from "../../../errors/errors.ts"
import type { InferenceRequest, UpstreamPlan } from "../../inference-request.ts"
import { providerStorageIn } from "../../upstream/provider-storage.ts"
import { type Conversation, toConversation } from "../../../formats/messages/upstream/to-body.ts"
import { toConverseConversation } from "../../../formats/converse/to-body.ts"
import { asConverse } from "../../../formats/readers/as-converse.ts"
import { asResponses } from "../../../formats/readers/as-responses.ts"
import { needsResponses } from "../../../formats/responses/chat-body.ts"
import { asMessages } from "../../../formats/readers/as-messages.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"
import { chatReader } from "../../../formats/readers/chat.ts"
import { exportedRequestOf } from "./exported.ts"
import { chatEncoder } from "./encoder.ts"

/** Normalizes a chat request. */
export function chatRequest(request: ChatRequest, bodyBytes: number): InferenceRequest {
  return {
    apiType: "completions",
    output: "text",
    routing: request,
    sessionId: request.session_id ?? null,
    user: endUserOf(request),
    trace: request.trace ?? null,
    bounds: costBoundsOf(request, bodyBytes),
    providerStorage: () => providerStorageIn(request),
    upstream: chatUpstreamPlan(request),
    messages: request.messages,
    exported: () => exportedRequestOf(request),
    encoderFor: (call) => chatEncoder(request, call),
    ...sessionAffinityOf(request),
  }
}

/** Builds the upstream request: in the chat format, or translated for a provider without it. */
export function chatUpstreamPlan(request: ChatRequest): UpstreamPlan {
  const inMessages = cacheTranslation(() => toConversation(request))
  const inConverse = cacheTranslation(() => toConverseConversation(request))
  return {
    streamed: request.stream,
    buildUpstreamRequest(provider, outgoing) {
      if (provider.format === "anthropic") return asMessages(request, outgoing, orThrow(inMessages()))
      if (provider.format === "converse") return asConverse(request, outgoing, orThrow(inConverse()))
      if (provider.quirks.needsResponses && needsResponses(request, outgoing.upstreamId))
        return asResponses(request, outgoing)
      return { reader: chatReader, path: "/chat/completions", body: toUpstreamBody(request, provider, outgoing) }
    },
    unsupportedReason({ format }) {
      const conversation = format === "anthropic" ? inMessages() : format === "converse" ? inConverse() : undefined
      return conversation instanceof GatewayError ? conversation : undefined
    },
  }
}

/** Translates once, when a provider first needs it. Returns the error if the conversation cannot be expressed. */
function cacheTranslation(translate: () => Conversation): () => Conversation | GatewayError {
  let translated: Conversation | GatewayError | undefined
  return () => (translated ??= resultOrError(translate))
}

function resultOrError(translate: () => Conversation): Conversation | GatewayError {
  try {
    return translate()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}

function orThrow(conversation: Conversation | GatewayError): Conversation {
  if (conversation instanceof GatewayError) throw conversation
  return conversation
}

/** Enough of the beginning of a conversation to identify it. */
const MAX_CONVERSATION_LENGTH = 4_096

/**
 * Session affinity of a conversation. Its turns go to one provider, which has the conversation in its prompt cache and
 * is the only one that can verify reasoning it signed. The conversation is identified by `prompt_cache_key`, or by its
 * first messages, which every turn repeats.
 */
function sessionAffinityOf(request: ChatRequest): Pick<InferenceRequest, "conversation" | "signatures"> {
  const { messages, prompt_cache_key: cacheKey } = request
  const signatures = messages
    .flatMap((message) => (message.role === "assistant" ? signaturesOf(message) : []))
    .toReversed()
  return { conversation: () => cacheKey ?? conversationStart(messages), signatures }
}

function signaturesOf({ reasoning_details: details }: { reasoning_details?: readonly object[] | null | undefined }) {
  return (details ?? []).flatMap((detail) => {
    const { signature, data } = detail as { signature?: unknown; data?: unknown }
    return [signature, data].filter((one): one is string => typeof one === "string" && one !== "")
  })
}

/** The messages up to the first user message, which every turn of a conversation repeats. */
function conversationStart(messages: ChatRequest["messages"]): string {
  const first = messages.findIndex(({ role }) => role === "user")
  return JSON.stringify(messages.slice(0, first + 1)).slice(0, MAX_CONVERSATION_LENGTH)
}
