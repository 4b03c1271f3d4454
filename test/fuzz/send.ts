import http from "node:http"
import type { FuzzRequest } from "./requests.ts"

export type Answer = {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  /** The body ended by itself; an unfinished stream is closed after a while. */
  isComplete: boolean
}

const STREAM_MS = 4_000
const TIMEOUT_MS = 30_000
const MOST_BYTES = 4_000_000

/** Sends the request without the corrections that `fetch` makes. Undefined if no response arrived in time. */
export function send(
  url: string,
  request: Omit<FuzzRequest, "operation">,
  agent: http.Agent,
  streamMs = STREAM_MS,
): Promise<Answer | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const { method, path, headers, body } = request
    const isChunked = "transfer-encoding" in headers
    const length = body === undefined || isChunked ? {} : { "content-length": String(body.byteLength) }
    const outgoing = http.request({ hostname, port, method, path, agent, headers: { ...headers, ...length } })
    const timeout = setTimeout(() => outgoing.destroy(), TIMEOUT_MS)
    outgoing.on("response", (response) => {
      const parts: Buffer[] = []
      let size = 0
      const end = (isComplete: boolean) => {
        clearTimeout(timeout)
        clearTimeout(left)
        const { statusCode = 0, headers: received } = response
        resolve({ status: statusCode, headers: received, text: Buffer.concat(parts).toString(), isComplete })
        if (!isComplete) outgoing.destroy()
      }
      const isStream = response.headers["content-type"]?.includes("event-stream") ?? false
      const left = setTimeout(() => end(false), isStream ? streamMs : TIMEOUT_MS)
      response.on("data", (part: Buffer) => {
        size += part.byteLength
        if (size < MOST_BYTES) parts.push(part)
      })
      response.on("end", () => end(true))
      response.on("error", () => end(false))
      response.on("close", () => end(response.complete))
    })
    outgoing.on("upgrade", (response, socket) => {
      socket.destroy()
      clearTimeout(timeout)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: "", isComplete: true })
    })
    outgoing.on("error", () => {
      clearTimeout(timeout)
      resolve(undefined)
    })
    outgoing.end(body)
  })
}
