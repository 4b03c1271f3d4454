import type { ContentfulStatusCode } from "hono/utils/http-status"

/**
 * All errors of the gateway: the HTTP status (also `error.code` in the body) and the `error_type` that clients of this
 * API family read in the error chunk of a stream. There are no other error names.
 */
export const errors = {
  invalid_request: { status: 400, type: "invalid_request" },
  unauthenticated: { status: 401, type: "authentication" },
  payment_required: { status: 402, type: "payment_required" },
  forbidden: { status: 403, type: "permission_denied" },
  not_found: { status: 404, type: "not_found" },
  method_not_allowed: { status: 405, type: "invalid_request" },
  timeout: { status: 408, type: "timeout" },
  conflict: { status: 409, type: "precondition_failed" },
  gone: { status: 410, type: "not_found" },
  payload_too_large: { status: 413, type: "payload_too_large" },
  unsupported_media_type: { status: 415, type: "invalid_request" },
  upgrade_required: { status: 426, type: "invalid_request" },
  unprocessable: { status: 422, type: "unprocessable" },
  rate_limited: { status: 429, type: "rate_limit_exceeded" },
  internal: { status: 500, type: "server" },
  provider_failed: { status: 502, type: "provider_unavailable" },
  unavailable: { status: 503, type: "provider_unavailable" },
  intern_unreachable: { status: 502, type: "server" },
  intern_timeout: { status: 504, type: "timeout" },
  misconfigured: { status: 503, type: "server" },
  provider_timeout: { status: 524, type: "timeout" },
  provider_overloaded: { status: 529, type: "provider_overloaded" },
} as const satisfies Record<string, { status: number; type: string }>

export type ErrorName = keyof typeof errors

/** `error.metadata` of the envelope; all keys optional. */
export type ErrorMetadata = {
  reason?: string
  retryable?: boolean
  provider_code?: string
  provider_name?: string
  patterns?: string[]
}

/** A rule of a guardrail, by its field. */
export type GuardrailRule = { guardrailId: string; field: string }

type Details = {
  metadata?: ErrorMetadata
  /** The rules about routes, budgets or rates that rejected a call. */
  rejectedBy?: readonly GuardrailRule[]
  headers?: Record<string, string>
  /** Additional fields at the top level of the body. */
  extraFields?: Record<string, unknown>
  /** `error.details` of the Messages format. */
  messagesDetails?: unknown
  /** The key lacks the right for the operation. The audit log records it. */
  isDenial?: true
  cause?: unknown
}

/** An error with a `message` for the client and, separately, a cause for the log. */
export class GatewayError extends Error {
  override readonly name = "GatewayError"
  readonly code: ErrorName
  readonly metadata: ErrorMetadata | undefined
  readonly rejectedBy: readonly GuardrailRule[]
  readonly headers: Record<string, string> | undefined
  readonly extraFields: Record<string, unknown> | undefined
  readonly messagesDetails: unknown
  readonly isDenial: boolean

  constructor(code: ErrorName, publicMessage: string, details: Details = {}) {
    super(publicMessage, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.metadata = details.metadata
    this.rejectedBy = details.rejectedBy ?? []
    this.headers = details.headers
    this.extraFields = details.extraFields
    this.messagesDetails = details.messagesDetails
    this.isDenial = details.isDenial ?? false
  }

  get status(): ContentfulStatusCode {
    return errors[this.code].status as ContentfulStatusCode
  }
}

export type ErrorEnvelope = { error: { code: number; message: string; metadata?: ErrorMetadata } }

/** The response body of every error. */
export function toEnvelope(error: GatewayError): ErrorEnvelope {
  const { metadata, extraFields: extra } = error
  return { error: { code: error.status, message: error.message, ...(metadata && { metadata }) }, ...extra }
}

/** Includes the command for the operator. */
export const SCHEMA_MESSAGE =
  "The database schema is older than this release. The operator runs: npx wrangler d1 migrations apply gateway --env production --remote"

/** D1 lacks a table or a column: the code was deployed before its migrations. Drizzle wraps the error. */
function isSchemaError(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  return /\bno such (?:table|column)\b|\bhas no column named\b/.test(thrown.message) || isSchemaError(thrown.cause)
}

/**
 * Messages of temporary errors of D1, KV, R2 and Durable Objects. During a deploy, an object may still run a release
 * without the called method. An internal error is one of the platform: on one machine also a full disk.
 */
const PASSES =
  /Network connection lost|RPC receiver does not implement|internal error; reference = |overloaded|queued for too long|Too Many Requests|object to be reset|reset because|transient issue|exceeded its memory limit|storage operation exceeded|Exceeded maximum DB size|SQLITE_(?:BUSY|FULL|IOERR|NOMEM|READONLY)|\bKV \w+ failed: (?:429|5\d\d)|\((?:10001|10043|10058)\)/i

/** Whether a bound service failed, not the gateway itself. Drizzle wraps the error. */
export function isUnavailable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  // Properties that the platform sets on errors of Durable Object calls.
  const isMarked = ["overloaded", "retryable"].some((mark) => Reflect.get(thrown, mark) === true)
  return isMarked || PASSES.test(thrown.message) || isUnavailable(thrown.cause)
}

const UNAVAILABLE_MESSAGE = "A part of the gateway is temporarily unavailable. Retry in a few seconds."

/** An error other than a GatewayError is a bug: it is logged, and the client receives no details. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (isSchemaError(thrown)) return new GatewayError("misconfigured", SCHEMA_MESSAGE, { cause: thrown })
  if (isUnavailable(thrown)) {
    const details = { metadata: { retryable: true }, headers: { "retry-after": "2" }, cause: thrown }
    return new GatewayError("unavailable", UNAVAILABLE_MESSAGE, details)
  }
  return new GatewayError("internal", "Something went wrong inside the gateway. Quote the X-Request-Id header.", {
    cause: thrown,
  })
}
