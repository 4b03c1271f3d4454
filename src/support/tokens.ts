import { isCount, isObject } from "./text/json.ts"

/**
 * Token estimates, used without upstream usage (a hold before dispatch, an interrupted stream), and as the tokenizer of
 * the embedded upstream, whose reported counts therefore equal the estimates.
 */

/** Tokens of a message in addition to its text: role and separators of a chat template. */
const TOKENS_PER_MESSAGE = 4
/** Assumed tokens of an image, audio or file part. */
const TOKENS_PER_MEDIA_PART = 1_024

/** UTF-16 units per token, approximately. */
export const UNITS_PER_TOKEN = 4

/** Rounded up; 0 only for the empty string. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN)
}

/** Tokens of a chat prompt: messages with string or part contents, and their tool calls. */
export function estimatePromptTokens(messages: readonly unknown[]): number {
  let tokens = 0
  for (const message of messages) {
    tokens += TOKENS_PER_MESSAGE
    if (!isObject(message)) continue
    const { content, tool_calls: toolCalls } = message
    if (typeof content === "string") tokens += estimateTokens(content)
    else if (Array.isArray(content)) for (const part of content) tokens += estimatePartTokens(part)
    if (Array.isArray(toolCalls)) tokens += estimateTokens(JSON.stringify(toolCalls))
  }
  return tokens
}

function estimatePartTokens(part: unknown): number {
  if (!isObject(part)) return 0
  return typeof part["text"] === "string" ? estimateTokens(part["text"]) : TOKENS_PER_MEDIA_PART
}

/** Upper bound: a token is at least one byte. */
export function maxTokensIn(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/** A higher count is invalid: no call generates as many tokens. */
const MAX_TOKENS = 1_000_000_000

/** A reported count; undefined if it is invalid. Some providers report strings or fractions, which are rounded up. */
export function toCount(value: unknown): number | undefined {
  const reported = typeof value === "string" && DECIMAL.test(value) ? Number(value) : value
  const integer = typeof reported === "number" ? Math.ceil(reported) : undefined
  return isCount(integer) && integer <= MAX_TOKENS ? integer : undefined
}

const DECIMAL = /^\d{1,12}(\.\d{1,12})?$/
