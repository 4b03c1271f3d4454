import { isObject, type Json } from "../../support/json.ts"
import { decodeBlob } from "../responses/opaque-blob.ts"
import { type ReasoningDetail, textOf } from "../responses/reasoning-details.ts"

/**
 * What a model thought, between the chat wire (`reasoning_details`) and this one (`thinking` and `redacted_thinking`).
 *
 * A block here has a text and one opaque string that callers send back unchanged. What a detail of another provider
 * has besides (its kind, id and format) travels in that string, behind a mark, and comes back as it went.
 */

/** The format of what Claude itself made, and of a detail that names none. */
export const CLAUDE_FORMAT = "anthropic-claude-v1"

export { isGatewayBlob as isCarried, encodeBlob as carry } from "../responses/opaque-blob.ts"

/** Whether the wire's own blocks say all that the detail does. */
export function isNative({ type, format, id }: ReasoningDetail): boolean {
  return type !== "reasoning.summary" && id == null && (format == null || format === CLAUDE_FORMAT)
}

/** The details that a `thinking` block was made of. */
export function toThoughts(thinking: string, signature: string | null | undefined): ReasoningDetail[] {
  const carried = decodeBlob(signature)
  if (!carried) {
    const signed = signature ? { signature } : {}
    return [{ type: "reasoning.text", text: thinking, ...signed, format: CLAUDE_FORMAT }]
  }
  return carried.map((detail) => ({ ...detail, [detail.type === "reasoning.summary" ? "summary" : "text"]: thinking }))
}

/** The details that a `redacted_thinking` block was made of. */
export function toSealed(data: string): ReasoningDetail[] {
  return decodeBlob(data) ?? [{ type: "reasoning.encrypted", data, format: CLAUDE_FORMAT }]
}

/** The details of one message in their order, and their words. */
export function toReasoning(details: readonly ReasoningDetail[]): Json {
  if (details.length === 0) return {}
  const text = details.map(textOf).join("")
  return {
    ...(text !== "" && { reasoning: text }),
    reasoning_details: details.map((detail, index) => ({ ...detail, index })),
  }
}

/** The name of the block that holds what a server tool of this wire gave back. */
export function resultTypeOf(toolName: string): string {
  return toolName.startsWith("tool_search_tool") ? "tool_search_tool_result" : `${toolName}_tool_result`
}

export type ServerCall = { id: string; name: string; input: Json; result: unknown }

/** A call of one of Claude's server tools that a detail records, if it is one; its result is null where none came. */
export function toServerCall(detail: ReasoningDetail): ServerCall | null {
  const { type, format, tool_name: name, tool_call_id: id } = detail
  if (type !== "reasoning.server_tool_call" || format !== CLAUDE_FORMAT) return null
  const input = parse(detail["arguments"])
  const result = parse(detail["result"])
  if (typeof name !== "string" || typeof id !== "string" || !isObject(input)) return null
  return { id, name, input, result: result ?? null }
}

export function toServerDetail({ id, name, input, result }: ServerCall): ReasoningDetail {
  return {
    type: "reasoning.server_tool_call",
    tool_name: name,
    tool_call_id: id,
    arguments: JSON.stringify(input),
    result: result == null ? "" : JSON.stringify(result),
    format: CLAUDE_FORMAT,
  }
}

function parse(text: unknown): unknown {
  if (typeof text !== "string" || text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
