/** Matches errors about a conversation that is too long for the model. */
const CONTEXT_TERMS =
  /context[ _](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens|max(?:imum)? prompt length|(?:prompt|input) length (?:exceeds|should)|max_new_tokens`? must be|token count[^.]{0,60}exceeds|reduce the length of (?:the|your) (?:messages|prompt|input)/i

export function isContextError(message: string): boolean {
  return CONTEXT_TERMS.test(message)
}

/** The beginning of such an error in the Messages API, by which Claude Code recognizes it. */
const TOO_LONG = "prompt is too long"

export function toMessagesContextError(message: string): string {
  const isOther = isContextError(message) && !message.toLowerCase().includes(TOO_LONG)
  return isOther ? `${TOO_LONG}: ${message}` : message
}
