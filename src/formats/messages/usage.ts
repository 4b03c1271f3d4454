import { NO_TOKENS } from "../../money/money.ts"
import { toTokens } from "../chat/meter.ts"
import { isCount, isObject, type Json } from "../../support/text/json.ts"

/** Converts usage between chat and Messages. In Messages, `input_tokens` excludes cache reads and writes. */

/** Usage counts that a stream has reported so far; null for the others. */
export type Counts = {
  readonly input: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  /** The part of `cacheWrite` with a lifetime of one hour, which costs more. */
  readonly cacheWrite1h: number | null
  readonly output: number | null
  readonly thinking: number | null
  readonly searches: number | null
}

export const NO_COUNTS: Counts = {
  input: null,
  cacheRead: null,
  cacheWrite: null,
  cacheWrite1h: null,
  output: null,
  thinking: null,
  searches: null,
}

/**
 * Counts are totals, so the last one counts. Prompt counts that are all zero are ignored: some providers repeat the
 * fields with zeros at the end. Next to another prompt count, a zero is valid.
 */
export function addCounts(counts: Counts, usage: unknown): Counts {
  if (!isObject(usage)) return counts
  const inside = (key: string, name: string) => (isObject(usage[key]) ? toCount(usage[key][name]) : null)
  const prompt = {
    input: toCount(usage["input_tokens"]),
    cacheRead: toCount(usage["cache_read_input_tokens"]),
    cacheWrite: toCount(usage["cache_creation_input_tokens"]),
  }
  const isPrompt = Object.values(prompt).some((count) => count !== null && count > 0) || counts.input === null
  return {
    input: (isPrompt ? prompt.input : null) ?? counts.input,
    cacheRead: (isPrompt ? prompt.cacheRead : null) ?? counts.cacheRead,
    cacheWrite: (isPrompt ? prompt.cacheWrite : null) ?? counts.cacheWrite,
    cacheWrite1h: inside("cache_creation", "ephemeral_1h_input_tokens") ?? counts.cacheWrite1h,
    output: toCount(usage["output_tokens"]) ?? counts.output,
    thinking: inside("output_tokens_details", "thinking_tokens") ?? counts.thinking,
    searches: inside("server_tool_use", "web_search_requests") ?? counts.searches,
  }
}

function toCount(value: unknown): number | null {
  return isCount(value) ? value : null
}

/**
 * Chat usage, whose prompt count includes cached tokens; null without a count of the prompt: the missing part would be
 * free.
 */
export function toChatUsage(counts: Counts): Json | null {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, thinking, searches } = counts
  if (input === null && cacheRead === null && cacheWrite === null) return null
  const prompt = (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      cache_write_tokens: cacheWrite ?? 0,
      ...(cacheWrite1h !== null && cacheWrite1h > 0 && { cache_write_1h_tokens: cacheWrite1h }),
    },
    ...(thinking !== null && { completion_tokens_details: { reasoning_tokens: thinking } }),
    ...(searches !== null && searches > 0 && { server_tool_use_details: { web_search_requests: searches } }),
  }
}

/** Converts chat usage to Messages usage; all zeros if the value is not a usage. */
export function toMessagesUsage(usage: unknown): Json {
  const { prompt, completion, cached, cacheWrite, cacheWrite1h: anHour, reasoning } = toTokens(usage) ?? NO_TOKENS
  const result = isObject(usage) ? usage : {}
  const tools = isObject(result["server_tool_use_details"]) ? result["server_tool_use_details"] : {}
  const searches = toCount(tools["web_search_requests"])
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    ...(anHour > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWrite - anHour),
        ephemeral_1h_input_tokens: anHour,
      },
    }),
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(searches !== null && searches > 0 && { server_tool_use: { web_search_requests: searches } }),
    ...(typeof result["cost"] === "number" && { cost: result["cost"] }),
  }
}
