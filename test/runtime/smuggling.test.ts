import net from "node:net"
import { expect, test } from "vitest"
import { useSetup } from "./setup.ts"

const setup = useSetup({})

/** The complete response to these bytes, until the connection closes. */
function exchange(bytes: string): Promise<string> {
  const { hostname, port } = new URL(setup.gateway.url)
  return new Promise((resolve) => {
    let received = ""
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
    socket.on("data", (part: Buffer) => (received += part.toString()))
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(received))
  })
}

const SECOND = "GET /api/v1/credits/vendor HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"
const head = (...lines: string[]) =>
  ["POST /api/v1/chat/completions HTTP/1.1", "Host: gateway", "Content-Type: application/json", ...lines, "", ""].join(
    "\r\n",
  )

/** A proxy and the gateway may disagree on the end of each of these bodies. */
test.each([
  ["two lengths", head("Connection: close", "Content-Length: 2", `Content-Length: ${2 + SECOND.length}`) + "{}"],
  [
    "a length and chunked encoding",
    head("Connection: close", "Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n",
  ],
  ["an unknown coding", head("Connection: close", "Transfer-Encoding: xchunked") + "0\r\n\r\n"],
  ["a length with a sign", head("Connection: close", "Content-Length: +2") + "{}"],
  ["a folded header", head("Connection: close", "X-A: b", " Content-Length: 2") + "{}"],
  ["a space before the colon", head("Connection: close", "Content-Length : 2") + "{}"],
  ["a bare line feed", head("Connection: close\nContent-Length: 2\nX-A: b").replaceAll("\r\n\r\n", "\n\n") + "{}"],
])("%s gets at most one response, and the following request is not run", async (_, first) => {
  const received = await exchange(first + SECOND)
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
  expect(statuses.length).toBeLessThanOrEqual(1)
  expect(statuses.filter((status) => status >= 500 && status !== 501)).toEqual([])
  // The status of the second request.
  expect(statuses).not.toContain(410)
})
