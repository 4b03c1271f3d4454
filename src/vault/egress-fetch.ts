import { fetchFor, type Network, resolvedRejection } from "../outbound/resolve.ts"
import { toBoundHost } from "./hosts.ts"
import { boundTo, decideEgress } from "./egress.ts"
import { type Redactor, redactorFor } from "../outbound/redactor.ts"
import type { ReleasedSecret } from "./secret.ts"

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** The body is sent unchanged: values are inserted into headers only. */
export type EgressRequest = { method: string; url: string; headers: [string, string][]; body?: Body }

/**
 * `secrets` are read for each request, so that a deleted one is no longer sent. `testHosts`: replacements for hosts in
 * development (EGRESS_TEST_HOSTS). `onRelease`: values were sent to a host.
 */
export type EgressDeps = Network & {
  fetch: typeof fetch
  secrets: () => Promise<readonly ReleasedSecret[]>
  signal: AbortSignal
  testHosts: ReadonlyMap<string, string>
  onRelease: (names: readonly string[], host: string) => void
}

/** `headers` and `body` with placeholders instead of values, for the agent. `url`: after redirects. */
export type EgressResponse = {
  status: number
  statusText: string
  headers: [string, string][]
  body: ReadableStream<Uint8Array> | null
  hidden: Redactor
  url: string
}

export type EgressResult =
  | { ok: true; response: EgressResponse }
  /** `unbound`: no secret is bound to the host. `failed`: the host was unreachable or its response unreadable. */
  | { ok: false; reason: string; why: "refused" | "unbound" | "misdirected" | "failed" }

const MAX_REDIRECTS = 5
const REDIRECTS = [301, 302, 303, 307, 308]
/** Browsers do not send these to another origin either. */
const OF_AN_ORIGIN = new Set(["authorization", "cookie", "proxy-authorization"])
/** Removed together with the body. */
const BODY_HEADERS = /^(content-|transfer-encoding$)/i
const HOP_BY_HOP =
  /^(connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|accept-encoding)$/i
/** TRACE echoes the request, and API clients do not use the others. */
const REJECTED_METHODS = /^(connect|trace|track)$/i
/**
 * Not sent with a value: a host that echoes it would reveal it in pieces, or in an encoding that is not checked. The
 * host may ignore these headers, and then sends everything in UTF-8.
 */
const PIECEWISE = /^(range|if-range|request-range|accept-charset|a-im)$/i
/** The runtime decodes these; values can be redacted in decoded bytes only. */
const DECODED = ["gzip", "br"]

/**
 * For the embedded agent: fetches any public host and can follow redirects. Every redirect is checked like the first
 * request.
 */
export async function egressFetch(
  request: EgressRequest,
  deps: EgressDeps,
  { followRedirects }: { followRedirects: boolean } = { followRedirects: true },
): Promise<EgressResult> {
  const secrets = await deps.secrets()
  const released: [string, string][] = []
  let current = request
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const sent = await exchange(current, secrets, released, deps)
    if (!sent.ok) return sent
    const next = followRedirects ? redirectRequest(current, sent.response) : undefined
    if (!next) return sent
    await sent.response.body?.cancel()
    current = next
  }
  return reject(`It redirects more than ${MAX_REDIRECTS} times.`)
}

/** For a daemon: only to hosts of secrets. A redirect is returned: the agent's client may follow it. */
export async function egressToBound(request: EgressRequest, deps: EgressDeps): Promise<EgressResult> {
  const secrets = await deps.secrets()
  const url = URL.parse(request.url)
  if (!url || boundTo(url, secrets).length === 0) {
    return { ok: false, reason: "No secret is bound to this host.", why: "unbound" }
  }
  return exchange(request, secrets, [], deps)
}

async function exchange(
  request: EgressRequest,
  secrets: readonly ReleasedSecret[],
  released: [string, string][],
  deps: EgressDeps,
): Promise<EgressResult> {
  const url = URL.parse(request.url)
  if (!url) return reject("It is not a valid URL.")
  if (url.username !== "" || url.password !== "") {
    return reject("A URL with a user or password is not sent. Send an Authorization header.")
  }
  if (REJECTED_METHODS.test(request.method)) return reject(`${request.method.toUpperCase()} is not sent.`)
  // The runtime's `fetch` rejects it.
  if (request.body !== undefined && /^(GET|HEAD)$/.test(request.method)) return reject("A GET with a body is not sent.")
  const decided = decideEgress({ url, headers: request.headers }, secrets)
  if (!decided.ok) return { ...decided, why: decided.misdirected ? "misdirected" : "refused" }
  const host = toBoundHost(url)
  const isBound = boundTo(url, secrets).length > 0
  const testOrigin = isBound ? deps.testHosts.get(host) : undefined
  const fault = testOrigin === undefined ? await resolvedRejection(url, deps, deps.signal) : undefined
  if (fault !== undefined) return reject(`It is not sent: ${fault}.`)
  for (const [at, [, sent]] of decided.headers.entries()) {
    const [, value = sent] = request.headers[at] ?? []
    if (sent !== value) released.push([sent, value])
  }
  if (decided.released.length > 0) deps.onRelease(decided.released, host)
  const target = testOrigin === undefined ? url : new URL(`${testOrigin}${url.pathname}${url.search}`)
  const sent =
    decided.released.length === 0 ? decided.headers : decided.headers.filter(([name]) => !PIECEWISE.test(name))
  const network = { fetch: fetchFor(deps, testOrigin !== undefined), signal: deps.signal }
  const response = await send(target, { request, headers: sent, isBound, network })
  if (typeof response === "string") return { ok: false, reason: response, why: "failed" }
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity"
  const isReadable = encoding === "identity" || DECODED.includes(encoding)
  if (isBound && !isReadable && response.body) {
    await response.body.cancel()
    return {
      ok: false,
      reason: "The host compressed its response with an encoding that was not accepted.",
      why: "failed",
    }
  }
  return { ok: true, response: withoutValues(response, url, isReadable, redactorFor({ released, secrets })) }
}

function reject(reason: string): EgressResult {
  return { ok: false, reason, why: "refused" }
}

type Sending = {
  request: EgressRequest
  headers: [string, string][]
  isBound: boolean
  network: Pick<EgressDeps, "fetch" | "signal">
}

/** Sends the request; returns the response, or why there is none. */
async function send(
  url: URL,
  { request: { method, body }, headers, isBound, network: { fetch: send, signal } }: Sending,
): Promise<Response | string> {
  try {
    const upstreamHeaders = new Headers()
    for (const [name, value] of headers)
      if (!HOP_BY_HOP.test(name) || isStandard(name, isBound)) upstreamHeaders.append(name, value)
    if (isBound) upstreamHeaders.set("accept-encoding", "identity")
    return await send(url.href, {
      method,
      headers: upstreamHeaders,
      redirect: "manual",
      // A response for one intern must not be served to another.
      cache: "no-store",
      signal,
      ...(body !== undefined && { body }),
    })
  } catch {
    signal.throwIfAborted()
    // The message of a connection error may contain secrets.
    return "The connection failed."
  }
}

/** Without secrets to redact, accept-encoding passes unchanged. */
const isStandard = (name: string, isBound: boolean) => !isBound && name.toLowerCase() === "accept-encoding"

function withoutValues(response: Response, url: URL, isReadable: boolean, hidden: Redactor): EgressResponse {
  const dropped = isReadable ? /^(content-encoding)$/i : /^$/
  const headers = [...response.headers]
    .filter(([name]) => (!HOP_BY_HOP.test(name) || isLength(name, response)) && !dropped.test(name))
    .map(([name, value]): [string, string] => [hidden.text(name), hidden.text(value)])
  const { status, statusText, body } = response
  return { status, statusText: hidden.text(statusText), headers, body, hidden, url: hidden.text(url.href) }
}

/** Redaction changes the length of a body; without a body, the length is the declared one. */
const isLength = (name: string, { body }: Response) => body === null && name.toLowerCase() === "content-length"

/** From the redacted Location: a host that puts a value into it cannot pass the value on. */
function redirectRequest(request: EgressRequest, { status, headers, url }: EgressResponse): EgressRequest | undefined {
  const location = REDIRECTS.includes(status) ? headers.find(([name]) => name === "location")?.[1] : undefined
  const to = location === undefined ? null : URL.parse(location, url)
  if (!to) return undefined
  const isSameOrigin = to.origin === new URL(url).origin
  const forwarded = request.headers.filter(([name]) => {
    const lower = name.toLowerCase()
    return lower !== "host" && (isSameOrigin || !OF_AN_ORIGIN.has(lower))
  })
  const { method } = request
  const becomesGet = (status === 303 && method !== "GET" && method !== "HEAD") || (status < 303 && method === "POST")
  if (!becomesGet) return { ...request, url: to.href, headers: forwarded }
  return { method: "GET", url: to.href, headers: forwarded.filter(([name]) => !BODY_HEADERS.test(name)) }
}
