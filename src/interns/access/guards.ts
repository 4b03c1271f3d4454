import type { MiddlewareHandler } from "hono"
import { toErrorResponse } from "../../http/error-response.ts"
import { asGatewayError, type ErrorName, errors } from "../../errors/errors.ts"
import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { type App } from "../../access/app.ts"
import { valueOrTimeout } from "../../support/time/time.ts"
import { codeOf, internError, metadataOf, type Reason } from "../lifecycle/reasons.ts"

export const MAX_INTERN_BODY_BYTES = 1_048_576

/** Reasons for errors of shared checks; other errors have no reason. */
const SHARED: Partial<Record<ErrorName, Reason>> = {
  forbidden: "forbidden",
  not_found: "not_found",
  payload_too_large: "payload_too_large",
  unsupported_media_type: "unsupported_media_type",
  rate_limited: "rate_limited",
  timeout: "timeout",
  internal: "internal_error",
  unavailable: "internal_error",
  misconfigured: "internal_error",
}

/** Adds the reason and `retryable` to every error of an intern route, from any check. */
export function addErrorReasons(invalid: Reason): MiddlewareHandler<App> {
  return async function addErrorReasons(c, next) {
    await next()
    if (c.error === undefined) return
    const { code: errorCode, headers, metadata } = asGatewayError(c.error)
    if (metadata?.reason !== undefined) return
    // A body that is not JSON is an error of Hono's.
    const code = errorCode === "internal" && c.res.status === 400 ? "invalid_request" : errorCode
    const reason = code === "invalid_request" ? invalid : SHARED[code]
    if (reason === undefined) return
    const status = code === "unavailable" ? errors[codeOf(reason)].status : c.res.status
    const body = c.res.headers.get("content-type")?.includes("json") ? await c.res.json<{ error: object }>() : undefined
    const result = { message: "", ...body?.error, code: status, metadata: metadataOf(reason) }
    c.res = Response.json({ error: result }, { status, headers: { "cache-control": "no-store", ...headers } })
  }
}

/** Lifecycle operations of an intern return within ten seconds, with a timeout error if necessary. */
export const lifecycleTimeout: MiddlewareHandler<App> = async function withinLifecycleTime(c, next) {
  const ms = timeoutOf(c.env)
  const done = next().then(() => true)
  if ((await valueOrTimeout(done, ms)) === undefined) {
    const error = internError(
      "timeout",
      `The operation took longer than ${ms / 1000} s. It may still complete. Read the intern, then retry.`,
    )
    c.res = toErrorResponse(error, { path: c.req.path, requestId: c.var.requestId })
  }
}

function timeoutOf(env: Env): number {
  return configOf(env).INTERN_LIFECYCLE_TIMEOUT_MS
}
