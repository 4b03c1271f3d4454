import { type UpstreamFields, GATEWAY_FIELDS, type UpstreamRequest } from "../../../formats/upstream.ts"
import { translatedRequest } from "../translate.ts"
import type { InferenceRequest } from "../../inference-request.ts"
import { MESSAGES_PATH } from "../../../formats/readers/as-messages.ts"
import { messagesReader } from "../../../formats/readers/messages.ts"
import { messagesEncoder } from "./encoder.ts"
import { toUpstreamTurns } from "../../../formats/messages/messages.ts"
import type { MessagesRequest } from "../../../formats/messages/schemas.ts"
import { toChatRequest } from "../../../formats/messages/to-chat.ts"
import { betaHeaders } from "../../../formats/messages/betas.ts"
import { ANTHROPIC_HEADERS } from "../../../formats/messages/upstream/to-body.ts"

/** Normalizes a messages request. */
export function messagesRequest(request: MessagesRequest, bodyBytes: number): InferenceRequest {
  const normalized = translatedRequest({
    request,
    bodyBytes,
    toChat: toChatRequest,
    isNativeTo: ({ format }) => format === "anthropic",
    buildNativeRequest: (outgoing) => toUpstream(request, outgoing),
    maxTokens: request.max_tokens,
    encoderFor: messagesEncoder,
  })
  return { ...normalized, user: request.user ?? request.metadata?.user_id ?? null }
}

/** Fields of this format that have another name in the chat format. */
const PASSED = new Set(["max_tokens", "service_tier"])
/**
 * Fields that change the price or the payer at the provider, which the charges of the gateway would not follow.
 */
const NOT_PASSED = new Set([
  "betas",
  "billing_policy",
  "fallback_credit_token",
  "speed",
  "user_profile_id",
  "workspace_id",
])

/** Minimum thinking budget of the API, and the maximum share of the token limit. */
const MIN_BUDGET = 1_024
const BUDGET_SHARE = 0.8

/** Lowers or removes the thinking budget if the hold covers fewer tokens than requested. */
function withinLimit(thinking: { type: "enabled"; budget_tokens: number }, maxTokens: number): Record<string, unknown> {
  if (thinking.budget_tokens < maxTokens) return thinking
  const budget = Math.floor(maxTokens * BUDGET_SHARE)
  return budget < MIN_BUDGET ? { type: "disabled" } : { ...thinking, budget_tokens: budget }
}

function toUpstream(
  request: MessagesRequest,
  { upstreamId, maxCompletionTokens: cap, pseudonym }: UpstreamFields,
): UpstreamRequest {
  const { betas, max_tokens: limit } = request
  const fields = Object.entries(request).filter(
    ([key, value]) => (!GATEWAY_FIELDS.has(key) || PASSED.has(key)) && !NOT_PASSED.has(key) && value !== undefined,
  )
  const maxTokens = Math.min(limit, cap ?? limit)
  const body = {
    ...Object.fromEntries(fields),
    ...(request.thinking?.type === "enabled" && { thinking: withinLimit(request.thinking, maxTokens) }),
    messages: toUpstreamTurns(request.messages),
    model: upstreamId,
    max_tokens: maxTokens,
    // The client's user id is not sent upstream.
    ...(pseudonym !== undefined && { metadata: { user_id: pseudonym } }),
  }
  const headers = { ...ANTHROPIC_HEADERS, ...betaHeaders(betas) }
  return { reader: messagesReader, path: MESSAGES_PATH, headers, body }
}
