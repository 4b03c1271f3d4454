import http, { type IncomingMessage, type ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import type { TLSSocket } from "node:tls"
import { isMisdirected, MISDIRECTED } from "../../vault/egress.ts"
import { toBoundHost } from "../../vault/hosts.ts"
import { withoutHopByHop, pairsOf } from "./headers.ts"
import type { ProxyDeps } from "./deps.ts"
import { respond } from "./replies.ts"

/** Accepts intercepted connections of the agent in place of the host. */
export type Interception = { take: (secure: TLSSocket, host: URL) => void }

export function newInterceptor(deps: ProxyDeps): Interception {
  const hosts = new WeakMap<object, URL>()
  const server = http.createServer((request, response) => {
    const host = hosts.get(request.socket)
    if (host) void pass(request, response, host, deps)
    else request.socket.destroy()
  })
  return {
    take: (secure, host) => {
      hosts.set(secure, host)
      secure.on("error", () => secure.destroy())
      server.emit("connection", secure)
    },
  }
}

/**
 * Sends the request through the gateway, which inserts the values. No request to a host with secrets leaves this
 * machine directly.
 */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  host: URL,
  { egress, onUnbound }: ProxyDeps,
): Promise<void> {
  const headers = withoutHopByHop(pairsOf(request.rawHeaders))
  // A request line with another host than the tunnel's is rejected.
  if (!/^(\/|\*$)/.test(request.url ?? "")) return respond(response, 421, "This connection is to another host.")
  if (isMisdirected(host, headers)) return respond(response, 421, MISDIRECTED)
  const { method = "GET", url: target = "/" } = request
  const url = URL.parse(target === "*" ? "/" : `https://${toBoundHost(host)}${target}`, host)?.href
  if (url === undefined) return respond(response, 400, "The request target is not a valid path.")
  const disconnect = new AbortController()
  response.on("close", () => disconnect.abort())
  try {
    const result = await egress({ method, url, headers, hasBody: hasBody(request) }, request, disconnect.signal)
    if (result.is === "rejection") {
      // The secret of this host was just deleted: the next connection is tunnelled like any other.
      if (result.isUnbound) onUnbound()
      return respond(response, result.status, result.reason)
    }
    const { envelope, body } = result
    response.writeHead(envelope.status, envelope.headers.flat())
    response.flushHeaders()
    await pipeline(body, response).catch(() => response.destroy())
  } catch {
    respond(response, 502, "The gateway could not be reached.")
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
}
