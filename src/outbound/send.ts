import { concat, readAtMost } from "../support/bytes.ts"
import { parseRetryAfter } from "../support/time/retry-after.ts"
import { valueOrTimeout } from "../support/time/time.ts"
import { hostRejection, isPrivateHost } from "./address.ts"
import { withDeadline } from "./deadline.ts"
import { fetchFor, type Network, resolvedRejection } from "./resolve.ts"

/** A request to a URL that a client configured, with its secrets in the headers. */
export type Outbound = {
  url: string
  method: "POST" | "PUT"
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array<ArrayBuffer>
}

export type OutboundDeps = Network & {
  fetch: typeof fetch
  /** PRIVATE_HOSTS: plain http is allowed, and their addresses are not checked. */
  privateHosts: ReadonlySet<string>
  timeoutMs: number
}

/** A GET request to a URL that a client configured. */
export type Lookup = Pick<Outbound, "url" | "headers">

/** The response, without a body if that exceeds the limit; or why nothing was sent or received. */
export type LookupResult =
  | { status: number; headers: Headers; body: Uint8Array | undefined }
  | { status: null; reason: string }

/** The status, the beginning of the response and its retry-after; or why nothing was sent or received. */
export type OutboundResult =
  | { status: number; excerpt: string; retryAfterMs: number | null }
  | { status: null; reason: string }

const MAX_REDIRECTS = 3
/** Redirects that keep the method and the body; the others would turn a delivery into a GET. */
const REDIRECTS = [307, 308]
/** More than is ever shown, because callers redact the excerpt before they shorten it. */
const MAX_EXCERPT_BYTES = 8_192
const MIN_FREE_PORT = 1_024

/**
 * Sends to a URL that a client configured, only to public addresses. Redirects are followed here: each target is
 * checked, and the headers, which hold the secrets, are dropped for another origin. resolve.ts prevents DNS rebinding.
 */
export async function sendOutbound(outbound: Outbound, deps: OutboundDeps): Promise<OutboundResult> {
  return exchange(outbound, deps, async (response) => ({
    status: response.status,
    excerpt: await excerptOf(response),
    retryAfterMs: parseRetryAfter(response.headers, Date.now()),
  }))
}

/** Reads a URL that a client configured, by the same rules. */
export async function readOutbound(lookup: Lookup, deps: OutboundDeps, maxBytes: number): Promise<LookupResult> {
  return exchange({ ...lookup, method: "GET", body: null }, deps, async ({ status, headers, body }) => ({
    status,
    headers,
    body: body ? await readAtMost(body, maxBytes) : new Uint8Array(),
  }))
}

/** A request whose response the caller streams. */
export type OpenRequest =
  | (Outbound & { isFinal?: false })
  | (Lookup & { method: "GET" | "DELETE"; body: null; isFinal?: false })
  | FinalRequest

/** A request whose redirects are not followed: its body can be sent only once. */
export type FinalRequest = Lookup & { method: string; body: BodyInit | null; isFinal: true }

/**
 * Sends by the same rules and returns the unread response, or why nothing was sent. Throws if the connection fails. The
 * caller limits time and size: `signal` ends the request and its response.
 */
export function openOutbound(
  request: OpenRequest,
  deps: Omit<OutboundDeps, "timeoutMs">,
  signal: AbortSignal,
): Promise<Response | Unsent> {
  return follow(request, deps, signal, async (response) => response)
}

type Exchange = OpenRequest
export type Unsent = { status: null; reason: string }

async function exchange<T>(
  outbound: Exchange,
  deps: OutboundDeps,
  read: (response: Response) => Promise<T>,
): Promise<T | Unsent> {
  try {
    const never = new AbortController().signal
    const timed = await withDeadline(deps.timeoutMs, never, (signal) => follow(outbound, deps, signal, read))
    return "value" in timed ? timed.value : { status: null, reason: `no response within ${deps.timeoutMs} ms` }
  } catch {
    // The message of a connection error can name hosts and addresses of the gateway's network.
    return { status: null, reason: "the connection failed" }
  }
}

async function follow<T>(
  outbound: Exchange,
  deps: Omit<OutboundDeps, "timeoutMs">,
  signal: AbortSignal,
  read: (response: Response) => Promise<T>,
): Promise<T | Unsent> {
  let target = outbound.url
  let headers = toLowerCaseNames(outbound.headers)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    signal.throwIfAborted()
    const url = URL.parse(target)
    if (!url) return { status: null, reason: "it is not a valid URL" }
    const reason = outboundRejection(url, deps.privateHosts) ?? (await addressRejection(url, deps, signal))
    if (reason !== undefined) return { status: null, reason }
    url.hash = ""
    const { method, body } = outbound
    // Detached from its object: the runtime's `fetch` cannot be called as a method of another object.
    const send = fetchFor(deps, isPrivateHost(url, deps.privateHosts))
    const response = await send(url.href, { method, headers, body, redirect: "manual", signal })
    const follows = outbound.isFinal !== true && REDIRECTS.includes(response.status)
    const location = follows ? response.headers.get("location") : null
    if (location === null) return read(response)
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    if (next?.origin !== url.origin) headers = plainHeadersOf(headers)
    target = next?.href ?? location
  }
  return { status: null, reason: `it redirects more than ${MAX_REDIRECTS} times` }
}

/** Why a URL is rejected by its text; undefined if it is accepted. */
export function outboundRejection(url: URL, privateHosts: ReadonlySet<string>): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") return "only https URLs are allowed"
  if (url.username !== "" || url.password !== "") return "a URL with a user name or password is not allowed"
  if (isPrivateHost(url, privateHosts)) return undefined
  if (url.protocol !== "https:") return "only https URLs are allowed"
  if (url.port !== "" && Number(url.port) < MIN_FREE_PORT) return "this port is not allowed"
  return hostRejection(url)
}

function addressRejection(url: URL, deps: Omit<OutboundDeps, "timeoutMs">, signal: AbortSignal) {
  return isPrivateHost(url, deps.privateHosts) ? undefined : resolvedRejection(url, deps, signal)
}

/** The last of repeated headers counts, whatever their letter case: otherwise both would be joined to one. */
function toLowerCaseNames(headers: Outbound["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const PLAIN = ["content-type", "content-encoding", "user-agent"]

function plainHeadersOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => PLAIN.includes(name)))
}

/** Timeout of the excerpt. A body that stalls or ends early does not change the status. */
const EXCERPT_MS = 1_000

async function excerptOf({ body }: Response): Promise<string> {
  if (!body) return ""
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let room = MAX_EXCERPT_BYTES
  const readAll = async () => {
    while (room > 0) {
      const next = await reader.read()
      if (!next.value) return
      chunks.push(next.value.subarray(0, room))
      room -= next.value.byteLength
    }
  }
  await valueOrTimeout(readAll(), EXCERPT_MS).catch(() => undefined)
  void reader.cancel().catch(() => undefined)
  return new TextDecoder().decode(concat(chunks))
}
