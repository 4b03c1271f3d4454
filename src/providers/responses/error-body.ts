import { errorMessageIn } from "../../formats/error-message.ts"
import { isArray, isObject, parseJson } from "../../support/text/json.ts"
import { retryHintIn } from "../../support/time/retry-after.ts"

export type ErrorBody = {
  /** The message, not redacted. */
  message: string | undefined
  /** Milliseconds. */
  retryAfterMs: number | null
}

export function readErrorBody(body: string, now: number): ErrorBody {
  const parsed = parseJson(body)
  if (parsed === undefined) return { message: plainMessage(body), retryAfterMs: null }
  // Google wraps its error in an array.
  const outer = isArray(parsed) ? parsed[0] : parsed
  const message = errorMessageIn(outer)
  if (!isObject(outer)) return { message, retryAfterMs: null }
  const inner = isObject(outer["error"]) ? outer["error"] : {}
  return { message, retryAfterMs: retryHintIn(inner, now) ?? retryHintIn(outer, now) }
}

const MAX_PLAIN_LENGTH = 500

/** Frameworks send some messages as text. A page, a trace or a part of a document is not a message. */
function plainMessage(body: string): string | undefined {
  const text = body.trim()
  return text.length > MAX_PLAIN_LENGTH || /^[<{[]|\n|^$/.test(text) ? undefined : text
}
