import type * as z from "zod"
import { GatewayError } from "../../../errors/errors.ts"
import {
  GATEWAY_FIELD_NAMES,
  type GeminiBatchEmbedRequest,
  type GeminiCountRequest,
  GeminiRequest,
} from "../../../formats/gemini/schemas.ts"
import { withCamelCaseNames } from "../../../formats/gemini/field-names.ts"
import { toMessages } from "../../../formats/gemini/messages.ts"
import { toChatFields } from "../../../formats/gemini/to-chat.ts"
import { replacedFunctionNames } from "../../../formats/gemini/tools.ts"
import { ChatRequest } from "../../../formats/schemas.ts"
import { explain } from "../../../http/schema.ts"
import type { Json } from "../../../support/text/json.ts"
import { estimatePromptTokens, estimateTokens } from "../../../support/tokens.ts"
import { requireBodyDepth } from "../../input/body-depth.ts"
import { EmbeddingsRequest } from "../../embeddings/schemas.ts"

/** Checks a body of the Gemini API, whose fields may be in camel case or in snake case. */
export function parseGemini<Schema extends z.ZodType>(schema: Schema, body: Json): z.output<Schema> {
  requireBodyDepth(body)
  return parse(schema, withCamelCaseNames(body, GATEWAY_FIELD_NAMES))
}

/** Fields of the chat format whose values the schema of a chat request checks, by their names here. */
const NAMES = new Map([
  ["stop", "stopSequences"],
  ["n", "candidateCount"],
  ["max_tokens", "maxOutputTokens"],
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["top_k", "topK"],
  ["seed", "seed"],
  ["presence_penalty", "presencePenalty"],
  ["frequency_penalty", "frequencyPenalty"],
  ["top_logprobs", "logprobs"],
])

/** The chat request of a body, and what its response depends on. */
export function toChatRequest(body: Json, model: string, stream: boolean) {
  const request = parseGemini(GeminiRequest, body)
  const chat = parse(ChatRequest, { ...toChatFields(request), model, stream })
  const toolNames = replacedFunctionNames(request)
  return { chat, toolNames, includesThoughts: request.generationConfig?.thinkingConfig?.includeThoughts === true }
}

export function countTokens(request: GeminiCountRequest): number {
  const { contents = [], systemInstruction, tools } = request.generateContentRequest ?? request
  const messages = toMessages({ contents, systemInstruction })
  return estimatePromptTokens(messages) + (tools ? estimateTokens(JSON.stringify(tools)) : 0)
}

/** The embeddings request for several contents, which all have the dimensions of the first. */
export function toEmbeddingsRequest(
  { requests, ...fields }: GeminiBatchEmbedRequest,
  model: string,
): EmbeddingsRequest {
  const dimensions = requests[0]?.outputDimensionality ?? undefined
  if (requests.some(({ outputDimensionality: other }) => (other ?? undefined) !== dimensions)) {
    throw new GatewayError("invalid_request", "requests: outputDimensionality must be the same in all requests.")
  }
  const input = requests.map(({ content }) => (content.parts ?? []).map(({ text }) => text ?? "").join(""))
  return parse(EmbeddingsRequest, { ...fields, model, input, ...(dimensions !== undefined && { dimensions }) })
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => {
    const [field, ...rest] = issue.path
    const name = NAMES.get(String(field))
    return name === undefined ? issue : { ...issue, path: ["generationConfig", name, ...rest] }
  })
  throw new GatewayError("invalid_request", explain({ issues }))
}
