import { GatewayError } from "../../errors/errors.ts"
import { isGeminiPath } from "../../http/paths.ts"
import type { GeminiModel, GeminiModelList, Model } from "../schemas.ts"

/** Whether the client is one of Google's API: all of them send the key in this header. */
export function speaksGemini({ headers, url }: Request): boolean {
  return headers.has("x-goog-api-key") || isGeminiPath(new URL(url).pathname)
}

const PAGE_SIZE = 50

/** Models in the format of Google's Gemini API. https://ai.google.dev/api/models */
export function toGeminiModel(model: Model): GeminiModel {
  const { id, name, description, context_length: input, top_provider: provider, architecture } = model
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: model.canonical_slug,
    displayName: name,
    description,
    ...(input !== null && { inputTokenLimit: input }),
    ...(provider.max_completion_tokens !== null && { outputTokenLimit: provider.max_completion_tokens }),
    supportedGenerationMethods: architecture.output_modalities.includes("embeddings")
      ? ["embedContent", "batchEmbedContents"]
      : ["generateContent", "streamGenerateContent", "countTokens"],
    thinking: model.supported_parameters.includes("reasoning"),
  }
}

type Cursor = { pageSize?: number | undefined; pageToken?: string | undefined }

/** A page of the models. A page token is the id of the last model of the page before. */
export function toGeminiList(
  all: readonly Model[],
  { pageSize: size = PAGE_SIZE, pageToken: token }: Cursor,
): GeminiModelList {
  const from = token === undefined ? 0 : all.findIndex(({ id }) => id === token) + 1
  if (token !== undefined && from === 0) {
    throw new GatewayError("invalid_request", "pageToken: must be the nextPageToken of another page.")
  }
  const page = all.slice(from, from + size)
  const last = page.at(-1)
  const hasMore = from + page.length < all.length
  return { models: page.map(toGeminiModel), ...(last && hasMore && { nextPageToken: last.id }) }
}
