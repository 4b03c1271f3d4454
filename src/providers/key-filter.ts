import { Buffer } from "node:buffer"
import { concat } from "../support/bytes.ts"

/** Shorter keys, as of local servers, also occur in ordinary text. */
const MIN_LENGTH = 12
const PLACEHOLDER = "[redacted]"
const encoder = new TextEncoder()
const placeholder = encoder.encode(PLACEHOLDER)

/** Replaces a provider's key in its responses: some servers echo the headers of a request. */
export type KeyFilter = {
  text: (text: string) => string
  /** For one stream. */
  chunks: () => ChunkFilter
  stream: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>
}

type ChunkFilter = {
  /** Delays the last bytes of a chunk if a key may begin there. */
  push: (chunk: Uint8Array) => Uint8Array
  /** The delayed bytes, when the stream has ended. */
  end: () => Uint8Array
}

/**
 * The filter for a key as it is sent. Searches bytes natively, because every chunk of every stream passes it. A key that
 * a server divides between events, or encodes, is not found: servers that mean to publish a key can do so anyway.
 */
export function keyFilterOf(apiKey: string | undefined): KeyFilter | undefined {
  const key = apiKey?.trim() ?? ""
  // A credential in JSON signs requests, and is not sent.
  if (key.length < MIN_LENGTH || key.startsWith("{")) return undefined
  return {
    text: (text) => (text.includes(key) ? text.replaceAll(key, PLACEHOLDER) : text),
    chunks: () => chunkFilterOf(Buffer.from(key)),
    stream: (body) => body.pipeThrough(filterStream(chunkFilterOf(Buffer.from(key)))),
  }
}

const EMPTY = new Uint8Array(0)

function chunkFilterOf(key: Buffer): ChunkFilter {
  let delayed: Uint8Array = EMPTY
  return {
    push: (chunk) => {
      const bytes = delayed.byteLength === 0 ? chunk : concat([delayed, chunk])
      const { parts, rest } = split(bytes, key)
      const end = bytes.byteLength - startOfKey(rest, key)
      delayed = end === bytes.byteLength ? EMPTY : bytes.slice(end)
      if (parts.length > 0) return concat([...parts, rest.subarray(0, rest.byteLength - delayed.byteLength)])
      return delayed.byteLength === 0 ? bytes : bytes.subarray(0, end)
    },
    end: () => {
      const last = delayed
      delayed = EMPTY
      return last
    },
  }
}

function filterStream({ push, end }: ChunkFilter): TransformStream<Uint8Array, Uint8Array> {
  const write = (bytes: Uint8Array, out: TransformStreamDefaultController<Uint8Array>) => {
    if (bytes.byteLength > 0) out.enqueue(bytes)
  }
  return new TransformStream({
    transform: (chunk, out) => write(push(chunk), out),
    flush: (out) => write(end(), out),
  })
}

/** `parts`: the bytes up to the last key, with each key replaced; `rest`: the bytes after it. */
function split(bytes: Uint8Array, key: Buffer): { parts: Uint8Array[]; rest: Uint8Array } {
  const parts: Uint8Array[] = []
  let rest = bytes
  for (let at = indexOf(rest, key); at !== -1; at = indexOf(rest, key)) {
    parts.push(rest.subarray(0, at), placeholder)
    rest = rest.subarray(at + key.byteLength)
  }
  return { parts, rest }
}

/** Without a copy as a Buffer, which costs more than the search. */
const indexOf = (bytes: Uint8Array, key: Buffer): number => Buffer.prototype.indexOf.call(bytes, key)

/** The length of the longest start of a key with which the bytes end. */
function startOfKey(bytes: Uint8Array, key: Buffer): number {
  const from = Math.max(0, bytes.byteLength - key.byteLength + 1)
  for (let at = bytes.indexOf(key[0] ?? 0, from); at !== -1; at = bytes.indexOf(key[0] ?? 0, at + 1)) {
    const length = bytes.byteLength - at
    if (key.subarray(0, length).every((byte, index) => byte === bytes[at + index])) return length
  }
  return 0
}
