import { toMessagesContextError } from "../context-error.ts"

/** Error types of the Messages API and their HTTP statuses, from the API's errors page. */
const STATUSES = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["conflict_error", 409],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
])

const TYPES = new Map([...STATUSES].map(([type, status]) => [status, type]))

/** Gateway statuses for which the Messages API has no error type. */
const RELATED = new Map([
  [408, "timeout_error"],
  [524, "timeout_error"],
  [503, "overloaded_error"],
])

export type MessagesError = { type: "error"; error: { type: string; message: string } }

/** Error body of the Messages format, and the data of its `error` event. */
export function toMessagesError(status: number, message: string): MessagesError {
  const type = TYPES.get(status) ?? RELATED.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error")
  const text = status === 400 || status === 413 ? toMessagesContextError(message) : message
  return { type: "error", error: { type, message: text } }
}

/** HTTP status of an error type; an unknown type counts as a provider error. */
export function toErrorStatus(type: string): number {
  return STATUSES.get(type) ?? 500
}
