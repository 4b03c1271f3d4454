import { isObject } from "./json.ts"
/**
 * Token estimates, used where no upstream usage exists (a hold before dispatch, a stream that was cut) and by the
 * embedded upstream as its tokenizer, so that there an estimate and a reported count are the same number.
 */

/** Tokens of a message besides its text: the role and separators of a chat template. */
const TOKENS_PER_MESSAGE = 4
/** Assumed tokens of an image, audio or file part. */
const TOKENS_PER_MEDIA_PART = 1_024

/** UTF-16 units of text that make about one token. */
export const UNITS_PER_TOKEN = 4

/** Rounded up; 0 only for the empty string. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN)
}

/** Tokens of a chat prompt: messages with string or part contents, and the tool calls they carry. */
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
