import { isObject, type Json } from "../../support/text/json.ts"
import { ChatRequest, MAX_SESSION_ID_LENGTH } from "../schemas.ts"

/**
 * Chat requests that need no schema: common fields with values that the schema accepts unchanged. A request with
 * another field of the schema, or another value, goes through the schema.
 */

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === "string"
const isFlag: Check = (value) => typeof value === "boolean"
const isAbsent: Check = (value) => value === undefined
const isShort =
  (max: number): Check =>
  (value) =>
    typeof value === "string" && value.length <= max
const isBetween =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === "number" && value >= min && value <= max
const isInteger =
  (min: number, max: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && isBetween(min, max)(value)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const isOneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value)
/** An object whose listed fields are valid; other fields are ignored. */
const hasFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (!isObject(value) || Object.hasOwn(value, "__proto__")) return false
    for (const key in fields) if (!fields[key]?.(value[key])) return false
    return true
  }

const isTextPart = hasFields({ type: isOneOf("text"), text: isText })
/** The hosts of other URLs are checked on the general path. */
const isData: Check = (value) => typeof value === "string" && value.startsWith("data:")
const isImagePart = hasFields({ type: isOneOf("image_url"), image_url: hasFields({ url: isData }) })
const isTextContent: Check = (value) => isText(value) || isListOf(isTextPart)(value)
const isUserContent: Check = (value) =>
  isText(value) || isListOf((part) => isTextPart(part) || isImagePart(part))(value)

const isToolCall = hasFields({
  id: isText,
  type: isOneOf("function"),
  function: hasFields({ name: isText, arguments: isText }),
})

const MESSAGES: Readonly<Record<string, Check>> = {
  system: hasFields({ content: isTextContent, name: orNull(isText) }),
  developer: hasFields({ content: isTextContent, name: orNull(isText) }),
  user: hasFields({ content: isUserContent, name: orNull(isText) }),
  assistant: hasFields({
    content: orNull(isTextContent),
    name: orNull(isText),
    tool_calls: orNull(isListOf(isToolCall)),
    refusal: orNull(isText),
    reasoning: orNull(isText),
    reasoning_details: isAbsent,
  }),
  tool: hasFields({ content: isTextContent, tool_call_id: isText }),
}

const isMessage: Check = (value) => {
  if (!isObject(value) || typeof value["role"] !== "string" || !Object.hasOwn(MESSAGES, value["role"])) return false
  return MESSAGES[value["role"]]?.(value) ?? false
}

const NAME = /^[\w-]{1,64}$/
const isPlainObject: Check = (value) => isObject(value) && !Object.hasOwn(value, "__proto__")
const isTool = hasFields({
  type: isOneOf("function"),
  function: hasFields({
    name: (value) => typeof value === "string" && NAME.test(value),
    description: orNull(isText),
    parameters: (value) => value === undefined || isPlainObject(value),
    strict: orNull(isFlag),
  }),
})

const FIELDS: Readonly<Record<string, Check>> = {
  model: (value) => typeof value === "string" && value !== "" && value.length <= 256,
  messages: (value) => Array.isArray(value) && value.length > 0 && value.every(isMessage),
  stream: isFlag,
  stream_options: orNull(hasFields({ include_usage: orNull(isFlag) })),
  usage: orNull(hasFields({ include: orNull(isFlag) })),
  max_tokens: orNull(isInteger(1, Number.MAX_SAFE_INTEGER)),
  max_completion_tokens: orNull(isInteger(1, Number.MAX_SAFE_INTEGER)),
  temperature: orNull(isBetween(0, 2)),
  top_p: orNull(isBetween(0, 1)),
  frequency_penalty: orNull(isBetween(-2, 2)),
  presence_penalty: orNull(isBetween(-2, 2)),
  seed: orNull(isInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  stop: orNull((value) => isText(value) || (Array.isArray(value) && value.length <= 4 && isListOf(isText)(value))),
  n: orNull(isInteger(1, 128)),
  tools: orNull(isListOf(isTool)),
  tool_choice: orNull(isOneOf("none", "auto", "required")),
  parallel_tool_calls: orNull(isFlag),
  response_format: orNull(hasFields({ type: isOneOf("text", "json_object") })),
  user: orNull(isShort(256)),
  safety_identifier: orNull(isShort(256)),
  session_id: orNull(isShort(MAX_SESSION_ID_LENGTH)),
}

/** Fields in which Google's API names cached prompts. */
const GOOGLE_FIELDS = ["cached_content", "cachedContent", "extra_body", "google"]

/** Fields of the schema that are not in `FIELDS`, and fields that planning reads. */
const JUDGED = new Set([
  ...Object.keys(ChatRequest.shape).filter((key) => !Object.hasOwn(FIELDS, key)),
  ...GOOGLE_FIELDS,
])

/** Whether the schema would accept a body unchanged. Sets `stream` if it is omitted, like the schema. */
export function isPlainChat(body: unknown): body is ChatRequest {
  if (!isObject(body) || Object.hasOwn(body, "__proto__") || !FIELDS["messages"]?.(body["messages"])) return false
  for (const key in body) {
    if (JUDGED.has(key)) return false
    if (Object.hasOwn(FIELDS, key) && !FIELDS[key]?.(body[key])) return false
  }
  return setStream(body)
}

function setStream(body: Json): true {
  body["stream"] ??= false
  return true
}
