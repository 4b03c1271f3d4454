/** Maps finish reasons of the chat format to those of the Gemini API. */

const REASONS = new Map([
  ["stop", "STOP"],
  ["tool_calls", "STOP"],
  ["function_call", "STOP"],
  ["length", "MAX_TOKENS"],
  ["content_filter", "SAFETY"],
  ["error", "OTHER"],
])

/** More precise reasons of Google's models, which they report in either case. */
const NATIVE_REASONS = new Set([
  "BLOCKLIST",
  "IMAGE_SAFETY",
  "LANGUAGE",
  "MALFORMED_FUNCTION_CALL",
  "PROHIBITED_CONTENT",
  "RECITATION",
  "SAFETY",
  "SPII",
  "UNEXPECTED_TOOL_CALL",
])

export function toGeminiFinishReason(reason: string | null, native: unknown): string {
  const name = typeof native === "string" ? native.toUpperCase() : ""
  if (NATIVE_REASONS.has(name)) return name
  return REASONS.get(reason ?? "stop") ?? "STOP"
}
