import { isArray, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { errorMessageIn } from "../error-message.ts"
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
  return reportedError(body) ?? failed ?? (isError ? toProviderError(body) : errorInChoices(body["choices"]))
}

/** The error in a chunk or document of the chat format, or the frame itself if it is an error of any shape. */
export function errorInChat(body: Json): ProviderError | null {
  const { choices, usage, x_groq: groq } = body
  const reported = errorIn(body) ?? (isObject(groq) ? toProviderError(groq["error"]) : null)
  return reported ?? (isArray(choices) || isObject(usage) ? null : errorOfUnknownShape(body))
}

const ERROR_NAME = /error|exception/i
const MESSAGE_NAMES = ["message", "Message", "msg", "detail"] as const

/**
 * The error that a frame without any part of a response is, such as `{"detail":"…"}`, `{"code":500,"msg":"…"}` or
 * `{"throttlingException":{…}}`; null if nothing in it says so.
 */
export function errorOfUnknownShape(frame: Json): ProviderError | null {
  const { type, status, success } = frame
  if (SUCCESS_CODES.has(frame["code"])) return null
  const named = Object.entries(frame).filter(([name, value]) => ERROR_NAME.test(name) && !isUnset(value))
  const isError =
    named.length > 0 ||
    success === false ||
    [type, status].some((value) => value === "error") ||
    statusIn(frame) !== undefined ||
    MESSAGE_NAMES.some((name) => errorMessageIn(frame[name]) !== undefined)
  const [name, exception] = named.find(([, value]) => isObject(value)) ?? []
  if (!isError) return null
  return toProviderError(isObject(exception) ? { type: name, ...exception } : frame)
}

/** A message with one of these codes is no error. */
const SUCCESS_CODES = new Set<unknown>([0, "0", 200, "200"])

/** Some servers have an empty `error` in every frame. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === "" || value === 0
}

/** `error` of a body. A text there may have its type, status and message beside it. */
function reportedError(body: Json): ProviderError | null {
  const { error, error_type: type, code, status } = body
  if (isUnset(error) || (typeof error !== "string" && error !== true)) return toProviderError(error)
  const named = toProviderError(error)
  const described = toProviderError({ type, code, status, message: errorMessageIn(body) })
  return described && { ...described, status: named?.status ?? described.status }
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
  if (isUnset(error)) return null
  if (typeof error === "string") {
    return { message: error, code: null, status: STATUSES.get(error.toLowerCase()) ?? null }
  }
  if (!isObject(error)) return { ...toProviderErrorFields(undefined), code: null, status: null }
  const { code, status, type } = error
  const label = [code, type, status].find((value) => typeof value === "string" || typeof value === "number")
  const named = [code, type, status].map((name) => STATUSES.get(String(name).toLowerCase())).find(Boolean)
  const hintMs = retryHintIn(error, Date.now())
  return {
    ...toProviderErrorFields(errorMessageIn(error)),
    code: label === undefined ? null : String(label),
    status: statusIn(error) ?? named ?? null,
    ...(hintMs !== null && { retryAfter: hintMs / 1_000 }),
  }
}

/** The HTTP status in an error; undefined without one. */
function statusIn({ status, code, statusCode, status_code }: Json): number | undefined {
  const numbers = [status, code, statusCode, status_code].map(Number)
  return numbers.find((value) => Number.isInteger(value) && value >= 400 && value <= 599)
}
