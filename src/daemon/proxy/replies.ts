import http, { type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

const REALM = 'Basic realm="egress"'

/** Responds in the name of the proxy, not of the host. */
export function respond(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy()
  const challenge = status === 407 ? { "proxy-authenticate": REALM } : {}
  response.writeHead(status, { ...challenge, "content-type": "text/plain", connection: "close" })
  response.end(message)
}

/** Responds before a tunnel is established. */
export function rejectConnect(socket: Duplex, status: number, message: string): void {
  const challenge = status === 407 ? `Proxy-Authenticate: ${REALM}\r\n` : ""
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\n${challenge}Content-Type: text/plain\r\n`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(message)}\r\nConnection: close\r\n\r\n${message}`)
}
