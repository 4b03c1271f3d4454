import { GatewayError } from "../../edge/errors.ts"
import { boundsOf } from "../admit.ts"
import { chatIntake, chatQuestion } from "../chat/intake.ts"
import { UNITS_PER_TOKEN } from "../estimate.ts"
import { isClientTool } from "../prepare/needs.ts"
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
      refusalOf: (provider) => (provider.responses ? undefined : isSayable ? vendorToolIn(request.tools) : bridged),
    },
    dialectOf: (call) => responsesDialect(request, call),
  }
}

/** Only a provider that speaks this wire runs its vendor's tools. */
export function vendorToolIn(
  tools: readonly { type?: string | undefined }[] | null | undefined,
): GatewayError | undefined {
  const at = tools?.findIndex(({ type }) => !isClientTool(type)) ?? -1
  if (at === -1) return undefined
  const words = `${tools?.[at]?.type} is run by providers that offer it, and the one that is left does not`
  return new GatewayError("invalid_request", `tools[${at}].type: ${words}.`)
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
