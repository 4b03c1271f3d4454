import * as z from "zod"
import { readAtMost } from "../support/bytes.ts"
import { isPublicAddress, NOT_PUBLIC, toHost, toLiteral } from "./address.ts"

/** All IPv4 and IPv6 addresses of a name; empty if it has none. Throws if the lookup fails. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

const TYPES = { A: 1, AAAA: 28 } as const
const NO_ERROR = 0
const NO_SUCH_NAME = 3
const MAX_RESPONSE_BYTES = 65_536

const DnsResponse = z.object({
  Status: z.int(),
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).nullish(),
})

/**
 * DNS over HTTPS in JSON. The runtime's `node:dns` does the same, but with a fixed resolver and without an injectable
 * `fetch`.
 */
export function dnsOverHttps(endpoint: string, send: typeof fetch): Resolve {
  return async (host, signal) => {
    const both = await Promise.all([
      queryDns(endpoint, { send, host, type: "A", signal }),
      queryDns(endpoint, { send, host, type: "AAAA", signal }),
    ])
    return both.flat()
  }
}

type DnsQuery = {
  send: typeof fetch
  host: string
  type: keyof typeof TYPES
  signal: AbortSignal
}

async function queryDns(endpoint: string, { send, host, type, signal }: DnsQuery): Promise<string[]> {
  const url = new URL(endpoint)
  url.searchParams.set("name", host)
  url.searchParams.set("type", type)
  const response = await send(url.href, { headers: { accept: "application/dns-json" }, redirect: "manual", signal })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`DNS returned ${response.status}`)
  }
  const bytes = await readAtMost(response.body, MAX_RESPONSE_BYTES)
  if (!bytes) throw new Error("The DNS response is too large")
  const message = DnsResponse.parse(JSON.parse(new TextDecoder().decode(bytes)))
  if (message.Status === NO_SUCH_NAME) return []
  if (message.Status !== NO_ERROR) throw new Error(`DNS returned status ${message.Status}`)
  return (message.Answer ?? []).filter((record) => record.type === TYPES[type]).map((record) => record.data)
}

/**
 * `isGuarded`: connections lead to public addresses only, by Cloudflare's network or by `publicFetch`, which replaces
 * `fetch` where that also connects to private addresses (local/direct-outbound.ts); not in `wrangler dev`.
 */
export type Network = { resolve: Resolve; isGuarded: boolean; publicFetch?: typeof fetch }

/** The `fetch` for a URL of a client. `isAllowed`: the operator allows its host, also at a private address. */
export function fetchFor(
  { fetch: anyFetch, publicFetch = anyFetch }: Pick<Network, "publicFetch"> & { fetch: typeof fetch },
  isAllowed: boolean,
): typeof fetch {
  return isAllowed ? anyFetch : publicFetch
}

const UNGUARDED =
  "plain http to a host name is rejected here, because this network also connects to private addresses: use https"

/**
 * Why a URL must not be connected to; undefined if every address of its name is public. The runtime resolves the name
 * again when it connects, and `fetch` cannot pin an address. If the name then has another address (DNS rebinding),
 * https fails, because a server on a private address has no certificate for the name. Plain http has no such check, so
 * the network must be guarded.
 */
export async function resolvedRejection(
  url: URL,
  { resolve, isGuarded }: Network,
  signal: AbortSignal,
): Promise<string | undefined> {
  const host = toHost(url.hostname)
  if (toLiteral(host) !== undefined) return undefined
  if (url.protocol !== "https:" && !isGuarded) return UNGUARDED
  const addresses = await resolve(host, signal).catch(() => [])
  if (addresses.length === 0) return "its host name could not be resolved"
  return addresses.every(isPublicAddress) ? undefined : NOT_PUBLIC
}
