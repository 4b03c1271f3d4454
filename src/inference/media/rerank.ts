import { plainReader } from "../../formats/readers/plain.ts"
import { isArray, isInteger, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { maxTokensIn } from "../../support/tokens.ts"
import { TOKENS_PER_MEDIA_PART } from "../accounting/cost-bound.ts"
import type { Quirks } from "../../providers/provider.ts"
import type { InferenceRequest } from "../inference-request.ts"
import { promptMessages } from "../input/prompt-messages.ts"
import { forwardedFields, plainRequest, SPECIAL_TOKENS, tokensIn } from "./media-request.ts"
import type { RerankRequest } from "./schemas.ts"

const reader = plainReader(({ results }) => isArray(results) && results.every(isScored))

function isScored(result: unknown): boolean {
  return isObject(result) && isInteger(result["index"]) && typeof result["relevance_score"] === "number"
}

/** Charged per request and per counted token: some providers count the query once per document. */
export function rerankRequest(request: RerankRequest): InferenceRequest {
  const { query, documents } = request
  const media = documents.filter((one) => typeof one !== "string" && one.image !== undefined).length
  const texts = documents.map((one) => (typeof one === "string" ? one : (one.text ?? "")))
  return plainRequest(request, {
    apiType: "rerank",
    output: "rerank",
    promptBound:
      (maxTokensIn(query) + SPECIAL_TOKENS) * documents.length +
      maxTokensIn(texts.join("")) +
      media * TOKENS_PER_MEDIA_PART,
    promptEstimate: tokensIn(query + texts.join("")),
    messages: promptMessages([query, ...texts]),
    buildUpstreamRequest: (outgoing, { quirks }) => {
      const body = forwardedFields(request, outgoing)
      return {
        reader,
        path: quirks.rerank?.path ?? "/rerank",
        body: { ...body, ...toDocuments(documents, quirks) },
        // The response is one document.
        translate: { document: toResults, stream: () => () => [] },
      }
    },
    complete: (response) => ({ ...response, results: topResults(response, request) }),
  })
}

function toDocuments(documents: RerankRequest["documents"], { rerank }: Quirks): Json {
  const sent = rerank?.takesTextOnly ? documents.map(textOnly) : documents
  return rerank?.documentsField ? { documents: undefined, [rerank.documentsField]: sent } : { documents: sent }
}

const textOnly = (document: RerankRequest["documents"][number]) =>
  typeof document !== "string" && document.image === undefined ? (document.text ?? "") : document

/** Voyage and Fireworks have `data` in place of `results`, text-embeddings-inference `score`, Cohere units in `meta`. */
function toResults({ data, results = data, usage, ...response }: Json): Json {
  const { billed_units: units } = isObject(response["meta"]) ? response["meta"] : {}
  const searchUnits = isObject(units) && typeof units["search_units"] === "number" ? units["search_units"] : undefined
  const counted = usage ?? (searchUnits === undefined ? undefined : { search_units: searchUnits })
  return {
    ...response,
    results: isArray(results) ? results.map(withScore) : results,
    ...(counted !== undefined && { usage: counted }),
  }
}

function withScore(result: unknown): unknown {
  if (!isObject(result)) return result
  const { score, relevance_score: relevance = score, ...fields } = result
  return { ...fields, relevance_score: relevance }
}

/** The most relevant documents first, at most `top_n`: some providers have another name for it, and return all. */
function topResults(response: Json, { documents, top_n: limit }: RerankRequest): Json[] {
  const scoreOf = ({ relevance_score: score }: Json) => (typeof score === "number" ? score : 0)
  const sorted = objectsOf(response["results"]).toSorted((a, b) => scoreOf(b) - scoreOf(a))
  return sorted.slice(0, limit ?? sorted.length).map((result) => withDocument(result, documents))
}

function withDocument(result: Json, documents: RerankRequest["documents"]): Json {
  const { index } = result
  const document = isInteger(index) ? documents[index] : undefined
  const asObject = (text: unknown) => (typeof text === "string" ? { text } : text)
  return { ...result, document: asObject(result["document"] ?? document) }
}
