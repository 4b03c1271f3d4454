import { GatewayError } from "../../errors/errors.ts"
import type { UpstreamFields, UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../../providers/provider.ts"
import { chatRequest } from "./chat/request.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import { isClientTool } from "../prepare/needs.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

type TranslatedFormat<Request> = {
  request: Request & {
    stream: boolean
    tools?: readonly { type?: string | null | undefined }[] | null | undefined
  }
  bodyBytes: number
  /** The request in the words of the chat wire; throws a GatewayError where it has none. */
  toChat: (request: Request) => ChatRequest
  isNativeTo: (provider: Provider) => boolean
  /** The request in its own words, for a provider that speaks them. */
  buildNativeRequest: (outgoing: UpstreamFields) => UpstreamRequest
  /** The most that was asked to be said, in tokens. */
  maxTokens: number | null | undefined
  encoderFor: (request: Request, call: CallContext) => ResponseEncoder
}

/**
 * A request of a wire that some providers speak: asked as it is of those, on the chat wire of the others. What the chat
 * wire has no words for, a vendor's own tool among it, goes to the first kind alone.
 */
export function translatedRequest<Request extends object>(bridged: TranslatedFormat<Request>): InferenceRequest {
  const { request, bodyBytes, isNativeTo: isSpokenBy, buildNativeRequest: askOf, encoderFor } = bridged
  const chat = translate(bridged)
  const refusal = chat instanceof GatewayError ? chat : vendorToolIn(request.tools)
  const normalized = chat instanceof GatewayError ? unboundedRequest(bridged) : chatRequest(chat, bodyBytes)
  const { upstream: question } = normalized
  return {
    ...normalized,
    upstream: {
      streamed: request.stream,
      buildUpstreamRequest: (provider, outgoing) =>
        isSpokenBy(provider) ? askOf(outgoing) : question.buildUpstreamRequest(provider, outgoing),
      unsupportedReason: (provider) =>
        isSpokenBy(provider) ? undefined : (refusal ?? question.unsupportedReason?.(provider)),
    },
    encoderFor: (call) => encoderFor(request, call),
  }
}

function translate<Request>({ request, toChat }: TranslatedFormat<Request>): ChatRequest | GatewayError {
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
  const message = `${tools?.[at]?.type} is run by providers that offer it, and none that is left does`
  return new GatewayError("invalid_request", `tools[${at}].type: ${message}.`)
}

/** An intake whose bounds know nothing of the messages. */
function unboundedRequest<Request extends object>({
  request,
  bodyBytes,
  maxTokens,
}: TranslatedFormat<Request>): InferenceRequest {
  const chat = { ...request, messages: [], max_completion_tokens: maxTokens } as unknown as ChatRequest
  const normalized = chatRequest(chat, bodyBytes)
  const messages = [request]
  return {
    ...normalized,
    messages,
    bounds: { ...normalized.bounds, promptEstimate: Math.ceil(bodyBytes / UNITS_PER_TOKEN) },
  }
}
