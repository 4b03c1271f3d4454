import { once } from "node:events"
import type { AddressInfo } from "node:net"
import tls, { type TLSSocket } from "node:tls"
import { newAuthority } from "../../src/daemon/proxy/authority.ts"

/** A received request: its complete head and how much of a body. `closed`: its connection has ended. */
export type RawRequest = {
  method: string
  path: string
  head: string
  headers: Record<string, string>
  bodyBytes: () => number
  closed: Promise<unknown>
}

export type RawAnswer = (request: RawRequest, socket: TLSSocket) => void | Promise<void>

/** An https server that writes the raw bytes of its responses, valid or not. One request a connection. */
export async function openRawHost(answers: Record<string, RawAnswer>) {
  const authority = newAuthority("of the raw host")
  const requests: RawRequest[] = []
  const server = tls.createServer(
    { SNICallback: (name, done) => done(null, authority.contextFor(name)) },
    (socket: TLSSocket) => {
      let [text, size, isAnswered] = ["", 0, false]
      const closed = new Promise((resolve) => socket.once("close", resolve))
      socket.on("error", () => socket.destroy())
      socket.on("data", (bytes) => {
        size += bytes.byteLength
        if (isAnswered) return
        text += bytes.toString("latin1")
        const end = text.indexOf("\r\n\r\n")
        if (end < 0) return
        isAnswered = true
        const head = text.slice(0, end)
        const [line = "", ...lines] = head.split("\r\n")
        const [method = "", path = ""] = line.split(" ")
        const pairs = lines
          .map((one) => one.split(": "))
          .map(([name = "", ...rest]) => [name.toLowerCase(), rest.join(": ")])
        const headers = Object.fromEntries(pairs) as Record<string, string>
        const request: RawRequest = { method, path, head, headers, bodyBytes: () => size - end - 4, closed }
        requests.push(request)
        const answer = answers[path.split("?")[0] ?? ""] ?? (() => void socket.end(simple("no such path")))
        void answer(request, socket)
      })
    },
  )
  server.listen(0)
  await once(server, "listening")
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    requests,
    close: () => void server.close(),
  }
}

/** A complete response. `headers`: lines, each with its end. */
export function simple(body: string | Buffer, headers = "", status = "200 OK"): Buffer {
  const bytes = Buffer.from(body)
  const head = `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${bytes.byteLength}\r\nConnection: close\r\n\r\n`
  return Buffer.concat([Buffer.from(head, "latin1"), bytes])
}
