import { toFinishReason as toChatReason } from "../chat/normalize/provider-spellings.ts"

/** Maps finish reasons of the chat format to stop reasons of the Messages format and back. */

const FINISH_REASONS = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
])

/** Additional stop reasons of Bedrock. Not defined in Messages, so never sent to a client. */
const CONVERSE_REASONS = new Map([
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
  ["malformed_model_output", "error"],
  ["malformed_tool_use", "error"],
])

const STOP_REASONS = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "refusal"],
])

/** Compatible servers also send finish reasons of the chat format. */
export function toFinishReason(stopReason: string): string {
  return FINISH_REASONS.get(stopReason) ?? CONVERSE_REASONS.get(stopReason) ?? toChatReason(stopReason)
}

/** Prefers the provider's stop reason if Messages defines it and it agrees, since it is more precise. */
export function toStopReason(finishReason: string | null, native: string | null, hasCalls: boolean): string {
  const finish = finishReason ?? "stop"
  // Some providers end responses with tool calls with the usual `stop`.
  if (finish === "stop" && hasCalls) return "tool_use"
  if (native !== null && FINISH_REASONS.get(native) === finish) return native
  return STOP_REASONS.get(finish) ?? "end_turn"
}
