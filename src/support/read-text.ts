import { concat, readAtMost } from "./bytes.ts"

/** The text of a message, or undefined when it is larger. A declared length saves counting it in script. */
export async function readText(message: Request | Response, maxBytes: number): Promise<string | undefined> {
  const declared = message.headers.get("content-length")
  if (declared !== null && Number(declared) <= maxBytes) return message.text()
  const bytes = message.body ? await readChunked(message.body, maxBytes) : EMPTY
  return bytes && decoder.decode(bytes)
}

const decoder = new TextDecoder()
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
