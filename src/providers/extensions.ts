import type { Json } from "../support/json.ts"
/**
 * What this interface family adds to the OpenAI wire. Providers that know the wire alone refuse a request for it; to
 * them it is not sent, as a parameter that a provider does not support is not (`provider.require_parameters` asks for
 * providers that do).
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
const MESSAGE = ["annotations", "configuration_update", "images", "model", "reasoning", "reasoning_details"]
const PART = ["cache_control", "prompt_cache_breakpoint"]
const TOOL = ["cache_control"]

export function withoutExtensions(body: Json): Json {
  const { messages, tools } = body
  return {
    ...without(body, REQUEST),
    ...(Array.isArray(messages) && { messages: messages.map(toPlainMessage) }),
    ...(Array.isArray(tools) && { tools: tools.map((tool) => without(tool as Json, TOOL)) }),
  }
}

function toPlainMessage(message: unknown): Json {
  const { content, ...rest } = without(message as Json, MESSAGE)
  if (content === undefined) return rest
  return { ...rest, content: Array.isArray(content) ? content.map((part) => without(part as Json, PART)) : content }
}

function without(value: Json, names: readonly string[]): Json {
  if (!names.some((name) => name in value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key)))
}
