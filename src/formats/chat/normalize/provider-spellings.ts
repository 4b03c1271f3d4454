import { isArray, isCount, isObject, type Json, listOf, objectsOf } from "../../../support/text/json.ts"

/** Provider variants of fields and values of the chat format. */

/** Providers have at most 128 choices. Clients use an index as a position in an array. */
const MAX_CHOICES = 128

/** The index of a choice; its position in the response if the provider sends no valid one. */
export function choiceIndex({ index }: Json, position: number): number {
  return isCount(index) && index < MAX_CHOICES ? index : position
}

/**
 * The delta of a choice, or its message if that adds to the response. Some servers send a `message` in place of a
 * delta. Others end a stream with the complete message, which repeats its deltas and adds nothing. `withDeltas`: the
 * choices with content in deltas.
 */
export function growthOf(choice: Json, index: number, withDeltas: Set<number>): Json | undefined {
  const { delta } = choice
  if (!isObject(delta)) return withDeltas.has(index) ? undefined : messageOf(choice)
  if (!withDeltas.has(index) && hasFields(delta)) withDeltas.add(index)
  return delta
}

/** The message of a choice. Some servers send its text in the completions format. */
export function messageOf({ message, text }: Json): Json | undefined {
  if (isObject(message)) return message
  return typeof text === "string" ? { content: text } : undefined
}

/** The message of a choice of a document. Some servers send a delta in its place. */
export function documentMessageOf(choice: Json): Json {
  return messageOf(choice) ?? (isObject(choice["delta"]) ? choice["delta"] : {})
}

/** The other fields of a choice than its message: without the text if that is its message. */
export function withoutMessage({ message, ...fields }: Json): Json {
  if (isObject(message) || isObject(fields["delta"])) return fields
  const { text: _, ...others } = fields
  return others
}

/** Whether a delta or message has more than a role. */
export function hasFields(message: Json): boolean {
  return Object.entries(message).some(([key, value]) => key !== "role" && !isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (isArray(value) && value.length === 0)
}

/** The tool calls of a message or delta. Text Generation Inference sends one call without an array. */
export function callsIn({ tool_calls: calls }: Json): readonly unknown[] {
  if (isObject(calls)) return [calls]
  const list = listOf(calls)
  return list.every(isObject) ? list : list.filter(isObject)
}

/** The parts of a content that is neither a string nor absent: an array, one part without an array, or a number. */
export function partsOf(content: unknown): readonly unknown[] | undefined {
  if (content === undefined || content === null || typeof content === "string") return undefined
  if (isArray(content)) return content
  if (isObject(content)) return [content]
  return typeof content === "number" ? [String(content)] : []
}

/**
 * Flattens the content parts of a provider's message for chat clients: text becomes one string, reasoning and images
 * move to separate fields, other parts are dropped. Returns the same object if the content has no parts.
 */
export function flattenContent(message: Json): Json {
  const parts = partsOf(message["content"])
  if (!parts) return message
  const thoughts = parts.filter(isThought)
  const drawn = parts.filter((part) => isObject(part) && isObject(part["image_url"]))
  const details = listOf(message["reasoning_details"])
  const thought = thoughts.map(thoughtIn).join("")
  return {
    ...message,
    content: textOf(parts.filter((part) => !isThought(part))),
    ...(thought !== "" && { reasoning: textOf(message["reasoning"]) + thought }),
    ...(thoughts.length > 0 && { reasoning_details: [...details, ...thoughts.map(toDetail)] }),
    ...(drawn.length > 0 && { images: [...listOf(message["images"]), ...drawn] }),
  }
}

function isThought(part: unknown): part is Json {
  return isObject(part) && (part["type"] === "thinking" || part["type"] === "reasoning")
}

/** The text of a reasoning part: `thinking` of Mistral, `summary` of Databricks. Empty for another part. */
export function thoughtIn(part: Json): string {
  return isThought(part) ? textOf(part["thinking"] ?? part["summary"] ?? part["reasoning"] ?? part["text"]) : ""
}

function toDetail(part: Json, index: number): Json {
  const candidates = [part, ...objectsOf(part["summary"])].map(({ signature }) => signature)
  const signature = candidates.find((one) => typeof one === "string" && one !== "")
  return { type: "reasoning.text", text: thoughtIn(part), ...(signature !== undefined && { signature }), index }
}

/** The text of a string, of a content part, or of an array of either. */
function textOf(message: unknown): string {
  if (typeof message === "string") return message
  if (isArray(message)) return message.map(textOf).join("")
  return isObject(message) && typeof message["text"] === "string" ? message["text"] : ""
}

/** Other fields than `reasoning` in which providers send reasoning text. */
const REASONING_SPELLINGS = ["reasoning_content", "reasoning_text", "thinking"] as const
/** All fields of a message with reasoning text. The first with text is used. */
export const REASONING_KEYS = ["reasoning", ...REASONING_SPELLINGS] as const

/** The reasoning text of a message or delta. Some providers send the same text in two fields: one of them counts. */
export function reasoningIn(message: Json): string {
  for (const key of REASONING_KEYS) {
    const text = reasoningText(message[key])
    if (text !== "") return text
  }
  return ""
}

/** The reasoning text in the details of a message or delta. */
export function reasoningInDetails({ reasoning_details: details }: Json): string {
  let text = ""
  for (const detail of objectsOf(details)) {
    if (detail["type"] === "reasoning.text") text += textOf(detail["text"])
    if (detail["type"] === "reasoning.summary") text += textOf(detail["summary"])
  }
  return text
}

/** Some servers send parts, or an object with a summary. */
function reasoningText(value: unknown): string {
  if (typeof value === "string") return value
  if (isArray(value)) return value.map(reasoningText).join("")
  if (!isObject(value)) return ""
  return textOf(value["text"] ?? value["content"] ?? value["thinking"] ?? value["summary"])
}

/**
 * Moves reasoning of a message or delta to `reasoning` and `reasoning_details`; returns the same object if no other
 * field is used, and no other type than text.
 */
export function withReasoning(message: Json): Json {
  const { reasoning, reasoning_details: details } = message
  const isText = reasoning === undefined || reasoning === null || typeof reasoning === "string"
  if (isText && REASONING_SPELLINGS.every((key) => !(key in message))) return message
  const { reasoning_content: _content, reasoning_text: _text, thinking: _thinking, ...rest } = message
  const text = reasoningIn(message)
  if (text === "") return isText ? rest : { ...rest, reasoning: null }
  const hasDetails = listOf(details).some(isObject)
  return {
    ...rest,
    reasoning: text,
    reasoning_details: hasDetails ? details : [{ type: "reasoning.text", text, index: 0 }],
  }
}

/** `function_call` is the deprecated form of `tool_calls`. */
const FINISH_REASONS = new Set(["stop", "length", "tool_calls", "content_filter", "error", "function_call"])

/** Nonstandard finish reasons, in lower case with underscores. */
const ALIASES = new Map([
  ...names("stop", "eos", "eos_token", "end_turn", "end", "stop_sequence", "stop_token", "complete", "completed"),
  ...names("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded", "abort"),
  ...names("length", "insufficient_system_resource", "time_limit"),
  ...names("tool_calls", "tool_call", "tool_use", "function_calls"),
  ...names("content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist", "sensitive"),
  ...names("content_filter", "prohibited_content", "spii", "guardrail_intervened", "blacklist"),
  ...names("content_filter", "image_safety", "image_prohibited_content", "image_recitation"),
  ...names("error", "malformed_function_call", "network_error", "failed"),
  ...names("error", "function_call_filter", "malformed_response", "unexpected_tool_call"),
])

function names(reason: string, ...all: string[]): [alias: string, reason: string][] {
  return all.map((alias) => [alias, reason])
}

/** The finish reason of the chat format for what a provider sent; an unknown one is `stop`. */
export function toFinishReason(native: string): string {
  if (FINISH_REASONS.has(native)) return native
  // Google adds the cause: `content_filter: RECITATION`.
  const [name = ""] = native.toLowerCase().replaceAll("-", "_").split(":")
  return FINISH_REASONS.has(name) ? name : (ALIASES.get(name) ?? "stop")
}
