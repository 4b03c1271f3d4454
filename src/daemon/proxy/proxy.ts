import { randomBytes } from "node:crypto"
import { once } from "node:events"
import http, { type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream/promises"
import { TLSSocket } from "node:tls"
import { isSame } from "../../support/text/encoding.ts"
import { boundTo, isPublicTarget } from "../../vault/egress.ts"
import { toBoundHost } from "../../vault/hosts.ts"
import { open, AddressError } from "./connect.ts"
import type { ProxyDeps } from "./deps.ts"
import { withBodyHeaders, withoutHopByHop, pairsOf } from "./headers.ts"
import { type Interception, newInterceptor } from "./intercept.ts"
import { respond, rejectConnect } from "./replies.ts"

export type Proxy = { url: URL; close: () => Promise<void> }

const USER = "agent"

/**
 * HTTP proxy of an agent on this machine. Requests to hosts with secrets are intercepted and sent through the gateway,
 * which inserts the values. Other connections are tunnelled encrypted, or rejected.
 */
export async function startProxy(deps: ProxyDeps): Promise<Proxy> {
  const password = randomBytes(24).toString("hex")
  const credentials = `Basic ${Buffer.from(`${USER}:${password}`).toString("base64")}`
  const isKnown = ({ headers }: IncomingMessage) => isSame(headers["proxy-authorization"] ?? "", credentials)
  const intercept = newInterceptor(deps)
  const server = http.createServer((request, response) => {
    if (isKnown(request)) void plain(request, response, deps)
    else respond(response, 407, "The proxy's credentials are missing.")
  })
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy())
    if (isKnown(request)) void connect(request, { socket, head, deps, intercept })
    else rejectConnect(socket, 407, "The proxy's credentials are missing.")
  })
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(`http://${USER}:${password}@127.0.0.1:${port}`),
    close: async () => {
      server.close()
      // Includes tunnels, which the server no longer tracks.
      for (const socket of sockets) socket.destroy()
      await once(server, "close")
    },
  }
}

/** Plain HTTP is only allowed to a gateway without TLS. */
async function plain(request: IncomingMessage, response: ServerResponse, { gateway }: ProxyDeps): Promise<void> {
  const url = URL.parse(request.url ?? "")
  if (url?.origin !== gateway.origin) return respond(response, 403, "Only https is allowed.")
  const { method = "GET" } = request
  const upstream = http.request(url, { method, headers: withBodyHeaders(request).flat() })
  upstream.on("response", (upstreamResponse) => {
    response.writeHead(upstreamResponse.statusCode ?? 502, withoutHopByHop(pairsOf(upstreamResponse.rawHeaders)).flat())
    void pipeline(upstreamResponse, response).catch(() => response.destroy())
  })
  upstream.on("error", () => respond(response, 502, "The gateway could not be reached."))
  await pipeline(request, upstream).catch(() => upstream.destroy())
}

type Tunnel = {
  socket: Duplex
  head: Buffer
  deps: ProxyDeps
  intercept: Interception
}

async function connect(
  { url: target = "" }: IncomingMessage,
  { socket, head, deps, intercept }: Tunnel,
): Promise<void> {
  const url = /^[^/?#@]+:\d+$/.test(target) ? URL.parse(`https://${target}`) : null
  if (!url) return rejectConnect(socket, 400, "CONNECT needs a host and a port.")
  const isBound = boundTo(url, deps.secrets()).length > 0
  if (!isAllowed(url, isBound, deps)) return rejectConnect(socket, 403, "This host is not allowed.")
  if (isBound) {
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
    socket.unshift(head)
    const secureContext = deps.authority.contextFor(toBoundHost(url))
    const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ["http/1.1"] })
    return intercept.take(secure, url)
  }
  try {
    const port = Number(url.port || 443)
    const host = url.hostname.replace(/^\[|\]$/g, "")
    const upstream = isGateway(url, deps) ? await open(host, port) : await deps.connect(host, port)
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
    upstream.write(head)
    pipeBoth(socket, upstream)
  } catch (thrown) {
    const text = thrown instanceof AddressError ? thrown.message : "The host could not be reached."
    rejectConnect(socket, thrown instanceof AddressError ? 403 : 502, text)
  }
}

function isAllowed(url: URL, isBound: boolean, deps: ProxyDeps): boolean {
  if (isGateway(url, deps)) return true
  if (!isPublicTarget(url)) return false
  return isBound || deps.allowedHosts === undefined || deps.allowedHosts.includes(toBoundHost(url))
}

/** Whether the URL is the gateway, the only allowed private address. */
function isGateway(url: URL, { gateway }: ProxyDeps): boolean {
  return url.host === gateway.host
}

function pipeBoth(one: Duplex, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    from.on("error", () => to.destroy())
    from.on("close", () => to.destroy())
  }
}
