import { readAs } from "../content/fold.ts"
import type { Literal } from "./literals.ts"

const LAST_ASCII = 0x7f
const isWord = (unit: number) => unit < 128 && /\w/.test(String.fromCharCode(unit))
const RULE = Uint8Array.from({ length: 128 }, (_, unit) => (isWord(unit) ? 1 : 0))

const lowered = new Uint16Array(0x10000)

/** The small letter of a unit, as a pattern without regard to case reads it. */
function small(unit: number): number {
  const known = lowered[unit] ?? 0
  if (known !== 0) return known
  const char = String.fromCharCode(unit)
  const upper = char.toUpperCase()
  const read = readAs(unit)
  const form = read === unit ? (upper.length === 1 ? upper : char).toLowerCase().charCodeAt(0) : read | 0x20
  return (lowered[unit] = form)
}

/** Whether a literal is at a place: characters outside of ASCII share classes. Compares only those. */
function isWritten(literal: string, text: string, start: number): boolean {
  for (let at = literal.length - 1; at >= 0; at--) {
    const unit = literal.charCodeAt(at)
    if (unit > LAST_ASCII && small(text.charCodeAt(start + at)) !== small(unit)) return false
  }
  return true
}

/** After an underscore, or `\n` in text that is escaped. */
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
 * Whether the context that a literal requires is present; assumed to be if it is unknown. `start`: -1 if the literal is
 * not written plainly.
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
