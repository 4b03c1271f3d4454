import { isArray, isObject, type Json } from "../support/text/json.ts"
import type { Quirks } from "./provider.ts"

/**
 * Fields that this API family adds to the OpenAI format. They are not sent to providers that would reject them, like
 * other unsupported parameters (`provider.require_parameters` selects providers that support them).
 */
const REQUEST = [
  "cache_control",
  "image_config",
  "min_p",
  "prompt_cache_options",
  "repetition_penalty",
  "top_a",
  "top_k",
]
const MESSAGE = [
  "annotations",
  "configuration_update",
  "images",
  "model",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "reasoning_text",
  "thinking",
]
const PART = ["cache_control", "prompt_cache_breakpoint"]
const TOOL = ["cache_control"]

/** `reasoningField`: the field of a message that the provider supports. */
export function withoutExtensions(body: Json, { reasoningField }: Quirks): Json {
  const { messages, tools } = body
  const dropped = MESSAGE.filter((name) => name !== reasoningField)
  return {
    ...without(body, REQUEST),
    ...(isArray(messages) && { messages: messages.map((message) => toPlainMessage(message, dropped)) }),
    ...(isArray(tools) && { tools: tools.map((tool) => withoutIn(tool, TOOL)) }),
  }
}

function toPlainMessage(message: unknown, dropped: readonly string[]): unknown {
  if (!isObject(message)) return message
  const { content, ...rest } = without(message, dropped)
  if (content === undefined) return rest
  return { ...rest, content: isArray(content) ? content.map((part) => withoutIn(part, PART)) : content }
}

function withoutIn(value: unknown, names: readonly string[]): unknown {
  return isObject(value) ? without(value, names) : value
}

function without(value: Json, names: readonly string[]): Json {
  if (!names.some((name) => name in value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key)))
}
