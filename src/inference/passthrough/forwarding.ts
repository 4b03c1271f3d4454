import { GatewayError } from "../../errors/errors.ts"
import type { Service } from "./service-call.ts"

/** The request to a service, and the headers of its response. */

/** Headers of the client that are about its connection, its key, or the gateway. */
const DROPPED =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|authorization|cookie|origin|referer|forwarded|via|expect|accept-encoding|cf-.*|cdn-loop|x-forwarded-.*|x-real-ip|x-session-id|x-title|http-referer|x-service-.*|x-openrouter-.*|x-response-cache|sec-.*)$/

/** Headers and parameters from which some services take another method or path than the one that the rules allowed. */
const OVERRIDES =
  /^(?:_method|x-(?:http-)?method(?:-override)?|x-(?:original|rewrite)-(?:url|uri|path|method|host)|x-host)$/i

/** Headers of the client to forward. `hasKey`: whether a value contains a key of the gateway. */
export function clientHeaders(client: Headers, hasKey: (value: string) => boolean): Record<string, string> {
  const isForwarded = (name: string) => !DROPPED.test(name) && !OVERRIDES.test(name)
  return Object.fromEntries([...client].filter(([name, value]) => isForwarded(name) && !hasKey(value)))
}

/** The headers of a request: those of the client, replaced by those of the service. */
export function requestHeaders(
  passed: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const added = Object.entries(secrets).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { "user-agent": "edge-model-gateway", ...passed, ...Object.fromEntries(added) }
}

const PASSED =
  /^(?:content-(?:type|disposition|language|range)|accept-ranges|etag|last-modified|retry-after|x-request-id|(?:x-)?ratelimit-.*)$/

/** A page of the service must not act as a page of the gateway: the console has the same origin. */
const SANDBOX_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
}

export function responseHeaders(upstream: Headers, generationId: string, hide: (text: string) => string): Headers {
  const headers = new Headers()
  for (const [name, value] of upstream) if (PASSED.test(name)) headers.set(name, hide(value))
  for (const [name, value] of Object.entries(SANDBOX_HEADERS)) headers.set(name, value)
  headers.set("x-generation-id", generationId)
  return headers
}

/** A path that a service could interpret differently from the rules. */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c|[01][0-9a-f]|7f)|\\|\/\/|\/\.{1,2};/i

/** The slug may be percent-encoded. */
const BELOW_SERVICE = /\/passthrough\/[^/]+(\/.*)$/

/** The path below the service as the client sent it: `/v1/search`. Throws 400 if it is ambiguous. */
export function pathBelow({ pathname }: URL): string {
  const [, path = "/"] = BELOW_SERVICE.exec(pathname) ?? []
  if (!AMBIGUOUS.test(path)) return path
  throw new GatewayError(
    "invalid_request",
    "The path must not have encoded dots or slashes, empty segments, or segments of dots.",
  )
}

type Target = { path: string; query: URLSearchParams; hasKey: (value: string) => boolean }

/**
 * The URL at the service. `query`: the client's, after the guardrails; parameters of the service replace those of the
 * same name. `hasKey`: whether a value contains a gateway key. Gateway keys are not forwarded.
 */
export function targetUrl(service: Service, { path, query, hasKey }: Target): string {
  const parameters = new URLSearchParams([...query].filter(([name, value]) => !OVERRIDES.test(name) && !hasKey(value)))
  for (const [name, value] of Object.entries(service.secrets.query)) parameters.set(name, value)
  const text = parameters.toString()
  return `${service.row.baseUrl}${path}${text === "" ? "" : `?${text}`}`
}
