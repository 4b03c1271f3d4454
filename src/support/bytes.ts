export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1 && chunks[0]) return chunks[0]
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.byteLength
  }
  return joined
}

/** The text of a message, or undefined when it is larger. A declared length saves counting it in script. */
export async function readText(message: Request | Response, maxBytes: number): Promise<string | undefined> {
  const declared = message.headers.get("content-length")
  if (declared !== null && Number(declared) <= maxBytes) return message.text()
  const bytes = message.body ? await readChunked(message.body, maxBytes) : EMPTY
  return bytes && new TextDecoder().decode(bytes)
}

const SHORT_BYTES = 32 * 1024

/** A short body in one read, which costs half of reading it chunk by chunk. */
async function readChunked(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const reader = byobReaderOf(body)
  if (!reader) return readAtMost(body, maxBytes)
  const { value } = await reader.readAtLeast(SHORT_BYTES, new Uint8Array(SHORT_BYTES))
  reader.releaseLock()
  if (!value || value.byteLength < SHORT_BYTES) return value ?? EMPTY
  const rest = await readAtMost(body, maxBytes - value.byteLength)
  return rest && concat([value, rest])
}

/** Undefined for a stream that script enqueues to. */
function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" })
  } catch {
    return undefined
  }
}

const EMPTY = new Uint8Array(0)

/** The complete body, or undefined when it is larger: its sender may not stop at the limit, so it is counted. */
export async function readAtMost(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return concat(chunks)
}
