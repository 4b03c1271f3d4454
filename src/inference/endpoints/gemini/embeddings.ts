import { costFields } from "../../../formats/usage.ts"
import { objectsOf } from "../../../support/text/json.ts"
import { embeddingsRequest } from "../../embeddings/request.ts"
import type { EmbeddingsRequest } from "../../embeddings/schemas.ts"
import type { InferenceRequest } from "../../inference-request.ts"

/** An embeddings request whose response has the format of the Gemini API. `isBatch`: a list of embeddings. */
export function geminiEmbeddingsRequest(
  request: EmbeddingsRequest,
  bodyBytes: number,
  isBatch: boolean,
): InferenceRequest {
  const normalized = embeddingsRequest(request, bodyBytes)
  return {
    ...normalized,
    encoderFor(call) {
      const encoder = normalized.encoderFor(call)
      return {
        ...encoder,
        document(result, info, charge) {
          const { data } = encoder.document(result, info, charge)
          const embeddings = objectsOf(data).map(({ embedding }) => ({ values: embedding }))
          const { prompt } = charge.tokens
          const usageMetadata = { promptTokenCount: prompt, totalTokenCount: prompt, cost: costFields(charge).cost }
          return { ...(isBatch ? { embeddings } : { embedding: embeddings[0] }), usageMetadata }
        },
      }
    },
  }
}
