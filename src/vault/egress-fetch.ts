import { isPublicAddress, NOT_PUBLIC, toLiteral } from "../outbound/address.ts"
import type { Resolve } from "../outbound/resolve.ts"
import { decideEgress } from "./egress.ts"
import { toBoundHost } from "./hosts.ts"
import type { ReleasedSecret } from "./secret.ts"

/** What an agent asks to be sent. Its body goes out as it is: no secret is ever put in one. */
export type EgressRequest = { method: string; url: string; headers: [string, string][]; body?: string | Uint8Array }

/** `secrets` are asked for anew for each request, so that one that was deleted is not sent any more. */
export type EgressWorld = {
  fetch: typeof fetch
  resolve: Resolve
  secrets: () => Promise<readonly ReleasedSecret[]>
  signal: AbortSignal
}

/**
 * `url`: where the response is from, after redirects. `released`: headers as they were sent with values in them, each with
 * what the agent asked to be sent. `secrets`: those there were.
 */
export type Sent =
  | { ok: true; response: Response; url: string; released: [string, string][]; secrets: readonly ReleasedSecret[] }
  | { ok: false; reason: string }

const MAX_REDIRECTS = 5
const REDIRECTS = [301, 302, 303, 307, 308]
/** What a browser, too, does not take along to another origin. */
const OF_AN_ORIGIN = new Set(["authorization", "cookie", "proxy-authorization"])
/** What says how the body is sent; gone with the body. */
const OF_A_BODY = /^(content-|transfer-encoding$)/i

/**
 * Sends what an agent asks for, values in the place of placeholders where the rules release them. Every redirect is
 * decided anew, from what the agent sent: a value that went to one host does not follow to the next. Nothing is logged.
 */
export async function egressFetch(request: EgressRequest, world: EgressWorld): Promise<Sent> {
  const secrets = await world.secrets()
  const released: [string, string][] = []
  let asked = request
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const url = URL.parse(asked.url)
    if (!url) return { ok: false, reason: "It is not a valid URL." }
    if (url.username !== "" || url.password !== "") {
      return { ok: false, reason: "A URL with a user or password is not sent. Send an Authorization header." }
    }
    const decided = decideEgress({ url, headers: asked.headers }, secrets)
    if (!decided.ok) return decided
    if (!(await isReachable(url, world))) return { ok: false, reason: `It is not sent: ${NOT_PUBLIC}.` }
    for (const [at, [, sent]] of decided.headers.entries()) {
      const [, own = sent] = asked.headers[at] ?? []
      if (sent !== own) released.push([sent, own])
    }
    const response = await send(url, asked, decided.headers, world)
    if (!response) return { ok: false, reason: "The connection failed." }
    const next = redirected(asked, url, response)
    if (!next) return { ok: true, response, url: url.href, released, secrets }
    await response.body?.cancel()
    asked = next
  }
  return { ok: false, reason: `It redirects more than ${MAX_REDIRECTS} times.` }
}

/** A public name may have an inner address. The runtime resolves it once more when it connects. */
async function isReachable(url: URL, { resolve, signal }: EgressWorld): Promise<boolean> {
  const host = toBoundHost(url)
  if (toLiteral(host) !== undefined) return true
  const addresses = await resolve(host, signal).catch(() => [])
  return addresses.length > 0 && addresses.every(isPublicAddress)
}

async function send(
  url: URL,
  { method, body }: EgressRequest,
  headers: [string, string][],
  { fetch: send, signal }: EgressWorld,
): Promise<Response | undefined> {
  const own = headers.filter(([name]) => name.toLowerCase() !== "host")
  try {
    const init = { method, headers: own, redirect: "manual", signal, ...(body !== undefined && { body }) } as const
    return await send(url.href, init)
  } catch {
    signal.throwIfAborted()
    // What a connection fails with may quote what was sent.
    return undefined
  }
}

function redirected(asked: EgressRequest, from: URL, response: Response): EgressRequest | undefined {
  const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null
  const to = location === null ? null : URL.parse(location, from.href)
  if (!to) return undefined
  const isSameOrigin = to.origin === from.origin
  const headers = asked.headers.filter(([name]) => {
    const lower = name.toLowerCase()
    return lower !== "host" && (isSameOrigin || !OF_AN_ORIGIN.has(lower))
  })
  const { method } = asked
  const becomesGet =
    (response.status === 303 && method !== "GET" && method !== "HEAD") || (response.status < 303 && method === "POST")
  if (!becomesGet) return { ...asked, url: to.href, headers }
  return { method: "GET", url: to.href, headers: headers.filter(([name]) => !OF_A_BODY.test(name)) }
}
