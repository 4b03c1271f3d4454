import { readAs } from "../content/fold.ts"
import type { Literal } from "./literals.ts"

const LAST_ASCII = 0x7f
const isWord = (unit: number) => unit < 128 && /\w/.test(String.fromCharCode(unit))
const RULE = Uint8Array.from({ length: 128 }, (_, unit) => (isWord(unit) ? 1 : 0))

const lowered = new Uint16Array(0x10000)

/** The lower case of a unit, as in a case-insensitive pattern. */
function small(unit: number): number {
  const known = lowered[unit] ?? 0
  if (known !== 0) return known
  const char = String.fromCharCode(unit)
  const upper = char.toUpperCase()
  const read = readAs(unit)
  const form = read === unit ? (upper.length === 1 ? upper : char).toLowerCase().charCodeAt(0) : read | 0x20
  return (lowered[unit] = form)
}

/** Verifies non-ASCII characters of a literal, which share classes. Others need no comparison. */
function isWritten(literal: string, text: string, start: number): boolean {
  for (let at = literal.length - 1; at >= 0; at--) {
    const unit = literal.charCodeAt(at)
    if (unit > LAST_ASCII && small(text.charCodeAt(start + at)) !== small(unit)) return false
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
export function holds(
  literal: Literal & { isForeign: boolean },
  text: string,
  { start, at, digitBefore }: LiteralMatch,
): boolean {
  const { starts, ends, isUpper, digitWithin } = literal
  if (digitWithin !== undefined && digitBefore > digitWithin) return false
  if (ends) {
    const next = text.charCodeAt(at + 1) | 0x20
    if (next >= 97 && next <= 122) return false
  }
  if (start < 0) return true
  if (literal.isForeign && !isWritten(literal.text, text, start)) return false
  if (starts && start > 0 && RULE[text.charCodeAt(start - 1)] === 1 && !followsEscape(text, start)) return false
  const first = text.charCodeAt(literal.text.startsWith(" ") ? start + 1 : start)
  return !isUpper || first < 97 || first > 122
}
