import { setTimeout as wait } from "node:timers/promises"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { type RawAnswer, simple } from "./raw-host.ts"

const sentOf: (headers: Record<string, string>) => string = ({ authorization = "" }) => authorization
const encoded =
  (name: string, encode: (text: string) => Buffer): RawAnswer =>
  ({ headers }, socket) =>
    void socket.end(simple(encode(sentOf(headers)), `Content-Encoding: ${name}\r\n`))

/** Ways in which a host can echo its request, by path. */
export const ECHOES: Record<string, RawAnswer> = {
  "/echo": ({ head }, socket) => void socket.end(simple(head)),
  "/gzip": encoded("gzip", gzipSync),
  "/gzip-capitals": encoded("GZip", gzipSync),
  "/x-gzip": encoded("x-gzip", gzipSync),
  "/br": encoded("br", brotliCompressSync),
  "/br-capitals": encoded("BR", brotliCompressSync),
  "/deflate": encoded("deflate", deflateSync),
  "/zstd": encoded("zstd", zstdCompressSync),
  "/twice": encoded("gzip, gzip", (text) => gzipSync(gzipSync(text))),
  "/two-headers": encoded("gzip\r\nContent-Encoding: gzip", (text) => gzipSync(gzipSync(text))),
  "/identity-gzip": encoded("identity\r\nContent-Encoding: gzip", gzipSync),
  "/transfer-gzip": ({ headers }, socket) => {
    const body = gzipSync(sentOf(headers))
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n")
    socket.write(Buffer.concat([Buffer.from(`${body.byteLength.toString(16)}\r\n`), body]))
    socket.end("\r\n0\r\n\r\n")
  },
  "/bytewise": async ({ headers }, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
    for (const char of `before ${sentOf(headers)} after`) {
      socket.write(`1\r\n${char}\r\n`)
      await wait(2)
    }
    socket.end("0\r\n\r\n")
  },
  "/trailer": ({ headers }, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sent\r\nConnection: close\r\n\r\n")
    socket.end(`2\r\nok\r\n0\r\nX-Sent: ${sentOf(headers)}\r\n\r\n`)
  },
  "/early-hints": ({ headers }, socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\nLink: <https://x.example/${sentOf(headers)}>\r\n\r\n`)
    socket.end(simple("late"))
  },
  "/switching": ({ headers }, socket) =>
    void socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nX-Sent: ${sentOf(headers)}\r\n\r\n${sentOf(headers)}`,
    ),
  "/no-content": ({ headers }, socket) => void socket.end(simple(sentOf(headers), "", "204 No Content")),
  "/not-modified": ({ headers }, socket) => void socket.end(simple(sentOf(headers), "", "304 Not Modified")),
  "/range": ({ headers }, socket) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(headers["range"] ?? "") ?? []
    const received = sentOf(headers)
    if (from === undefined) return void socket.end(simple(received))
    socket.end(simple(received.slice(Number(from), Number(to) + 1), "", "206 Partial Content"))
  },
  "/utf16": ({ headers }, socket) => void socket.end(simple(Buffer.from(sentOf(headers), "utf16le"))),
  "/status": ({ headers }, socket) => void socket.end(simple("", "", `200 ${sentOf(headers)}`)),
  "/headers": ({ headers }, socket) => {
    const sent = sentOf(headers)
    const cookies = `Set-Cookie: a=${encodeURIComponent(sent)}\r\nSet-Cookie: b=${sent}; Path=/\r\n`
    socket.end(
      simple("", `Location: https://x.example/?${sent}\r\n${cookies}X-${headers["x-name"]}: 1\r\n`, "302 Found"),
    )
  },
  "/case": ({ headers }, socket) =>
    void socket.end(simple(sentOf(headers).toLowerCase() + sentOf(headers).toUpperCase())),
  "/mustache": ({ headers }, socket) =>
    void socket.end(simple(sentOf(headers).replaceAll("/", "&#x2F;").replaceAll("=", "&#x3D;"))),
  "/go": ({ headers }, socket) => void socket.end(simple(sentOf(headers).replaceAll("+", "&#43;"))),
  "/cookie": ({ headers }, socket) => void socket.end(simple(/c=([^;]*)/.exec(headers["cookie"] ?? "")?.[1] ?? "")),
  "/large-headers": ({ headers }, socket) =>
    void socket.end(
      simple("", Array.from({ length: 80 }, (_, at) => `X-${at}: ${sentOf(headers)}${"x".repeat(900)}\r\n`).join("")),
    ),
  "/endless": async (_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while (!socket.destroyed) {
      socket.write("more\n")
      await wait(100)
    }
  },
  "/upload": async (request, socket) => {
    const length = Number(request.headers["content-length"])
    while (request.bodyBytes() < length && !socket.destroyed) await wait(10)
    socket.end(simple(`${request.bodyBytes()}`))
  },
}
