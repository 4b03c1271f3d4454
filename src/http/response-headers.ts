import { isSecure } from "./host-cookie.ts"

/** Headers that a page of another origin may read. */
export const EXPOSED_HEADERS = [
  "X-Request-Id",
  "Request-Id",
  "X-Generation-Id",
  "Retry-After",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Server-Timing",
  "Mcp-Session-Id",
]
const EXPOSED = EXPOSED_HEADERS.join(",")

/** A year. Not for subdomains: the operator may serve other things there over http. */
const HSTS = "max-age=31536000"

/** The headers of every response of the gateway. `url`: of the request. */
export function addBaseHeaders(headers: Headers, requestId: string, url: string): void {
  headers.set("x-request-id", requestId)
  // The name that Anthropic's clients read.
  headers.set("request-id", requestId)
  // Bodies contain text of models, files and clients: a browser must not sniff one as a page or a script.
  headers.set("x-content-type-options", "nosniff")
  // Browsers ignore it over http (RFC 6797).
  if (isSecure(url)) headers.set("strict-transport-security", HSTS)
  // Nearly every response contains data of one account.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store")
}

/** The headers of every response of the API. */
export function addCommonHeaders(headers: Headers, requestId: string, url: string): void {
  addBaseHeaders(headers, requestId, url)
  // Keys are sent in a header, never in a cookie, so any page may call with a key that it has.
  headers.set("access-control-allow-origin", "*")
  headers.set("access-control-expose-headers", EXPOSED)
}
