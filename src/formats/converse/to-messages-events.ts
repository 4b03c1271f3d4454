import { isCount, isInteger, isObject, type Json, objectsOf } from "../../support/text/json.ts"

/**
 * Converts events and documents of Bedrock's Converse API to the Messages API, which has the same blocks:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */

/** The Messages events for one event of a Converse stream. */
export function toMessagesEvents(event: Json, model: string): Json[] {
  const [[type, value] = ["", {}]] = Object.entries(event)
  const content = isObject(value) ? value : {}
  const index = isInteger(content["contentBlockIndex"]) ? content["contentBlockIndex"] : 0
  switch (type) {
    case "messageStart":
      return [{ type: "message_start", message: { role: "assistant", model, content: [] } }]
    case "contentBlockStart":
      return toBlocks(inside(content, "start")).map((block) => ({
        type: "content_block_start",
        index,
        content_block: block,
      }))
    case "contentBlockDelta":
      return toDeltas(inside(content, "delta"), index)
    case "contentBlockStop":
      return [{ type: "content_block_stop", index }]
    case "messageStop":
      return [{ type: "message_delta", delta: toEnding(content) }]
    case "metadata":
      return [{ type: "message_delta", delta: {}, usage: toUsage(content) }, { type: "message_stop" }]
    case "exception":
      return [{ type: "error", error: toError(content) }]
    default:
      return []
  }
}

/** A Converse document as a Messages document. */
export function toMessagesDocument(document: Json, model: string): Json {
  const message = inside(inside(document, "output"), "message")
  return {
    type: "message",
    role: "assistant",
    model,
    content: objectsOf(message["content"]).flatMap(toBlocks),
    ...toEnding(document),
    usage: toUsage(document),
  }
}

function toEnding({ stopReason, additionalModelResponseFields: further }: Json): Json {
  const sequence = isObject(further) ? further["stop_sequence"] : undefined
  return { stop_reason: stopReason, ...(typeof sequence === "string" && { stop_sequence: sequence }) }
}

function toBlocks(block: Json): Json[] {
  const { text, toolUse, reasoningContent: reasoning } = block
  if (typeof text === "string") return [{ type: "text", text }]
  if (isObject(toolUse)) {
    const { toolUseId: id, name, input = {} } = toolUse
    return [{ type: "tool_use", id, name, input }]
  }
  if (!isObject(reasoning)) return []
  const { reasoningText: plain, redactedContent: data } = reasoning
  if (typeof data === "string") return [{ type: "redacted_thinking", data }]
  if (!isObject(plain)) return []
  return [{ type: "thinking", thinking: plain["text"], signature: plain["signature"] }]
}

function toDeltas(delta: Json, index: number): Json[] {
  const grown = (fields: Json): Json[] => [{ type: "content_block_delta", index, delta: fields }]
  const { text, toolUse, reasoningContent: reasoning } = delta
  if (typeof text === "string") return grown({ type: "text_delta", text })
  if (isObject(toolUse)) return grown({ type: "input_json_delta", partial_json: toolUse["input"] })
  if (!isObject(reasoning)) return []
  const { text: thinking, signature, redactedContent: data } = reasoning
  if (typeof data === "string") {
    return [{ type: "content_block_start", index, content_block: { type: "redacted_thinking", data } }]
  }
  return grown({ type: "thinking_delta", thinking, signature })
}

/** `inputTokens` excludes tokens read from a cache or written to one, as in Messages. */
function toUsage({ usage, serviceTier: tier }: Json): Json | undefined {
  if (!isObject(usage)) return undefined
  const anHour = objectsOf(usage["cacheDetails"])
    .filter(({ ttl }) => ttl === "1h")
    .reduce((sum, { inputTokens }) => sum + (isCount(inputTokens) ? inputTokens : 0), 0)
  return {
    input_tokens: usage["inputTokens"],
    output_tokens: usage["outputTokens"],
    cache_read_input_tokens: usage["cacheReadInputTokens"],
    cache_creation_input_tokens: usage["cacheWriteInputTokens"],
    ...(anHour > 0 && { cache_creation: { ephemeral_1h_input_tokens: anHour } }),
    ...(isObject(tier) && { service_tier: tier["type"] }),
  }
}

/** Messages error types by exception, with the same status. Other exceptions are provider errors. */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  accessDeniedException: "permission_error",
  modelNotReadyException: "rate_limit_error",
  modelTimeoutException: "timeout_error",
  resourceNotFoundException: "not_found_error",
  serviceQuotaExceededException: "rate_limit_error",
  serviceUnavailableException: "overloaded_error",
  throttlingException: "rate_limit_error",
  validationException: "invalid_request_error",
}

function toError({ type, message }: Json): Json {
  const name = typeof type === "string" ? type.charAt(0).toLowerCase() + type.slice(1) : ""
  return { type: ERROR_TYPES[name] ?? "api_error", message }
}

function inside(object: Json, key: string): Json {
  const value = object[key]
  return isObject(value) ? value : {}
}
