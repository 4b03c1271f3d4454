/** RangeList of a text that may contain a disguised injection. */
export type Runs = {
  /** Starts of words that may be a misspelt verb. */
  verbs: number[]
  /** Single letters with separators between them. */
  hasSpaced: boolean
  /** RangeList of the alphabet of Base64, and of hexadecimal digits with spaces and colons: from, to, from, to. */
  base64: number[]
  hex: number[]
}

const LETTER = 1
const ALPHANUMERIC = 2
const OF_BASE64 = 4
const OF_HEX = 8
const SEPARATOR = 16
const KNOWN = 128

/** Minimum for the patterns of injection.ts. */
const MIN_SINGLES = 7
const MIN_BASE64 = 24
const MIN_HEX = 40
/** Length of `forget` without one letter. */
const MIN_VERB = 5

const flags = new Uint8Array(0x10000)
const PAGE = 256

function fill(unit: number): number {
  const first = unit - (unit % PAGE)
  for (let at = first; at < first + PAGE; at++) {
    const char = String.fromCharCode(at)
    let all = KNOWN
    if (/\p{L}/u.test(char)) all |= LETTER
    if (/[\p{L}\p{N}]/u.test(char)) all |= ALPHANUMERIC
    if (/[A-Za-z0-9+/_-]/.test(char)) all |= OF_BASE64
    if (/[0-9a-f :]/i.test(char)) all |= OF_HEX
    if (/[\s.\-_*|/]/.test(char)) all |= SEPARATOR
    flags[at] = all
  }
  return flags[unit] ?? 0
}

type VerbIn = (text: string, from: number, to: number) => number

/**
 * For texts without letters or digits outside the BMP. `places`: every stretch of letters with a possible verb contains
 * one of these. `verbIn`: index of a possible verb in such a stretch; -1 if not found.
 */
export function runsOf(text: string, places: readonly number[], verbIn: VerbIn): Runs {
  const verbs = verbsAt(text, places, verbIn)
  const hex = stretches(text, OF_HEX, MIN_HEX).filter(([from, to]) => hasHex(text, from, to))
  return { verbs, hasSpaced: hasSpaced(text), base64: stretches(text, OF_BASE64, MIN_BASE64).flat(), hex: hex.flat() }
}

function has(text: string, at: number, wanted: number): boolean {
  const unit = text.charCodeAt(at)
  return (((flags[unit] ?? 0) || fill(unit)) & wanted) !== 0
}

function verbsAt(text: string, places: readonly number[], verbIn: VerbIn): number[] {
  const verbs: number[] = []
  let to = 0
  for (const scope of places) {
    if (scope < to) continue
    let from = scope
    while (from > to && has(text, from - 1, LETTER)) from--
    to = scope + 1
    while (to < text.length && has(text, to, LETTER)) to++
    if (to - from < MIN_VERB) continue
    const verb = verbIn(text, from, to)
    if (verb !== -1) verbs.push(verb)
  }
  return verbs
}

/** RangeList of at least `least` characters with this flag. Only every `least`th character is tested to find them. */
function stretches(text: string, flag: number, least: number): [number, number][] {
  const found: [number, number][] = []
  for (let at = least - 1; at < text.length; at += least) {
    if (!has(text, at, flag)) continue
    let from = at
    while (from > 0 && has(text, from - 1, flag)) from--
    let to = at + 1
    while (to < text.length && has(text, to, flag)) to++
    if (to - from >= least) found.push([from, to])
    while (at + least < to) at += least
  }
  return found
}

/** Minimum length of a stretch of 7 single letters with separators. */
const STEP = 15

/** A stretch of single letters has one in any four characters, and no longer words. */
function hasSpaced(text: string): boolean {
  let known = 0
  for (let at = 0; at < text.length; at += STEP) {
    if (at < known || !isSpacedAt(text, at)) continue
    let from = at
    while (from > 0 && isSpacedAt(text, from - 1)) from--
    let singles = 0
    for (known = from; known < text.length && isSpacedAt(text, known); known++) {
      if (isAlphanumeric(text, known)) singles++
    }
    if (singles >= MIN_SINGLES) return true
  }
  return false
}

function isAlphanumeric(text: string, at: number): boolean {
  return at >= 0 && at < text.length && has(text, at, ALPHANUMERIC)
}

/** A separator, or a single letter or digit. */
function isSpacedAt(text: string, at: number): boolean {
  if (!isAlphanumeric(text, at)) return has(text, at, SEPARATOR)
  return !isAlphanumeric(text, at - 1) && !isAlphanumeric(text, at + 1)
}

function hasHex(text: string, from: number, to: number): boolean {
  let digits = 0
  for (let at = from; at < to; at++) if (!/[ :]/.test(text.charAt(at))) digits++
  return digits >= MIN_HEX
}
