import net from "node:net"

/** A client at the socket level: it can disconnect within a byte stream, or read slowly. */
export type Client = {
  /** The body received so far, without its transfer coding. */
  body: () => string
  header: (name: string) => string | undefined
  received: () => number
  /** Settles when the connection has ended for any reason. */
  over: Promise<void>
  leave: () => void
  socket: net.Socket
}

export function requestStream(
  url: string,
  key: string,
  body: object,
  onData?: (client: Client) => void,
  resource = "/chat/completions",
): Client {
  const { hostname, port } = new URL(url)
  const text = JSON.stringify({ ...body, stream: true })
  const parts: Buffer[] = []
  let size = 0
  const socket = net.connect(Number(port), hostname)
  const client: Client = {
    body: () => readHttp(Buffer.concat(parts)).body,
    header: (name) => readHttp(Buffer.concat(parts)).headers[name],
    received: () => size,
    over: new Promise((resolve) => socket.once("close", () => resolve())),
    leave: () => socket.destroy(),
    socket,
  }
  socket.on("error", () => undefined)
  socket.on("data", (part: Buffer) => {
    parts.push(part)
    size += part.byteLength
    onData?.(client)
  })
  socket.write(
    [
      `POST /api/v1${resource} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      `authorization: Bearer ${key}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(text)}`,
      "connection: close",
      "",
      text,
    ].join("\r\n"),
  )
  return client
}

type Read = { status: number; headers: Record<string, string>; body: string }

/** The part of an HTTP/1.1 response that these bytes contain. */
function readHttp(bytes: Buffer): Read {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return { status: 0, headers: {}, body: "" }
  const [first = "", ...lines] = bytes.subarray(0, end).toString().split("\r\n")
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(":")
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const rest = bytes.subarray(end + 4)
  const body = headers["transfer-encoding"] === "chunked" ? dechunk(rest) : rest
  return { status: Number(first.split(" ")[1]), headers, body: body.toString() }
}

function dechunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf("\r\n", at)
    if (line < 0) break
    const size = Number.parseInt(bytes.subarray(at, line).toString(), 16)
    if (!(size > 0)) break
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  return Buffer.concat(parts)
}

/** The data of complete frames in order, without comments. */
export function framesOf(body: string): string[] {
  return body
    .slice(0, body.lastIndexOf("\n\n") + 1)
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice("data: ".length).trimEnd())
}

type Chunk = {
  system_fingerprint?: string | null
  choices: { delta: { content?: string }; finish_reason: string | null }[]
  error?: { code: number; message: string; metadata: { error_type: string } }
}

export function chunksOf(body: string): Chunk[] {
  return framesOf(body)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Chunk)
}

/** The pieces of text in complete frames. */
export function piecesOf(body: string): string[] {
  return chunksOf(body)
    .map((chunk) => chunk.choices[0]?.delta.content ?? "")
    .filter((piece) => piece !== "")
}
