/** The error of a `status-N` model, in OpenAI's format. */

interface Failure {
  message: string
  type: string
  code: string | null
}

const failures: Readonly<Record<number, Failure>> = {
  400: {
    message: "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
    type: "invalid_request_error",
    code: "context_length_exceeded",
  },
  401: { message: "Incorrect API key provided", type: "authentication_error", code: "invalid_api_key" },
  402: {
    message: "Your account has no balance left. Add funds to continue.",
    type: "insufficient_quota",
    code: "insufficient_balance",
  },
  403: {
    message: "Your project does not have access to this model.",
    type: "permission_error",
    code: "model_access_denied",
  },
  404: {
    message: "The model does not exist or you do not have access to it.",
    type: "invalid_request_error",
    code: "model_not_found",
  },
  408: { message: "The request took too long to arrive.", type: "timeout_error", code: "request_timeout" },
  413: { message: "The request body is too large.", type: "invalid_request_error", code: "request_too_large" },
  422: {
    message: "The request was well formed but could not be processed.",
    type: "invalid_request_error",
    code: "unprocessable_entity",
  },
  429: {
    message: "Rate limit reached for requests per minute. Please try again in 2s.",
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
  },
  500: {
    message: "The server had an error while processing your request. Sorry about that!",
    type: "server_error",
    code: null,
  },
  502: { message: "Bad gateway.", type: "server_error", code: "bad_gateway" },
  503: {
    message: "The engine is currently overloaded, please try again later.",
    type: "server_error",
    code: "overloaded",
  },
  504: { message: "The model did not answer in time.", type: "server_error", code: "gateway_timeout" },
  529: { message: "Overloaded.", type: "overloaded_error", code: "overloaded" },
}

export const failureStatuses: readonly number[] = Object.keys(failures).map(Number)
/** Statuses with a Retry-After header. */
export const delayedStatuses: readonly number[] = [429, 503]

export function errorResponse(
  status: number,
  error: { message: string; type: string; code: string | null; param?: string | null },
  headers: Record<string, string> = {},
): Response {
  const { message, type, param = null, code } = error
  return Response.json({ error: { message, type, param, code } }, { status, headers })
}

export function invalid(status: number, message: string, param: string | null, code: string | null): Response {
  return errorResponse(status, { message, type: "invalid_request_error", param, code })
}

export function unknownModel(model: string): Response {
  return invalid(404, `The model '${model}' does not exist.`, "model", "model_not_found")
}

/** The error of a `status-N` model; undefined for every other slug. */
export function findFailure(slug: string, authorization: string | null, now: number): Response | undefined {
  const [, digits, variant] = /^status-(\d{3})(?::(date|ms))?$/.exec(slug) ?? []
  const status = Number(digits)
  const failure = failures[status]
  if (!failure) return undefined
  // Some providers do repeat the credential; a gateway has to hide it from its clients.
  const message = status === 401 ? `${failure.message}: ${authorization ?? "(none)"}.` : failure.message
  return errorResponse(status, { ...failure, message }, delayedStatuses.includes(status) ? delay(variant, now) : {})
}

function delay(variant: string | undefined, now: number): Record<string, string> {
  if (variant === "date") return { "retry-after": new Date(now + 2_000).toUTCString() }
  if (variant === "ms") return { "retry-after-ms": "1500" }
  return { "retry-after": "2" }
}
