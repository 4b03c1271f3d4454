import { isTooDeep } from "../../support/text/depth.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import { decodeBlob } from "../responses/opaque-blob.ts"
import { textOf } from "../responses/reasoning-details.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"

/**
 * Converts reasoning between the chat format (`reasoning_details`) and Messages (`thinking`, `redacted_thinking`).
 *
 * A block has a text and one opaque string that clients send back unchanged. The other fields of a detail of another
 * provider (kind, id, format) are encoded in that string after a prefix, and restored when it comes back.
 */

/** Format of reasoning by Claude, and of details without a format. */
export const CLAUDE_FORMAT = "anthropic-claude-v1"

/** Whether a Messages block can represent the detail completely. */
export function isNative({ type, format, id }: ReasoningDetail): boolean {
  return type !== "reasoning.summary" && id == null && (format == null || format === CLAUDE_FORMAT)
}

/** Restores the details of a `thinking` block. */
export function toThoughts(thinking: string, signature: string | null | undefined): ReasoningDetail[] {
  const carried = decodeBlob(signature)
  if (!carried) {
    const signed = signature ? { signature } : {}
    return [{ type: "reasoning.text", text: thinking, ...signed, format: CLAUDE_FORMAT }]
  }
  return carried.map((detail) => ({ ...detail, [detail.type === "reasoning.summary" ? "summary" : "text"]: thinking }))
}

/** Restores the details of a `redacted_thinking` block. */
export function toSealed(data: string): ReasoningDetail[] {
  return decodeBlob(data) ?? [{ type: "reasoning.encrypted", data, format: CLAUDE_FORMAT }]
}

/** The reasoning fields of a message: the details in order, and their text. */
export function toReasoning(details: readonly ReasoningDetail[]): Json {
  if (details.length === 0) return {}
  const text = details.map(textOf).join("")
  return {
    ...(text !== "" && { reasoning: text }),
    reasoning_details: details.map((detail, index) => ({ ...detail, index })),
  }
}

/** Type of the result block of a server tool. */
export function resultTypeOf(toolName: string): string {
  return toolName.startsWith("tool_search_tool") ? "tool_search_tool_result" : `${toolName}_tool_result`
}

export type ServerCall = { id: string; name: string; input: Json; result: unknown }

/** The call of a Claude server tool that a detail records; null for other details. Its result is null if missing. */
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
  const value = typeof text === "string" ? parseJson(text) : undefined
  return isTooDeep(value) ? undefined : value
}
