/** Parts of a text that may contain an obfuscated injection. */
export type ObfuscationCandidates = {
  /** Starts of words that may be a misspelt verb. */
  verbStarts: number[]
  /** Single letters with separators between them. */
  hasSpacedLetters: boolean
  /** Ranges of Base64 characters, and of hexadecimal digits with spaces and colons: from, to, from, to. */
  base64: number[]
  hex: number[]
}

const LETTER = 1
const ALPHANUMERIC = 2
const BASE64 = 4
const HEX = 8
const SEPARATOR = 16
const KNOWN = 128

/** Minimum for the patterns of injection.ts. */
const MIN_SPACED_LETTERS = 7
const MIN_BASE64 = 24
const MIN_HEX = 40
/** Length of `forget` without one letter. */
const MIN_VERB = 5

const flags = new Uint8Array(0x10000)
const PAGE = 256

function classifyPage(unit: number): number {
  const first = unit - (unit % PAGE)
  for (let at = first; at < first + PAGE; at++) {
    const char = String.fromCharCode(at)
    let all = KNOWN
    if (/\p{L}/u.test(char)) all |= LETTER
    if (/[\p{L}\p{N}]/u.test(char)) all |= ALPHANUMERIC
    if (/[A-Za-z0-9+/_-]/.test(char)) all |= BASE64
    if (/[0-9a-f :]/i.test(char)) all |= HEX
    if (/[\s.\-_*|/]/.test(char)) all |= SEPARATOR
    flags[at] = all
  }
  return flags[unit] ?? 0
}

type FindVerb = (text: string, from: number, to: number) => number

/**
 * For texts without letters or digits outside the BMP. `verbHits`: every run of letters with a possible verb contains
 * one of these. `findVerb`: index of a possible verb in such a run; -1 if not found.
 */
export function obfuscationCandidates(
  text: string,
  verbHits: readonly number[],
  findVerb: FindVerb,
): ObfuscationCandidates {
  const verbStarts = verbStartsAt(text, verbHits, findVerb)
  const hex = findRuns(text, HEX, MIN_HEX).filter(([from, to]) => hasEnoughHex(text, from, to))
  return {
    verbStarts,
    hasSpacedLetters: hasSpacedLetters(text),
    base64: findRuns(text, BASE64, MIN_BASE64).flat(),
    hex: hex.flat(),
  }
}

function hasFlag(text: string, at: number, flag: number): boolean {
  const unit = text.charCodeAt(at)
  return (((flags[unit] ?? 0) || classifyPage(unit)) & flag) !== 0
}

function verbStartsAt(text: string, verbHits: readonly number[], findVerb: FindVerb): number[] {
  const starts: number[] = []
  let to = 0
  for (const position of verbHits) {
    if (position < to) continue
    let from = position
    while (from > to && hasFlag(text, from - 1, LETTER)) from--
    to = position + 1
    while (to < text.length && hasFlag(text, to, LETTER)) to++
    if (to - from < MIN_VERB) continue
    const start = findVerb(text, from, to)
    if (start !== -1) starts.push(start)
  }
  return starts
}

/** Runs of at least `minLength` characters with this flag. Tests only every `minLength`th character to find them. */
function findRuns(text: string, flag: number, minLength: number): [number, number][] {
  const found: [number, number][] = []
  for (let at = minLength - 1; at < text.length; at += minLength) {
    if (!hasFlag(text, at, flag)) continue
    let from = at
    while (from > 0 && hasFlag(text, from - 1, flag)) from--
    let to = at + 1
    while (to < text.length && hasFlag(text, to, flag)) to++
    if (to - from >= minLength) found.push([from, to])
    while (at + minLength < to) at += minLength
  }
  return found
}

/** Minimum length of a run of 7 single letters with separators. */
const STEP = 15

/** A run of single letters has one in any four characters, and no longer words. */
function hasSpacedLetters(text: string): boolean {
  let scannedTo = 0
  for (let at = 0; at < text.length; at += STEP) {
    if (at < scannedTo || !isSpacedLetterAt(text, at)) continue
    let from = at
    while (from > 0 && isSpacedLetterAt(text, from - 1)) from--
    let letterCount = 0
    for (scannedTo = from; scannedTo < text.length && isSpacedLetterAt(text, scannedTo); scannedTo++) {
      if (isAlphanumeric(text, scannedTo)) letterCount++
    }
    if (letterCount >= MIN_SPACED_LETTERS) return true
  }
  return false
}

function isAlphanumeric(text: string, at: number): boolean {
  return at >= 0 && at < text.length && hasFlag(text, at, ALPHANUMERIC)
}

/** A separator, or a single letter or digit. */
function isSpacedLetterAt(text: string, at: number): boolean {
  if (!isAlphanumeric(text, at)) return hasFlag(text, at, SEPARATOR)
  return !isAlphanumeric(text, at - 1) && !isAlphanumeric(text, at + 1)
}

function hasEnoughHex(text: string, from: number, to: number): boolean {
  let digits = 0
  for (let at = from; at < to; at++) if (!/[ :]/.test(text.charAt(at))) digits++
  return digits >= MIN_HEX
}
