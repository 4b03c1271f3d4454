/** Names of `google.rpc.Code` by HTTP status. https://cloud.google.com/apis/design/errors */
const NAMES = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ALREADY_EXISTS"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
])

/**
 * The `status` of an error in the Gemini API, and its details: clients take the delay of a retry from them, and not from
 * `Retry-After`.
 */
export function toGeminiErrorFields(status: number, headers: Readonly<Record<string, string>> = {}) {
  const name = NAMES.get(status) ?? (status < 500 ? "FAILED_PRECONDITION" : "UNAVAILABLE")
  const delay = Number(headers["retry-after"])
  if (!(delay >= 0)) return { status: name }
  return { status: name, details: [{ "@type": RETRY_INFO, retryDelay: `${delay}s` }] }
}

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
