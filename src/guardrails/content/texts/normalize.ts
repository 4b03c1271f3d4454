/**
 * Text normalization for detectors: other spellings of ASCII become ASCII (full-width and mathematical letters, digits
 * of other scripts, non-breaking spaces and hyphens), and invisible characters are skipped. Custom patterns match
 * literally, so they read texts unchanged.
 */

/** Placeholder for an ignored character. */
export const IGNORED = -2

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Soft hyphens, joiners, direction marks, variation selectors, tags and combining marks. */
const IGNORED_RANGES: readonly (readonly [number, number])[] = [
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
const STYLED_LETTERS = [
  ...upTo(0xff01, 0xff5e),
  ...upTo(0x1d400, 0x1d7ff),
  ...upTo(0x2460, 0x2468),
  ...upTo(0x24b6, 0x24ea),
]

function buildReplacements(): Map<number, number> {
  const replacements = new Map<number, number>()
  const addAll = (runes: readonly number[], as: number) => runes.forEach((rune) => replacements.set(rune, as))
  for (const [from, to] of IGNORED_RANGES) addAll(upTo(from, to), IGNORED)
  addAll(SPACES, 0x20)
  addAll(HYPHENS, 0x2d)
  addAll(DOTS, 0x2e)
  replacements.set(AT_SIGN, 0x40)
  for (const zero of ZEROS) upTo(zero, zero + 9).forEach((rune, digit) => replacements.set(rune, 0x30 + digit))
  for (const rune of STYLED_LETTERS) {
    const plain = String.fromCodePoint(rune).normalize("NFKC")
    if (plain.length === 1 && plain.charCodeAt(0) < 0x80) replacements.set(rune, plain.charCodeAt(0))
  }
  return replacements
}

let replacements: Map<number, number> | undefined

/** The character that a detector reads here, or IGNORED. */
export function normalizeRune(rune: number): number {
  if (rune < 0x80) return rune
  replacements ??= buildReplacements()
  return replacements.get(rune) ?? rune
}

const ASCII = /^[\0-\x7f]*$/

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Normalizes the text before a match. An ignored character directly before the match separates the two. */
export function normalizeContext(original: string): string {
  const { text } = normalizeText(original)
  const last = original.codePointAt(original.length - 1)
  return last !== undefined && normalizeRune(last) === IGNORED ? `${text} ` : text
}

/** Normalizes a text for detectors. `offsets`: index of each unit in the original; undefined if all are the same. */
export function normalizeText(original: string): { text: string; offsets?: number[] } {
  if (isAscii(original)) return { text: original }
  let text = ""
  const offsets: number[] = []
  let at = 0
  for (const char of original) {
    const rune = normalizeRune(char.codePointAt(0) ?? 0)
    if (rune !== IGNORED) {
      const normalized = String.fromCodePoint(rune)
      for (let unit = 0; unit < normalized.length; unit++) offsets.push(at + unit)
      text += normalized
    }
    at += char.length
  }
  offsets.push(at)
  return { text, offsets }
}

/** The index, or the next one if it is inside a surrogate pair. */
export function pairEnd(text: string, at: number): number {
  if (at >= text.length) return text.length
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at + 1 : at
}
