import { toUpstreamBody } from "../../providers/compatible.ts"
import { boundsOf } from "../admit.ts"
import { GatewayError } from "../../edge/errors.ts"
import type { Intake, Question } from "../intake.ts"
import { toMessagesBody } from "../messages/upstream/to-body.ts"
import { asMessages } from "../wires/as-messages.ts"
import type { ChatRequest } from "../schemas.ts"
import { chatWire } from "../wires/chat.ts"
import { belongingOf } from "./belonging.ts"
import { chatDialect } from "./dialect.ts"

/** A chat request as the road takes it. */
export function chatIntake(request: ChatRequest, bodyBytes: number): Intake {
  return {
    apiType: "completions",
    output: "text",
    routing: request,
    sessionId: request.session_id ?? null,
    ...belongingOf(request),
    user: request.user ?? null,
    bounds: boundsOf(request, bodyBytes),
    question: chatQuestion(request),
    dialectOf: (call) => chatDialect(request, call),
  }
}

/** A chat request as any provider is asked it: in its own words where it does not speak the chat wire. */
export function chatQuestion(request: ChatRequest): Question {
  return {
    streamed: request.stream,
    askOf: (provider, outgoing) =>
      provider.wire === "anthropic"
        ? asMessages(request, outgoing)
        : { wire: chatWire, path: "/chat/completions", body: toUpstreamBody(request, provider, outgoing) },
    refusalOf: (provider) => (provider.wire === "anthropic" ? whyNotMessages(request) : undefined),
  }
}

/** What the Messages wire has no words for, if anything. */
function whyNotMessages(request: ChatRequest): GatewayError | undefined {
  try {
    toMessagesBody(request, { upstreamId: "", maxCompletionTokens: undefined, pseudonym: undefined })
    return undefined
  } catch (refusal) {
    if (refusal instanceof GatewayError) return refusal
    throw refusal
  }
}
