import { readAtMost } from "../bytes.ts"

/**
 * The text of a message, or undefined if it is larger. With a declared length, the bytes need not be counted in script.
 */
export async function readText(message: Request | Response, maxBytes: number): Promise<string | undefined> {
  const { headers } = message
  const declared = headers.get("content-length")
  // The length of a compressed body is not the length of its text.
  const isPlain = !headers.has("content-encoding")
  if (declared !== null && isPlain && Number(declared) <= maxBytes) return message.text()
  return message.body ? readChunked(message.body, maxBytes) : ""
}

const decoder = new TextDecoder()
/** Most documents fit. A larger buffer for each would make the garbage collector run more often. */
const FIRST_READ_BYTES = 4 * 1024
const NEXT_READ_BYTES = 32 * 1024
/** The rest of a large document is read into a buffer that is used again: the memory of a new one has to be zeroed. */
const LARGE_READ_BYTES = 128 * 1024
const MAX_SPARE_BUFFERS = 8
const spareBuffers: ArrayBuffer[] = []

/** Each read waits until its buffer is full or the body ends: every read of a chunk costs a task of the runtime. */
async function readChunked(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const reader = byobReaderOf(body)
  if (!reader) {
    const bytes = await readAtMost(body, maxBytes)
    return bytes && decoder.decode(bytes)
  }
  const { value } = await reader.readAtLeast(FIRST_READ_BYTES, new Uint8Array(FIRST_READ_BYTES))
  if (!value || value.byteLength < FIRST_READ_BYTES) return decoder.decode(value)
  return readRest(reader, value, maxBytes)
}

async function readRest(
  reader: ReadableStreamBYOBReader,
  first: Uint8Array,
  maxBytes: number,
): Promise<string | undefined> {
  const streamDecoder = new TextDecoder()
  let text = streamDecoder.decode(first, { stream: true })
  let size = first.byteLength
  for (let newBytes = NEXT_READ_BYTES; ; newBytes = LARGE_READ_BYTES) {
    const buffer = spareBuffers.pop() ?? new ArrayBuffer(newBytes)
    const room = buffer.byteLength
    const { value } = await reader.readAtLeast(room, new Uint8Array(buffer))
    const read = value?.byteLength ?? 0
    size += read
    const isEnd = read < room
    if (size <= maxBytes) text += streamDecoder.decode(value, { stream: !isEnd })
    // A read detaches the buffer, and returns its memory as a new one.
    if (value) keep(value.buffer)
    if (size > maxBytes) {
      await reader.cancel()
      return undefined
    }
    if (isEnd) return text
  }
}

function keep(buffer: ArrayBufferLike): void {
  const isLarge = buffer instanceof ArrayBuffer && buffer.byteLength === LARGE_READ_BYTES
  if (isLarge && spareBuffers.length < MAX_SPARE_BUFFERS) spareBuffers.push(buffer)
}

/** Undefined for a stream whose source is script. */
function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" })
  } catch {
    return undefined
  }
}
