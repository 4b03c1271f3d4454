/**
 * Text normalization for detectors: other spellings of ASCII become ASCII (full-width and mathematical letters, digits
 * of other scripts, non-breaking spaces and hyphens), and invisible characters are skipped. Custom patterns match
 * literally, so they read texts unchanged.
 */

/** Placeholder for a skipped character. */
export const UNREAD = -2

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Soft hyphens, joiners, direction marks, variation selectors, tags and combining marks. */
const UNREAD_RANGES: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x61c, 0x61c],
  [0x180b, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xe0000, 0xe007f],
]
const SPACES = [0xa0, ...upTo(0x2000, 0x200a), 0x202f, 0x205f, 0x3000]
const HYPHENS = [...upTo(0x2010, 0x2013), 0x2212, 0xfe58, 0xfe63]
const DOTS = [0x2024, 0x3002, 0xfe52, 0xff61]
const AT_SIGN = 0xfe6b
/** Zeros of the scripts with decimal digits. */
const ZEROS = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20]
/** Full-width, mathematical and circled characters, which NFKC normalizes to one ASCII character. */
const STYLED = [...upTo(0xff01, 0xff5e), ...upTo(0x1d400, 0x1d7ff), ...upTo(0x2460, 0x2468), ...upTo(0x24b6, 0x24ea)]

function readings(): Map<number, number> {
  const read = new Map<number, number>()
  const all = (runes: readonly number[], as: number) => runes.forEach((rune) => read.set(rune, as))
  for (const [from, to] of UNREAD_RANGES) all(upTo(from, to), UNREAD)
  all(SPACES, 0x20)
  all(HYPHENS, 0x2d)
  all(DOTS, 0x2e)
  read.set(AT_SIGN, 0x40)
  for (const zero of ZEROS) upTo(zero, zero + 9).forEach((rune, digit) => read.set(rune, 0x30 + digit))
  for (const rune of STYLED) {
    const plain = String.fromCodePoint(rune).normalize("NFKC")
    if (plain.length === 1 && plain.charCodeAt(0) < 0x80) read.set(rune, plain.charCodeAt(0))
  }
  return read
}

let known: Map<number, number> | undefined

/** The character that a detector reads here, or UNREAD. */
export function readAs(rune: number): number {
  if (rune < 0x80) return rune
  known ??= readings()
  return known.get(rune) ?? rune
}

const ASCII = /^[\0-\x7f]*$/

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Normalizes the text before a match. A skipped character directly before the match separates the two. */
export function foldBefore(written: string): string {
  const { text } = fold(written)
  const last = written.codePointAt(written.length - 1)
  return last !== undefined && readAs(last) === UNREAD ? `${text} ` : text
}

/** Normalizes a text for detectors. `places`: index of each unit in the original; undefined if all are the same. */
export function fold(written: string): { text: string; places?: number[] } {
  if (isAscii(written)) return { text: written }
  let text = ""
  const places: number[] = []
  let at = 0
  for (const char of written) {
    const rune = readAs(char.codePointAt(0) ?? 0)
    if (rune !== UNREAD) {
      const read = String.fromCodePoint(rune)
      for (let unit = 0; unit < read.length; unit++) places.push(at + unit)
      text += read
    }
    at += char.length
  }
  places.push(at)
  return { text, places }
}

/** The index, or the next one if it is inside a surrogate pair. */
export function pairEnd(text: string, at: number): number {
  if (at >= text.length) return text.length
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at + 1 : at
}
