import { isArray, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import type { Rejection } from "./rejection.ts"
import type { Provider, Quirks } from "../provider.ts"

/** Adapts a request to what its rejection says: which field of it the provider does not know. */

/** Messages about a field that a provider does not know, or does not accept for the model. */
const UNKNOWN_FIELD =
  /unknown|unrecogni[sz]ed|unsupported|unexpected|extra_forbidden|extra (?:inputs?|fields?)|additional propert|(?:not|n't|isn't) (?:be )?(?:supported?|permitted|allowed|accepted|recogni[sz]ed)|does not (?:support|accept|allow)|is deprecated|use '?max_|unknown variant|invalid role|roles?\b.{0,40}must be/i

/** Fields without which a request has the same meaning. */
const OPTIONAL_FIELDS = [
  // The gateway encodes vectors and shortens rankings itself.
  "encoding_format",
  "top_n",
  "input_type",
  "frequency_penalty",
  "logit_bias",
  "min_p",
  "parallel_tool_calls",
  "presence_penalty",
  "prompt_cache_key",
  "reasoning",
  "reasoning_effort",
  "repetition_penalty",
  "seed",
  "temperature",
  "top_a",
  "top_k",
  "top_p",
  "user",
  "verbosity",
]
/** Fields of messages and parts that this API family adds to the OpenAI format. */
const EXTENSIONS = ["reasoning_content", "reasoning_details", "cache_control"]

/** The provider with further quirks; undefined if the rejection names no field that can be left out or renamed. */
export function adaptProvider(provider: Provider, { status, message }: Rejection, body: Json): Provider | undefined {
  const isAboutRequest = status === 400 || status === 422
  const isUnknown = UNKNOWN_FIELD.test(message) || isDocumentsUnknown(message) || STRING_CONTENT.test(message)
  if (!isAboutRequest || provider.format !== "openai" || !isUnknown) return undefined
  const learned = learn(message, body)
  if (Object.keys(learned).length === 0) return undefined
  const { quirks } = provider
  const rejects = [...(quirks.rejects ?? []), ...(learned.rejects ?? [])]
  return { ...provider, quirks: { ...quirks, ...learned, ...(rejects.length > 0 && { rejects }) } }
}

function learn(message: string, body: Json): Quirks {
  const mentions = (name: string) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(message)
  const rejects = OPTIONAL_FIELDS.filter((name) => name in body && mentions(name))
  const hasExtension = EXTENSIONS.some((name) => mentions(name) && hasKey(body["messages"], name))
  // Usage and limits decide the charge: they change only by a message that quotes nothing of the client.
  const isUnquoted = (name: string) => name in body && mentions(name) && !isInText(body, name)
  return {
    ...(rejects.length > 0 && { rejects }),
    // Image models of OpenAI have one format of responses. In a chat, this field has a meaning.
    ...(mentions("response_format") && "prompt" in body && { rejects: [...rejects, "response_format"] }),
    ...(isDocumentsUnknown(message) && "documents" in body && { rerank: TEXTS }),
    ...(STRING_CONTENT.test(message) && hasOtherContent(body) && { needsStringContent: true as const }),
    ...(hasExtension && { isStrict: true as const }),
    ...(isUnquoted("stream_options") && { noStreamOptions: true as const }),
    ...(isUnquoted("max_tokens") &&
      mentions("max_completion_tokens") && { maxTokensField: "max_completion_tokens" as const }),
    ...(isUnquoted("max_completion_tokens") && { maxTokensField: "max_tokens" as const }),
    ...(/\b(?:developer|roles?)\b/i.test(message) && hasDeveloper(body) && { takesDeveloper: false as const }),
  }
}

const TEXTS = { takesTextOnly: true, documentsField: "texts" } as const

/** Servers of text-embeddings-inference rank `texts`. */
function isDocumentsUnknown(message: string): boolean {
  return /missing field `?texts\b/.test(message)
}

/** Messages about content that is null or a list. */
const STRING_CONTENT =
  /\bcontent\b.*\b(?:string|null|none|required|missing|sequence|empty)\b|\b(?:string|missing field)\b.*\bcontent\b/i

/** Whether content is null, or has parts that are all text. */
function hasOtherContent({ messages }: Json): boolean {
  return objectsOf(messages).some(({ content }) => {
    if ((content ?? null) === null) return true
    return isArray(content) && content.every((part) => isObject(part) && part["type"] === "text")
  })
}

function hasDeveloper({ messages }: Json): boolean {
  return objectsOf(messages).some(({ role }) => role === "developer")
}

/** Whether a message or one of its parts has the key. */
function hasKey(messages: unknown, name: string): boolean {
  return objectsOf(messages).some(
    (message) => name in message || objectsOf(message["content"]).some((one) => name in one),
  )
}

/** Whether the name occurs in a text or a key inside the body. */
function isInText(value: unknown, name: string, isTop = true): boolean {
  if (typeof value === "string") return value.includes(name)
  if (isArray(value)) return value.some((one) => isInText(one, name, false))
  if (!isObject(value)) return false
  return Object.entries(value).some(([key, field]) => (!isTop && key.includes(name)) || isInText(field, name, false))
}
