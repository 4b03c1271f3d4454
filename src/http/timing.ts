import type { MiddlewareHandler } from "hono"
import type { App } from "../access/app.ts"

/** `X-Service-Timing: enabled` asks for `Server-Timing`. */
export const TIMING_HEADER = "x-service-timing"

export function wantsTiming(value: string | undefined): boolean {
  return value?.toLowerCase() === "enabled"
}

/**
 * How long the headers of the answer took, and whatever a route says of itself before, in milliseconds. The clock of
 * the runtime moves with what a request waits for, not while it computes: what is told is waiting.
 */
export const serverTiming: MiddlewareHandler<App> = async function serverTiming(c, next) {
  if (!wantsTiming(c.req.header(TIMING_HEADER))) return next()
  const startedAt = Date.now()
  await next()
  c.res.headers.append("server-timing", timing("total", Date.now() - startedAt))
}

/**
 * One metric of `Server-Timing`. `words`: whatever can stand between quotation marks; the rest of them is left away.
 */
export function timing(name: string, ms: number, message = ""): string {
  const result = message.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "")
  return `${name};dur=${ms}${result === "" ? "" : `;desc="${result}"`}`
}
