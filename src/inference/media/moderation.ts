import { plainReader } from "../../formats/readers/plain.ts"
import { isArray, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { maxTokensIn } from "../../support/tokens.ts"
import { TOKENS_PER_MEDIA_PART } from "../accounting/cost-bound.ts"
import type { InferenceRequest } from "../inference-request.ts"
import { promptMessages } from "../input/prompt-messages.ts"
import { forwardedFields, plainRequest, tokensIn } from "./media-request.ts"
import type { ModerationRequest } from "./schemas.ts"

/** The model that OpenAI's API uses if a request names none. */
const DEFAULT_MODEL = "openai/omni-moderation-latest"

type NamedRequest = ModerationRequest & { model: string }

export const withModerationModel = (request: ModerationRequest): NamedRequest => ({
  ...request,
  model: request.model ?? DEFAULT_MODEL,
})

const moderationReader = plainReader(
  ({ results }) => isArray(results) && results.length > 0 && results.every(isDecided),
)

/** Mistral's results have no `flagged`. */
function isDecided(result: unknown): boolean {
  return isObject(result) && isObject(result["categories"]) && isObject(result["category_scores"])
}

/** Charged per request and per counted token; OpenAI's are free. */
export function moderationRequest(request: NamedRequest): InferenceRequest {
  const { input } = request
  const texts = textsOf(input)
  const images = isArray(input) ? objectsOf(input).filter(({ type }) => type === "image_url").length : 0
  const prompt = texts.join("")
  return plainRequest(request, {
    apiType: "decisions",
    output: "decisions",
    promptBound: maxTokensIn(prompt) + images * TOKENS_PER_MEDIA_PART,
    promptEstimate: tokensIn(prompt),
    messages: promptMessages(texts),
    buildUpstreamRequest: (outgoing) => ({
      reader: moderationReader,
      path: "/moderations",
      body: forwardedFields(request, outgoing),
    }),
    complete: (response) => ({ ...response, results: objectsOf(response["results"]).map(withFlag) }),
  })
}

function textsOf(input: ModerationRequest["input"]): string[] {
  if (typeof input === "string") return [input]
  return input.flatMap((one) =>
    typeof one === "string" ? [one] : typeof one["text"] === "string" ? [one["text"]] : [],
  )
}

/** Clients require `flagged`: whether any category applies. */
function withFlag(result: Json): Json {
  const categories = isObject(result["categories"]) ? result["categories"] : {}
  return { ...result, flagged: result["flagged"] ?? Object.values(categories).includes(true) }
}
