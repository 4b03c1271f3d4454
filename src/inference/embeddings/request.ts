import { endUserOf } from "../draft.ts"
import { withoutGatewayFields } from "../../formats/chat/normalize/normalize.ts"
import { isObject, objectsOf, withoutNulls } from "../../support/text/json.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import { forwardedFields, UNSTREAMED, withoutRejected } from "../media/media-request.ts"
import { promptMessages } from "../input/prompt-messages.ts"
import { costFields, withoutCosts } from "../../formats/usage.ts"
import { plainReader } from "../../formats/readers/plain.ts"
import { encodedVector } from "./encoding.ts"
import type { EmbeddingsRequest } from "./schemas.ts"
import { plainCall } from "../../money/price-list.ts"

const embeddingsReader = plainReader(
  ({ data }) => Array.isArray(data) && data.length > 0 && data.every((one) => isObject(one) && "embedding" in one),
)

/** An embeddings request normalized for the pipeline: all prompt, no completion. */
export function embeddingsRequest(request: EmbeddingsRequest, bodyBytes: number): InferenceRequest {
  const messages = promptMessages(textsIn(request.input))
  return {
    apiType: "embeddings",
    output: "embeddings",
    routing: request,
    sessionId: request.session_id ?? null,
    conversation: null,
    signatures: [],
    user: endUserOf(request),
    trace: request.trace ?? null,
    ...(messages && { messages }),
    providerStorage: () => undefined,
    bounds: {
      promptBound: bodyBytes,
      pieces: { images: 0 },
      // One request has many texts, each of which may fill the context.
      priced: plainCall(),
      promptLimit: "none",
      promptEstimate: Math.ceil(JSON.stringify(request.input).length / UNITS_PER_TOKEN),
      completionBound: () => 0,
      choices: 1,
      isAssumed: () => false,
    },
    upstream: {
      streamed: false,
      buildUpstreamRequest: (provider, outgoing) => {
        const body = forwardedFields(request, outgoing)
        return withoutRejected({ reader: embeddingsReader, path: "/embeddings", body }, provider)
      },
    },
    encoderFor: (call) => embeddingsEncoder(call, request.encoding_format),
  }
}

/** The texts of the input. Token ids and images have none. */
function textsIn(input: EmbeddingsRequest["input"]): string[] {
  if (typeof input === "string") return [input]
  return (input as readonly unknown[]).flatMap((one) => {
    if (typeof one === "string") return [one]
    const parts = isObject(one) ? objectsOf(one["content"]) : []
    return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []))
  })
}

function embeddingsEncoder(call: CallContext, encoding: EmbeddingsRequest["encoding_format"]): ResponseEncoder {
  return {
    ...UNSTREAMED,
    document(result, info, charge) {
      // Strict clients accept an absent field where some providers send null.
      const { usage, ...rest } = withoutNulls(withoutGatewayFields(result))
      const hasUsage = charge.tokensFrom !== "none"
      const { prompt } = charge.tokens
      return {
        ...rest,
        object: "list",
        data: objectsOf(rest["data"]).map((one, index) => ({
          index,
          ...withoutNulls(one),
          embedding: encodedVector(one["embedding"], encoding),
          object: "embedding",
        })),
        model: info.model,
        ...(hasUsage && {
          usage: {
            ...(isObject(usage) && withoutNulls(withoutCosts(usage))),
            prompt_tokens: prompt,
            total_tokens: prompt,
            ...costFields(charge),
          },
        }),
        provider: info.provider,
        ...(call.meta.wantsMetadata && call.metadata(info.attempts)),
      }
    },
  }
}
