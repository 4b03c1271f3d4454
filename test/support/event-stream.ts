import { crc32 } from "node:zlib"

/** Writes frames of `application/vnd.amazon.eventstream` with another library's CRC, for tests of the reader. */
export function eventStreamFrame(headers: Readonly<Record<string, string>>, payload: Uint8Array): Uint8Array {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const bytes = Buffer.from(value)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(bytes.byteLength)
      return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([7]), length, bytes])
    }),
  )
  return frameWith(encoded, payload)
}

export function frameWith(headers: Uint8Array, payload: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(12 + headers.byteLength + payload.byteLength + 4)
  frame.writeUInt32BE(frame.byteLength, 0)
  frame.writeUInt32BE(headers.byteLength, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  frame.set(headers, 12)
  frame.set(payload, 12 + headers.byteLength)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.byteLength - 4)
  return new Uint8Array(frame)
}

export function converseEvent(type: string, payload: unknown): Uint8Array {
  const headers = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" }
  return eventStreamFrame(headers, Buffer.from(JSON.stringify(payload)))
}

export function converseException(type: string, message: string): Uint8Array {
  const headers = { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" }
  return eventStreamFrame(headers, Buffer.from(JSON.stringify({ message })))
}
