import type { IncomingMessage } from "node:http"

export type Pairs = [string, string][]

/** Hop-by-hop headers of RFC 9110 and proxy headers. The proxy itself handles `Expect`. */
const HOP_BY_HOP_HEADERS = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** Header pairs in their original order: Node returns names and values in one flat list. */
export function pairsOf(raw: readonly string[]): Pairs {
  const pairs: Pairs = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? "", raw[at + 1] ?? ""])
  return pairs
}

/** Removes hop-by-hop headers. */
export function withoutHopByHop(pairs: Pairs): Pairs {
  const listed = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim())
  // content-length and host are not hop-by-hop headers, even if Connection lists them.
  const dropped = new Set([
    ...listed.filter((name) => name !== "content-length" && name !== "host"),
    ...HOP_BY_HOP_HEADERS,
  ])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()))
}

/**
 * Headers of the forwarded request. They frame the body as received, against request smuggling: Node frames the body of
 * a GET only if it has a header for it.
 */
export function withBodyHeaders(request: IncomingMessage): Pairs {
  const pairs = withoutHopByHop(pairsOf(request.rawHeaders))
  const { headers } = request
  if (headers["transfer-encoding"] !== undefined) {
    return [...pairs.filter(([name]) => name.toLowerCase() !== "content-length"), ["Transfer-Encoding", "chunked"]]
  }
  return headers["content-length"] === undefined ? [...pairs, ["Content-Length", "0"]] : pairs
}
