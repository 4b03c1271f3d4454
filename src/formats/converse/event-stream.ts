import { concat } from "../../support/bytes.ts"

/**
 * Binary frames of `application/vnd.amazon.eventstream`. A frame is a prelude (total length, length of the headers, CRC
 * of both), headers, a payload, and a CRC of all before it. Numbers are big-endian.
 * https://smithy.io/2.0/aws/amazon-eventstream.html
 */

export type EventStreamMessage = {
  /** String headers by name. Headers of other types are skipped. */
  headers: ReadonlyMap<string, string>
  payload: Uint8Array
}

const PRELUDE_BYTES = 12
const CRC_BYTES = 4
const MIN_BYTES = PRELUDE_BYTES + CRC_BYTES
/** A larger frame means that the stream has another format. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const decoder = new TextDecoder()

/** Cuts a byte stream into messages. Throws for a frame whose checksum is wrong. */
export class EventStreamDecoder {
  #chunks: Uint8Array[] = []
  #size = 0
  /** Bytes of the frame that is being received, once its prelude is known. */
  #wanted = PRELUDE_BYTES

  /** The messages that `chunk` completes, in order. */
  push(chunk: Uint8Array): EventStreamMessage[] {
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    if (this.#size < this.#wanted) return []
    let bytes = concat(this.#chunks)
    const messages: EventStreamMessage[] = []
    for (;;) {
      this.#wanted = bytes.byteLength < PRELUDE_BYTES ? PRELUDE_BYTES : frameLength(bytes)
      if (bytes.byteLength < this.#wanted) break
      messages.push(decodeMessage(bytes.subarray(0, this.#wanted)))
      bytes = bytes.subarray(this.#wanted)
    }
    this.#chunks = bytes.byteLength > 0 ? [bytes] : []
    this.#size = bytes.byteLength
    return messages
  }

  /** Throws if the stream ended inside a frame. */
  finish(): void {
    if (this.#size > 0) throw new Error("The event stream ended inside a frame.")
  }
}

/** The length of the frame at the start of `bytes`, whose prelude is complete. */
function frameLength(bytes: Uint8Array): number {
  const view = viewOf(bytes)
  const length = view.getUint32(0)
  const headersLength = view.getUint32(4)
  if (view.getUint32(8) !== crc32(bytes.subarray(0, 8))) throw new Error("The checksum of a frame's prelude is wrong.")
  if (length > MAX_MESSAGE_BYTES || length < MIN_BYTES + headersLength) {
    throw new Error("The lengths in a frame's prelude are invalid.")
  }
  return length
}

function decodeMessage(frame: Uint8Array): EventStreamMessage {
  const view = viewOf(frame)
  const end = frame.byteLength - CRC_BYTES
  if (view.getUint32(end) !== crc32(frame.subarray(0, end))) throw new Error("The checksum of a frame is wrong.")
  const payloadAt = PRELUDE_BYTES + view.getUint32(4)
  return { headers: decodeHeaders(frame.subarray(PRELUDE_BYTES, payloadAt)), payload: frame.slice(payloadAt, end) }
}

const STRING = 7
/** Bytes of a header value, indexed by its type. `prefixed`: preceded by a length of two bytes. */
const SIZES: readonly (number | "prefixed")[] = [0, 0, 1, 2, 4, 8, "prefixed", "prefixed", 8, 16]

function decodeHeaders(bytes: Uint8Array): Map<string, string> {
  const view = viewOf(bytes)
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.byteLength) {
    const nameAt = at + 1
    const typeAt = nameAt + view.getUint8(at)
    const name = decoder.decode(bytes.subarray(nameAt, typeAt))
    const type = view.getUint8(typeAt)
    const size = SIZES[type]
    if (size === undefined) throw new Error("A header of a frame has an unknown type.")
    const valueAt = typeAt + 1 + (size === "prefixed" ? 2 : 0)
    at = valueAt + (size === "prefixed" ? view.getUint16(typeAt + 1) : size)
    if (at > bytes.byteLength) throw new Error("A header of a frame is longer than the frame.")
    if (type === STRING) headers.set(name, decoder.decode(bytes.subarray(valueAt, at)))
  }
  return headers
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
  return value
})

/** CRC-32 of ISO 3309, as used by zip and Ethernet. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xff_ff_ff_ff
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xff_ff_ff_ff) >>> 0
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Re-encodes each message of the stream with `encode`. */
export function reencodeStream(
  body: ReadableStream<Uint8Array>,
  encode: (message: EventStreamMessage) => Uint8Array,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const frames = new EventStreamDecoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) {
          frames.finish()
          controller.close()
          return
        }
        const encoded = concat(pushOrCancel(value).map(encode))
        if (encoded.byteLength === 0) continue
        controller.enqueue(encoded)
        return
      }
    },
    async cancel(reason) {
      await reader.cancel(reason)
    },
  })

  function pushOrCancel(chunk: Uint8Array): EventStreamMessage[] {
    try {
      return frames.push(chunk)
    } catch (cause) {
      reader.cancel().catch(() => undefined)
      throw cause
    }
  }
}
