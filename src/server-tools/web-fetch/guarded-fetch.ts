import { concat } from "../../support/bytes.ts"
import { withDeadline } from "../../outbound/deadline.ts"
import { isAllowedHost, urlRejection } from "../../outbound/address.ts"
import { fetchFor, type Network, resolvedRejection } from "../../outbound/resolve.ts"

export type FetchSettings = {
  /** `host` or `host:port`: fetched without checking their addresses. */
  allowedHosts: ReadonlySet<string>
  timeoutMs: number
  maxBytes: number
}

export type FetchDeps = Network & { fetch: typeof fetch; signal: AbortSignal; settings: FetchSettings }

export type Page = {
  /** After redirects. */
  url: string
  status: number
  contentType: string
  bytes: Uint8Array
  /** The body was longer; the rest was not read. */
  isCut: boolean
}
export type FetchResult = { ok: true; page: Page } | { ok: false; reason: string; status?: number }

const MAX_REDIRECTS = 5
const MAX_URL_LENGTH = 16_384
const REDIRECTS = [301, 302, 303, 307, 308]
const HEADERS = {
  "user-agent": "edge-model-gateway",
  accept: "text/html, text/*;q=0.9, application/pdf;q=0.8, */*;q=0.5",
}

/**
 * Fetches a URL from a model or client, only from public addresses. Every hop is checked by its URL, by the addresses
 * of its name and by `mayFetch`. resolve.ts prevents DNS rebinding.
 */
export async function fetchPublic(
  text: string,
  deps: FetchDeps,
  mayFetch: (url: URL) => boolean = () => true,
): Promise<FetchResult> {
  try {
    const timed = await withDeadline(deps.settings.timeoutMs, deps.signal, (signal) =>
      follow(text, { ...deps, signal }, mayFetch),
    )
    if ("value" in timed) return timed.value
    return failedFetch(timed.stopped === "timeout" ? "the page took too long" : "the request was cancelled")
  } catch {
    // The message of a connection error can name hosts and addresses of the gateway's network.
    return failedFetch("the connection failed")
  }
}

function failedFetch(reason: string, status?: number): FetchResult {
  return { ok: false, reason, ...(status !== undefined && { status }) }
}

async function follow(text: string, deps: FetchDeps, mayFetch: (url: URL) => boolean): Promise<FetchResult> {
  let target = text
  let base: string | undefined
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    deps.signal.throwIfAborted()
    const url = URL.parse(target, base)
    if (!url) return failedFetch("it is not a valid URL")
    const reason = await rejectionAt(url, deps, mayFetch)
    if (reason !== undefined) return failedFetch(reason)
    url.hash = ""
    // Detached from its object: the runtime's `fetch` cannot be called as a method of another object.
    const send = fetchFor(deps, isAllowedHost(url, deps.settings.allowedHosts))
    const response = await send(url.href, { headers: HEADERS, redirect: "manual", signal: deps.signal })
    const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null
    if (location === null) return read(url, response, deps.settings.maxBytes)
    await response.body?.cancel()
    target = location
    base = url.href
  }
  return failedFetch(`it redirects more than ${MAX_REDIRECTS} times`)
}

async function rejectionAt(url: URL, deps: FetchDeps, mayFetch: (url: URL) => boolean): Promise<string | undefined> {
  if (url.protocol !== "http:" && url.protocol !== "https:") return "only http and https URLs are fetched"
  if (url.href.length > MAX_URL_LENGTH) return "its URL is too long"
  if (url.username !== "" || url.password !== "") return "a URL with a user name or password is not fetched"
  if (!mayFetch(url)) return "this domain is not one that may be fetched"
  if (isAllowedHost(url, deps.settings.allowedHosts)) return undefined
  return urlRejection(url) ?? resolvedRejection(url, deps, deps.signal)
}

async function read(url: URL, response: Response, maxBytes: number): Promise<FetchResult> {
  if (!response.ok) {
    await response.body?.cancel()
    return failedFetch(`the server returned ${response.status}`, response.status)
  }
  const { bytes, isCut } = response.body
    ? await readUpTo(response.body, maxBytes)
    : { bytes: new Uint8Array(), isCut: false }
  const contentType = response.headers.get("content-type") ?? ""
  return { ok: true, page: { url: url.href, status: response.status, contentType, bytes, isCut } }
}

async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    const room = maxBytes - size
    if (chunk.byteLength > room) {
      chunks.push(chunk.subarray(0, room))
      return { bytes: concat(chunks), isCut: true }
    }
    chunks.push(chunk)
    size += chunk.byteLength
  }
  return { bytes: concat(chunks), isCut: false }
}
