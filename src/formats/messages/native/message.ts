import { newHexId } from "../../../support/ids.ts"
import { isArray, isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import { toToolInput } from "../../tools/tool-arguments.ts"
import { toFinishReason, toStopReason } from "../stop-reasons.ts"

/**
 * Normalizes messages of servers that are compatible with the Messages format: they omit fields that clients read. Each
 * function returns the same object if it conforms.
 */

/** Whether a document is a message. Some servers omit its type. */
export function isMessage({ type, content, role, stop_reason: reason }: Json): boolean {
  if (!isArray(content) && typeof content !== "string") return false
  return type === "message" || (type === undefined && (role === "assistant" || typeof reason === "string"))
}

/** Normalizes a complete message. */
export function normalizeMessage(message: Json): Json {
  const { type, role, content, stop_reason: reason } = message
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content)
  const normal = blocks.map(normalizeBlock)
  const isSame = isArray(content) && normal.length === content.length && normal.every((one, at) => one === content[at])
  const hasCall = normal.some((block) => block["type"] === "tool_use")
  const stopReason = normalizeStopReason(reason, hasCall)
  if (isSame && type === "message" && role === "assistant" && stopReason === reason) return message
  return {
    stop_sequence: null,
    ...message,
    type: "message",
    role: "assistant",
    content: isSame ? content : normal,
    stop_reason: stopReason,
  }
}

/** A stop reason of the format. Some servers send none, one of the chat format, or `end_turn` beside tool calls. */
export function normalizeStopReason(reason: unknown, hasCall: boolean): string {
  const native = typeof reason === "string" ? reason : null
  return toStopReason(native === null ? "stop" : toFinishReason(native), native, hasCall)
}

/** Normalizes a block that is complete or starts. */
export function normalizeBlock(block: Json): Json {
  const { type, text, thinking, signature, id, input } = block
  if (type === "text" && typeof text !== "string") return { ...block, text: "" }
  if (type === "thinking" && (typeof thinking !== "string" || typeof signature !== "string")) {
    const isText = typeof thinking === "string"
    return { ...block, thinking: isText ? thinking : "", signature: typeof signature === "string" ? signature : "" }
  }
  if (type !== "tool_use") return block
  const hasId = typeof id === "string" && id !== ""
  return hasId && isObject(input) ? block : { ...block, id: hasId ? id : newToolId(), input: toInput(input) }
}

function newToolId(): string {
  return `toolu_${newHexId()}`
}

/** Some servers send the input as JSON in a string. */
function toInput(input: unknown): Json {
  if (isObject(input)) return input
  return typeof input === "string" && input.trim() !== "" ? toToolInput(input) : {}
}
