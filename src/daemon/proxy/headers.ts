import type { IncomingMessage } from "node:http"

export type Pairs = [string, string][]

/** Of one hop, by RFC 9110, and those by which clients speak to a proxy. What is expected has been answered. */
const OF_A_HOP = new Set([
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

/** Names and values as they came, in their order: Node tells them in one list. */
export function pairsOf(raw: readonly string[]): Pairs {
  const pairs: Pairs = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? "", raw[at + 1] ?? ""])
  return pairs
}

/** What goes on to the next hop. */
export function onward(pairs: Pairs): Pairs {
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim())
  // A length and a host are no matter of a hop, whatever is said of them.
  const dropped = new Set([...named.filter((name) => name !== "content-length" && name !== "host"), ...OF_A_HOP])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase()))
}

/**
 * The headers with which a request goes on, with its body told as it came. A client is not to decide what this side
 * sends as a request of its own: Node frames the body of a GET only where a header says so.
 */
export function framed(request: IncomingMessage): Pairs {
  const pairs = onward(pairsOf(request.rawHeaders))
  const { headers } = request
  if (headers["transfer-encoding"] !== undefined) {
    return [...pairs.filter(([name]) => name.toLowerCase() !== "content-length"), ["Transfer-Encoding", "chunked"]]
  }
  return headers["content-length"] === undefined ? [...pairs, ["Content-Length", "0"]] : pairs
}
