import http, { type IncomingMessage, type ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import { connect as connectTls, rootCertificates, type TLSSocket } from "node:tls"
import { decideEgress } from "../../vault/egress.ts"
import { toBoundHost } from "../../vault/hosts.ts"
import { Refusal } from "./connect.ts"
import { framed, onward, pairsOf, type Pairs } from "./headers.ts"
import type { ProxyWorld } from "./proxy.ts"
import { answer } from "./replies.ts"

/** Takes connections that the agent believes to be to a host, and speaks for it. */
export type Interception = { take: (secure: TLSSocket, host: URL) => void }

export function newInterceptor(world: ProxyWorld): Interception {
  const hosts = new WeakMap<object, URL>()
  const server = http.createServer((request, response) => {
    const host = hosts.get(request.socket)
    if (host) void pass(request, response, host, world)
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

async function pass(request: IncomingMessage, response: ServerResponse, host: URL, world: ProxyWorld): Promise<void> {
  // Another host in the request line is another host, whatever the connection says.
  if (!/^[/*]/.test(request.url ?? "")) return answer(response, 421, "This connection is to another host.")
  const decided = decideEgress({ url: host, headers: framed(request) }, world.secrets())
  if (!decided.ok) return answer(response, decided.misdirected ? 421 : 403, decided.reason)
  try {
    await forward(request, response, host, withHost(decided.headers, host), world)
  } catch (thrown) {
    const words = thrown instanceof Refusal ? thrown.message : "The host could not be reached."
    answer(response, thrown instanceof Refusal ? 403 : 502, words)
  }
}

/** One Host, the one that was decided on. */
function withHost(headers: Pairs, url: URL): Pairs {
  return [["Host", toBoundHost(url)], ...headers.filter(([name]) => name.toLowerCase() !== "host")]
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  headers: Pairs,
  { connect, trusted }: ProxyWorld,
): Promise<void> {
  const host = toBoundHost(url)
  const socket = await connect(host, 443)
  const ca = trusted && [...rootCertificates, ...trusted]
  const secure = connectTls({ socket, servername: host, ALPNProtocols: ["http/1.1"], ...(ca && { ca }) })
  const { method = "GET" } = request
  const upstream = http.request({
    method,
    path: request.url ?? "/",
    headers: headers.flat(),
    createConnection: () => secure,
  })
  response.on("close", () => upstream.destroy())
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.on("response", resolve)
    upstream.on("error", reject)
  })
  // A server may answer before it has read all of a body.
  const sent = pipeline(request, upstream).catch(() => upstream.destroy())
  const incoming = await answered
  response.writeHead(incoming.statusCode ?? 502, onward(pairsOf(incoming.rawHeaders)).flat())
  await pipeline(incoming, response).catch(() => response.destroy())
  await sent
}
