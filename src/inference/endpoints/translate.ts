import { GatewayError } from "../../errors/errors.ts"
import type { Outgoing, Asked } from "../../formats/upstream.ts"
import type { Provider } from "../../providers/provider.ts"
import { chatIntake } from "./chat/request.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"
import type { CallState, Intake } from "../inference-request.ts"
import type { Dialect } from "../../formats/encoder.ts"
import { isClientTool } from "../prepare/needs.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

type Bridged<Request> = {
  request: Request & {
    stream: boolean
    tools?: readonly { type?: string | null | undefined }[] | null | undefined
  }
  bodyBytes: number
  /** The request in the words of the chat wire; throws a GatewayError where it has none. */
  toChat: (request: Request) => ChatRequest
  isSpokenBy: (provider: Provider) => boolean
  /** The request in its own words, for a provider that speaks them. */
  askOf: (outgoing: Outgoing) => Asked
  /** The most that was asked to be said, in tokens. */
  maxTokens: number | null | undefined
  dialectOf: (request: Request, call: CallState) => Dialect
}

/**
 * A request of a wire that some providers speak: asked as it is of those, on the chat wire of the others. What the chat
 * wire has no words for, a vendor's own tool among it, goes to the first kind alone.
 */
export function bridgedIntake<Request extends object>(bridged: Bridged<Request>): Intake {
  const { request, bodyBytes, isSpokenBy, askOf, dialectOf } = bridged
  const chat = translate(bridged)
  const refusal = chat instanceof GatewayError ? chat : vendorToolIn(request.tools)
  const intake = chat instanceof GatewayError ? unsayable(bridged) : chatIntake(chat, bodyBytes)
  const { question } = intake
  return {
    ...intake,
    question: {
      streamed: request.stream,
      askOf: (provider, outgoing) => (isSpokenBy(provider) ? askOf(outgoing) : question.askOf(provider, outgoing)),
      refusalOf: (provider) => (isSpokenBy(provider) ? undefined : (refusal ?? question.refusalOf?.(provider))),
    },
    dialectOf: (call) => dialectOf(request, call),
  }
}

function translate<Request>({ request, toChat }: Bridged<Request>): ChatRequest | GatewayError {
  try {
    return toChat(request)
  } catch (refusal) {
    if (refusal instanceof GatewayError) return refusal
    throw refusal
  }
}

/** Only a provider that speaks the request's own wire runs its vendor's tools. */
function vendorToolIn(
  tools: readonly { type?: string | null | undefined }[] | null | undefined,
): GatewayError | undefined {
  const at = tools?.findIndex(({ type }) => !isClientTool(type)) ?? -1
  if (at === -1) return undefined
  const words = `${tools?.[at]?.type} is run by providers that offer it, and none that is left does`
  return new GatewayError("invalid_request", `tools[${at}].type: ${words}.`)
}

/** An intake whose bounds know nothing of the messages. */
function unsayable<Request extends object>({ request, bodyBytes, maxTokens }: Bridged<Request>): Intake {
  const chat = { ...request, messages: [], max_completion_tokens: maxTokens } as unknown as ChatRequest
  const intake = chatIntake(chat, bodyBytes)
  const messages = [request]
  return { ...intake, messages, bounds: { ...intake.bounds, promptEstimate: Math.ceil(bodyBytes / UNITS_PER_TOKEN) } }
}
