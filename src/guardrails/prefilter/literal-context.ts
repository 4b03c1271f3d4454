import { normalizeRune } from "../content/texts/normalize.ts"
import type { Literal } from "./aho-corasick.ts"

const LAST_ASCII = 0x7f
const isWord = (unit: number) => unit < 128 && /\w/.test(String.fromCharCode(unit))
const IS_WORD = Uint8Array.from({ length: 128 }, (_, unit) => (isWord(unit) ? 1 : 0))

const lowerCache = new Uint16Array(0x10000)

/** The lower case of a unit, as in a case-insensitive pattern. */
function toLower(unit: number): number {
  const cached = lowerCache[unit] ?? 0
  if (cached !== 0) return cached
  const char = String.fromCharCode(unit)
  const upper = char.toUpperCase()
  const normalized = normalizeRune(unit)
  const lower =
    normalized === unit ? (upper.length === 1 ? upper : char).toLowerCase().charCodeAt(0) : normalized | 0x20
  return (lowerCache[unit] = lower)
}

/** Verifies non-ASCII characters of a literal, which share classes. Others need no comparison. */
function matchesLiteral(literal: string, text: string, start: number): boolean {
  for (let at = literal.length - 1; at >= 0; at--) {
    const unit = literal.charCodeAt(at)
    if (unit > LAST_ASCII && toLower(text.charCodeAt(start + at)) !== toLower(unit)) return false
  }
  return true
}

/** Whether the position follows an underscore, or `\n` in escaped text. */
function followsEscape(text: string, start: number): boolean {
  const before = text.charAt(start - 1)
  return before === "_" || ("nrt".includes(before) && text.charAt(start - 2) === "\\")
}

type LiteralMatch = {
  start: number
  at: number
  digitBefore: number
}

/**
 * Whether the required context of a literal is present; true if unknown. `start`: -1 if the literal is not written
 * plainly.
 */
export function hasRequiredContext(
  literal: Literal & { isNonAscii: boolean },
  text: string,
  { start, at, digitBefore }: LiteralMatch,
): boolean {
  const { wordStart, wordEnd, isCapitalized, digitWithin } = literal
  if (digitWithin !== undefined && digitBefore > digitWithin) return false
  if (wordEnd) {
    const next = text.charCodeAt(at + 1) | 0x20
    if (next >= 97 && next <= 122) return false
  }
  if (start < 0) return true
  if (literal.isNonAscii && !matchesLiteral(literal.text, text, start)) return false
  if (wordStart && start > 0 && IS_WORD[text.charCodeAt(start - 1)] === 1 && !followsEscape(text, start)) return false
  const first = text.charCodeAt(literal.text.startsWith(" ") ? start + 1 : start)
  return !isCapitalized || first < 97 || first > 122
}
