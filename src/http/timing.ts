import type { MiddlewareHandler } from "hono"
import type { App } from "../access/app.ts"

/** `X-Service-Timing: enabled` requests `Server-Timing`. */
export const TIMING_HEADER = "x-service-timing"

function wantsTiming(value: string | null | undefined): boolean {
  return value?.toLowerCase() === "enabled"
}

/**
 * Adds the time until the response headers, and the metrics of the route, in milliseconds. The clock of the runtime
 * advances only with I/O, not with computation, so the times are waiting times.
 */
export const serverTiming: MiddlewareHandler<App> = async function serverTiming(c, next) {
  if (!wantsTiming(c.req.header(TIMING_HEADER))) return next()
  const startedAt = Date.now()
  await next()
  c.res.headers.append("server-timing", timing("total", Date.now() - startedAt))
}

/**
 * One metric of `Server-Timing`. Characters of `message` that a quoted string cannot hold are dropped.
 */
export function timing(name: string, ms: number, message = ""): string {
  const result = message.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "")
  return `${name};dur=${ms}${result === "" ? "" : `;desc="${result}"`}`
}
