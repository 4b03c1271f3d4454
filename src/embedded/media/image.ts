import { concat } from "../../support/bytes.ts"

/** A PNG of one pixel. https://www.w3.org/TR/png-3/ */
export function toPicture(red: number, green: number, blue: number): Uint8Array {
  const header = Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 1, EIGHT_BITS, TRUE_COLOUR, 0, 0, 0)
  return concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", uncompressedStream(NO_FILTER, red, green, blue)),
    chunk("IEND"),
  ])
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const EIGHT_BITS = 8
const TRUE_COLOUR = 2
const NO_FILTER = 0

function chunk(type: string, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const body = concat([new TextEncoder().encode(type), data])
  return concat([toUint32(data.byteLength), body, toUint32(crc32(body))])
}

/** A zlib stream of one uncompressed block. */
function uncompressedStream(...bytes: readonly number[]): Uint8Array {
  const size = bytes.length
  const block = [0x78, 0x01, 1, size, 0, ~size & 0xff, 0xff, ...bytes]
  return concat([Uint8Array.from(block), toUint32(adler32(bytes))])
}

function toUint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function adler32(bytes: readonly number[]): number {
  let low = 1
  let high = 0
  for (const byte of bytes) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return ((high << 16) | low) >>> 0
}
