/** The names that failures have on this wire, and the HTTP statuses they stand for: the API's errors page. */
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

/** Statuses of ours that the wire has no name of their own for. */
const RELATED = new Map([
  [408, "timeout_error"],
  [524, "timeout_error"],
  [503, "overloaded_error"],
])

export type MessagesError = { type: "error"; error: { type: string; message: string } }

/** The body of a failure on this wire, and the data of its `error` event. */
export function toMessagesError(status: number, message: string): MessagesError {
  const type = TYPES.get(status) ?? RELATED.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error")
  return { type: "error", error: { type, message } }
}

/** The status that the name of a failure stands for; an unknown name is the provider's own trouble. */
export function toErrorStatus(type: string): number {
  return STATUSES.get(type) ?? 500
}
