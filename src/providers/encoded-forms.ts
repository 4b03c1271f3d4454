import { Buffer } from "node:buffer"

/**
 * The forms in which a server may return a key that it does not return as it is: escaped in URLs and JSON, in hex, and
 * in base64, where the bytes before the key decide which of three texts it becomes.
 */
export function encodedForms(key: string): string[] {
  const inJson = JSON.stringify(key).slice(1, -1)
  const hex = Buffer.from(key).toString("hex")
  const inBase64 = [0, 1, 2].map((before) => base64At(key, before))
  const forms = [
    ...inBase64,
    ...inBase64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
    hex,
    hex.toUpperCase(),
    ...(key.isWellFormed() ? [encodeURIComponent(key)] : []),
    inJson,
    inJson.replaceAll("/", "\\/"),
  ]
  return [...new Set(forms)].filter((form) => form !== key)
}

/** The digits that depend only on the key if `before` bytes precede it in their group of three. */
function base64At(key: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)])
  const digits = bytes.toString("base64")
  return digits.slice(Math.ceil((before * 4) / 3), Math.floor((bytes.byteLength * 4) / 3))
}

const BITS = 14
const WINDOW = 4
/** More samples cost less than the preparation of more windows. */
const MAX_STRIDE = 16

/**
 * Returns a test whether bytes may contain one of the needles. It reads only every few bytes, so that it costs less than
 * one search: a needle has a sample in one of its first windows. A false alarm is rare.
 */
export function sampleTestFor(needles: readonly Uint8Array[]): (bytes: Uint8Array) => boolean {
  const shortest = Math.min(...needles.map((needle) => needle.byteLength))
  const stride = Math.min(MAX_STRIDE, shortest - WINDOW + 1)
  // A bit for each hash: a larger table would be slower than its false alarms.
  const known = new Uint8Array(1 << (BITS - 3))
  for (const needle of needles) {
    for (let at = 0; at < stride; at += 1) {
      const hash = hashAt(needle, at)
      known[hash >> 3] = (known[hash >> 3] ?? 0) | (1 << (hash & 7))
    }
  }
  return (bytes) => {
    for (let at = 0; at + WINDOW <= bytes.byteLength; at += stride) {
      const hash = hashAt(bytes, at)
      if (((known[hash >> 3] ?? 0) & (1 << (hash & 7))) !== 0) return true
    }
    return false
  }
}

function hashAt(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]]
  const [third = 0, fourth = 0] = [bytes[at + 2], bytes[at + 3]]
  return Math.imul(first | (second << 8) | (third << 16) | (fourth << 24), 0x9e3779b1) >>> (32 - BITS)
}
