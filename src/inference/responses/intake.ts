import { GatewayError } from "../../edge/errors.ts"
import { boundsOf } from "../admit.ts"
import { chatIntake, chatQuestion } from "../chat/intake.ts"
import { UNITS_PER_TOKEN } from "../estimate.ts"
import type { Intake } from "../intake.ts"
import type { ChatRequest } from "../schemas.ts"
import { responsesWire } from "../wires/responses.ts"
import { responsesDialect } from "./dialect.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { toChatRequest } from "./to-chat.ts"
import { toResponsesBody } from "./upstream.ts"

/**
 * A responses request as the road takes it: asked as it is where the provider speaks this wire, on the chat wire where it
 * does not. What the chat wire has no words for goes to the first kind alone.
 */
export function responsesIntake(request: ResponsesRequest, bodyBytes: number): Intake {
  const bridged = bridge(request)
  const isSayable = !(bridged instanceof GatewayError)
  const intake = isSayable ? chatIntake(bridged, bodyBytes) : unbridged(request, bodyBytes)
  return {
    ...intake,
    question: {
      streamed: request.stream,
      askOf: (provider, outgoing) =>
        provider.responses
          ? { wire: responsesWire, path: "/responses", body: toResponsesBody(request, outgoing) }
          : intake.question.askOf(provider, outgoing),
      refusalOf: (provider) => (isSayable || provider.responses ? undefined : bridged),
    },
    dialectOf: (call) => responsesDialect(request, call),
  }
}

function bridge(request: ResponsesRequest): ChatRequest | GatewayError {
  try {
    return toChatRequest(request)
  } catch (refusal) {
    if (refusal instanceof GatewayError) return refusal
    throw refusal
  }
}

/** The same but for the bounds, which know nothing of the items. */
function unbridged(request: ResponsesRequest, bodyBytes: number): Intake {
  const chat = { ...request, messages: [], max_completion_tokens: request.max_output_tokens } as unknown as ChatRequest
  const intake = chatIntake(chat, bodyBytes)
  return {
    ...intake,
    bounds: { ...boundsOf(chat, bodyBytes), promptEstimate: Math.ceil(bodyBytes / UNITS_PER_TOKEN) },
    question: chatQuestion(chat),
  }
}
