/** `function_call` is the deprecated form of `tool_calls`. */
const FINISH_REASONS = new Set(["stop", "length", "tool_calls", "content_filter", "error", "function_call"])

/** What providers of the chat format send instead, in lower case with underscores. */
const ALIASES = new Map([
  ...names("stop", "eos", "eos_token", "end_turn", "end", "stop_sequence", "stop_token", "complete", "completed"),
  ...names("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded", "abort"),
  ...names("length", "insufficient_system_resource", "time_limit"),
  ...names("tool_calls", "tool_call", "tool_use", "function_calls"),
  ...names("content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist", "sensitive"),
  ...names("content_filter", "prohibited_content", "spii", "guardrail_intervened"),
  ...names("error", "malformed_function_call", "network_error", "failed"),
])

function names(reason: string, ...all: string[]): [alias: string, reason: string][] {
  return all.map((alias) => [alias, reason])
}

/** The finish reason of the chat format for what a provider sent; an unknown one is `stop`. */
export function toFinishReason(native: string): string {
  if (FINISH_REASONS.has(native)) return native
  const name = native.toLowerCase().replaceAll("-", "_")
  return FINISH_REASONS.has(name) ? name : (ALIASES.get(name) ?? "stop")
}
