import { concat, readAtMost } from "./bytes.ts"

/**
 * The text of a message, or undefined if it is larger. With a declared length, the bytes need not be counted in script.
 */
export async function readText(message: Request | Response, maxBytes: number): Promise<string | undefined> {
  const declared = message.headers.get("content-length")
  if (declared !== null && Number(declared) <= maxBytes) return message.text()
  const bytes = message.body ? await readChunked(message.body, maxBytes) : EMPTY
  return bytes && decoder.decode(bytes)
}

const decoder = new TextDecoder()
/** Most documents fit. A larger buffer for each would make the garbage collector run more often. */
const FIRST_READ_BYTES = 4 * 1024
const MAX_READ_BYTES = 1024 * 1024

/** Each read waits until its buffer is full or the body ends: every read of a chunk costs a task of the runtime. */
async function readChunked(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const reader = byobReaderOf(body)
  if (!reader) return readAtMost(body, maxBytes)
  const chunks: Uint8Array[] = []
  let size = 0
  for (let room = FIRST_READ_BYTES; ; room = Math.min(room * 8, MAX_READ_BYTES)) {
    const { value } = await reader.readAtLeast(room, new Uint8Array(room))
    size += value?.byteLength ?? 0
    if (size > maxBytes) {
      await reader.cancel()
      return undefined
    }
    const isEnd = !value || value.byteLength < room
    if (isEnd && chunks.length === 0) return value ?? EMPTY
    if (value) chunks.push(value)
    if (isEnd) return concat(chunks)
  }
}

/** Undefined for a stream whose source is script. */
function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" })
  } catch {
    return undefined
  }
}

const EMPTY = new Uint8Array(0)
