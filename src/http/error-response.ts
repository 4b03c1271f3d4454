import type { Context, ErrorHandler, NotFoundHandler } from "hono"
import { HTTPException } from "hono/http-exception"
import type { App } from "../access/app.ts"
import { logError } from "../support/log.ts"
import { toGeminiErrorFields } from "../formats/gemini/errors.ts"
import { toMessagesError } from "../formats/messages/errors.ts"
import { asGatewayError, type ErrorEnvelope, GatewayError, toEnvelope } from "../errors/errors.ts"

/** Converts an error to its envelope. The only place in the Worker that does so. */
export function toErrorResponse(thrown: unknown, { path, requestId }: Failed): Response {
  const error = toGatewayError(thrown)
  // Provider errors are in the generation; the log is for errors of the gateway.
  const isGatewayFault = error.code === "unavailable" && error.cause !== undefined
  if (isGatewayFault || error.code === "internal" || error.code === "misconfigured") {
    logError(error.message, { requestId, code: error.code }, error.cause)
  }
  const envelope = toEnvelope(error)
  const body = inFormatOf(path, envelope, error)
  return Response.json(body, { status: error.status, headers: { "cache-control": "no-store", ...error.headers } })
}

/** Converts an error of a route to the error for the client. */
export function toGatewayError(thrown: unknown): GatewayError {
  return asGatewayError(fromHono(thrown))
}

/** The request that failed. */
type Failed = { path: string; requestId: string }

function failedRequestOf(c: Context<App>): Failed {
  return { path: c.req.path, requestId: c.var.requestId }
}

/** Clients of the Messages format read the error type from other fields, which are added to the envelope. */
const SPEAKS_MESSAGES = /\/messages(?:\/count_tokens|\/batches(?:\/[^/]+){0,2})?$/

/** Google's clients read the name of the status. */
const SPEAKS_GEMINI = /\/models\/.+:\w+$/

function inFormatOf(path: string, envelope: ErrorEnvelope, error: GatewayError) {
  if (SPEAKS_MESSAGES.test(path)) return withMessagesError(envelope, error)
  if (!SPEAKS_GEMINI.test(path)) return envelope
  return { error: { ...envelope.error, ...toGeminiErrorFields(error.status, error.headers) } }
}

function withMessagesError(envelope: ErrorEnvelope, { status, message, messagesDetails: details }: GatewayError) {
  const { type, error } = toMessagesError(status, message)
  return { ...envelope, type, error: { ...error, ...envelope.error, ...(details !== undefined && { details }) } }
}

export const onError: ErrorHandler<App> = (thrown, c) => toErrorResponse(thrown, failedRequestOf(c))

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** An unknown path is a 404; a known path with another method is a 405 that lists the allowed methods. */
export function onNotFound(allowed: (method: string, path: string) => boolean): NotFoundHandler<App> {
  return (c) => {
    const { method, path } = c.req
    const others = METHODS.filter((candidate) => candidate !== method && allowed(candidate, path))
    if (others.length === 0)
      return toErrorResponse(new GatewayError("not_found", `There is no ${method} ${path}.`), failedRequestOf(c))
    const allow = others.join(", ")
    const message = `${path} does not support ${method}. It supports ${allow}.`
    return toErrorResponse(new GatewayError("method_not_allowed", message, { headers: { allow } }), failedRequestOf(c))
  }
}

/** Hono's validators throw HTTPException before the schema is used: in practice for a body that is not JSON. */
function fromHono(thrown: unknown): unknown {
  if (isStackOverflow(thrown)) return new GatewayError("invalid_request", "The body is nested too deeply.")
  if (!(thrown instanceof HTTPException)) return thrown
  return new GatewayError(
    "invalid_request",
    "The body is not valid JSON. Send one JSON object, encoded as UTF-8 and not compressed.",
    { cause: thrown },
  )
}

/** Only input that is nested too deeply overflows the stack, in its validation. */
function isStackOverflow(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message === "Maximum call stack size exceeded"
}
