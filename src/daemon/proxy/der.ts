/** The parts of ASN.1 DER (X.690) that a certificate needs. */

export function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...items: Buffer[]) => tlv(0x30, ...items)
export const set = (...items: Buffer[]) => tlv(0x31, ...items)
export const octets = (...items: Buffer[]) => tlv(0x04, ...items)
export const bits = (bytes: Buffer, unused = 0) => tlv(0x03, Buffer.from([unused]), bytes)
export const utf8 = (text: string) => tlv(0x0c, Buffer.from(text, "utf8"))
export const yes = tlv(0x01, Buffer.from([0xff]))
/** An explicitly tagged value: `[2] EXPLICIT`. */
export const explicit = (tag: number, ...items: Buffer[]) => tlv(0xa0 | tag, ...items)
export const implicit = (tag: number, bytes: Buffer) => tlv(0x80 | tag, bytes)

/** A non-negative integer: a zero byte is prepended if the first bit would be the sign. */
export function integer(bytes: Buffer): Buffer {
  const isSigned = ((bytes[0] ?? 0) & 0x80) !== 0
  return tlv(0x02, Buffer.from(isSigned ? [0] : []), bytes)
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const septets = [part & 0x7f]
    for (let high = part >> 7; high > 0; high >>= 7) septets.unshift((high & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return tlv(0x06, Buffer.from(bytes))
}

/** UTCTime, which RFC 5280 requires for years before 2050. */
export function time(epochMs: number): Buffer {
  const text = new Date(epochMs).toISOString().replaceAll(/[-:T]|\.\d+/g, "")
  return tlv(0x17, Buffer.from(text.slice(2), "ascii"))
}
