import { isArray, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { hasFields } from "./normalize/provider-spellings.ts"
import { retryHintIn } from "../../support/time/retry-after.ts"

/** An error that a provider sent inside a 200 response. */
export type ProviderError = {
  message: string
  code: string | null
  status: number | null
  /** The provider's retry hint, in seconds as in the body of a rejection. Absent without one. */
  retryAfter?: number
}

/** The error in a response, or the response itself if it is one: `{"object":"error", …}`, or only a message. */
export function errorIn(body: Json): ProviderError | null {
  const failed = body["base_resp"] === undefined ? null : errorInStatus(body["base_resp"])
  const isError = body["object"] === "error" || isOnlyMessage(body)
  return toProviderError(body["error"]) ?? failed ?? (isError ? toProviderError(body) : errorInChoices(body["choices"]))
}

/** A message without choices is an error, unless its code says that the call succeeded. */
function isOnlyMessage({ choices, message, code }: Json): boolean {
  return (choices ?? null) === null && typeof message === "string" && code !== 0 && code !== "0"
}

/** Statuses by code of MiniMax, which reports errors with HTTP status 200. */
const STATUSES_BY_CODE: Readonly<Record<number, number>> = {
  1001: 408,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2049: 401,
  2056: 429,
}

/** The error in `{"status_code":1002,"status_msg":"rate limit"}`; null if the code is 0. */
function errorInStatus(status: unknown): ProviderError | null {
  const { status_code: code, status_msg: message } = isObject(status) ? status : {}
  if (typeof code !== "number" || code === 0) return null
  return { ...toProviderErrorFields(message), code: String(code), status: STATUSES_BY_CODE[code] ?? null }
}

/** The error of choices that failed without any content. */
function errorInChoices(choices: unknown): ProviderError | null {
  // Called for each chunk, of which nearly none has an error.
  const first = isArray(choices) ? choices[0] : undefined
  if (!isObject(first) || !isObject(first["error"])) return null
  return objectsOf(choices).every(isFailed) ? toProviderError(first["error"]) : null
}

function isFailed({ error, message, delta }: Json): boolean {
  const text = [message, delta].find(isObject) ?? {}
  return isObject(error) && !hasFields(text)
}

/** HTTP statuses by error name, from the documentation of the providers. */
const STATUSES = new Map([
  ...names(400, "invalid_request_error", "invalid_request", "invalid_prompt", "invalid_argument", "bad_request"),
  ...names(400, "context_length_exceeded", "string_above_max_length", "content_policy_violation"),
  ...names(401, "authentication_error", "invalid_api_key", "unauthenticated", "unauthorized"),
  ...names(402, "billing_error", "insufficient_balance", "insufficient_credits"),
  ...names(403, "permission_error", "permission_denied", "forbidden"),
  ...names(404, "not_found_error", "not_found", "model_not_found"),
  ...names(408, "timeout", "request_timeout"),
  ...names(413, "request_too_large", "payload_too_large"),
  ...names(429, "rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests"),
  ...names(429, "insufficient_quota", "resource_exhausted"),
  ...names(500, "api_error", "server_error", "internal_error", "internal_server_error"),
  ...names(503, "unavailable", "service_unavailable", "server_overloaded", "server_is_overloaded", "slow_down"),
  ...names(504, "timeout_error", "gateway_timeout", "deadline_exceeded"),
  ...names(529, "overloaded_error", "overloaded"),
])

function names(status: number, ...all: string[]): [name: string, status: number][] {
  return all.map((name) => [name, status])
}

function toProviderErrorFields(message: unknown): Pick<ProviderError, "message"> {
  return { message: typeof message === "string" && message !== "" ? message : "The provider reported an error." }
}

/**
 * `error` of a frame or body, in any of the shapes seen: an object, a string, a nested object. Its text is not
 * redacted.
 */
export function toProviderError(error: unknown): ProviderError | null {
  if (error === undefined || error === null || error === false) return null
  if (typeof error === "string") {
    return { message: error, code: null, status: STATUSES.get(error.toLowerCase()) ?? null }
  }
  if (!isObject(error)) return { ...toProviderErrorFields(undefined), code: null, status: null }
  const { message, code, status, type } = error
  const label = [code, type, status].find((value) => typeof value === "string" || typeof value === "number")
  const numeric = [status, code].map(Number).find((value) => Number.isInteger(value) && value >= 400 && value <= 599)
  const named = [code, type, status].map((name) => STATUSES.get(String(name).toLowerCase())).find(Boolean)
  const hintMs = retryHintIn(error, Date.now())
  return {
    ...toProviderErrorFields(message),
    code: label === undefined ? null : String(label),
    status: numeric ?? named ?? null,
    ...(hintMs !== null && { retryAfter: hintMs / 1_000 }),
  }
}
