import { GatewayError } from "../../errors/errors.ts"
import type { UpstreamFields, UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../../providers/provider.ts"
import { chatRequest } from "./chat/request.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import { providerStorageIn } from "../upstream/provider-storage.ts"
import { paidToolsIn, toolUnitsOf } from "../upstream/provider-tools.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import { isClientTool } from "../../formats/tools/client-tools.ts"
import type { ChatRequest } from "../../formats/schemas.ts"

type TranslatedFormat<Request> = {
  request: Request & {
    stream: boolean
    tools?: readonly { type?: string | null | undefined }[] | null | undefined
  }
  bodyBytes: number
  /** Translates the request to the chat format; throws a GatewayError if that is impossible. */
  toChat: (request: Request) => ChatRequest
  isNativeTo: (provider: Provider) => boolean
  /** The untranslated request, for a provider that supports the format. */
  buildNativeRequest: (outgoing: UpstreamFields) => UpstreamRequest
  /** The limit of output tokens that the request sets. */
  maxTokens: number | null | undefined
  encoderFor: (request: Request, call: CallContext) => ResponseEncoder
}

/**
 * A request in a format that some providers support. They receive it untranslated, others receive the chat format.
 * Fields that the chat format cannot express, such as vendor tools, limit the call to the first kind.
 */
export function translatedRequest<Request extends object>(bridged: TranslatedFormat<Request>): InferenceRequest {
  const { request, bodyBytes, isNativeTo, buildNativeRequest, encoderFor } = bridged
  const chat = translate(bridged)
  const unsupported = chat instanceof GatewayError ? chat : vendorToolIn(request.tools)
  const normalized = chat instanceof GatewayError ? unboundedRequest(bridged) : chatRequest(chat, bodyBytes)
  const { upstream: chatUpstream, bounds } = normalized
  return {
    ...normalized,
    providerStorage: () => providerStorageIn(request),
    paidTools: () => paidToolsIn(request.tools),
    bounds: { ...bounds, toolUnits: toolUnitsOf(request) },
    upstream: {
      streamed: request.stream,
      buildUpstreamRequest: (provider, outgoing) =>
        isNativeTo(provider) ? buildNativeRequest(outgoing) : chatUpstream.buildUpstreamRequest(provider, outgoing),
      unsupportedReason: (provider) =>
        isNativeTo(provider) ? undefined : (unsupported ?? chatUpstream.unsupportedReason?.(provider)),
    },
    encoderFor: (call) => encoderFor(request, call),
  }
}

function translate<Request>({ request, toChat }: TranslatedFormat<Request>): ChatRequest | GatewayError {
  try {
    return toChat(request)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}

/** Only a provider that supports the format of the request runs its vendor's tools. */
function vendorToolIn(
  tools: readonly { type?: string | null | undefined }[] | null | undefined,
): GatewayError | undefined {
  const at = tools?.findIndex(({ type }) => !isClientTool(type)) ?? -1
  if (at === -1) return undefined
  const message = `${tools?.[at]?.type} is run by providers that support it, and none of the remaining ones does`
  return new GatewayError("invalid_request", `tools[${at}].type: ${message}.`)
}

/** A request whose cost bounds ignore the messages, because they cannot be translated. */
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
