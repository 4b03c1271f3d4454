import type { Span } from "../content/patterns/nfa-scanner.ts"
import { pairEnd, normalizeRune, IGNORED } from "../content/texts/normalize.ts"

import type { MatchBoundaries } from "./match-boundaries.ts"

/** Windows of a text, in order, that contain all matches touching the given ranges. No match crosses their borders. */
export function windowsAround(ranges: readonly number[], text: string, boundaries: MatchBoundaries): Span[] {
  const windows: Span[] = []
  let last = 0
  for (let at = 0; at < ranges.length; at += 2) {
    const [from, to] = [ranges[at] ?? 0, ranges[at + 1] ?? 0]
    if (to < last) continue
    const start = boundaries.lastBefore(text, from, last)
    last = boundaries.firstAfter(text, Math.max(to, last))
    windows.push({ start, end: last })
  }
  return windows
}

/**
 * Windows around `ranges` that begin at most `lead` UTF-16 units before each range, extended to the previous
 * whitespace.
 */
export function windowsWithLead(ranges: readonly number[], text: string, lead: number): Span[] {
  const windows: Span[] = []
  let last: Span | undefined
  for (let at = 0; at < ranges.length; at += 2) {
    const floor = last?.end ?? 0
    let start = Math.max(floor, (ranges[at] ?? 0) - lead)
    while (start > floor && !isBlank(text.charCodeAt(start - 1))) start--
    const end = pairEnd(text, Math.max(ranges[at + 1] ?? 0, start) + 1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else windows.push((last = { start, end }))
  }
  return windows
}

function isBlank(unit: number): boolean {
  if (unit < 128) return unit === 32 || (unit >= 9 && unit <= 13)
  return /\s/.test(String.fromCharCode(unit))
}

export function hasIgnored(text: string, { start, end }: Span): boolean {
  for (let at = start; at < end; at++) {
    const rune = text.charCodeAt(at) < 128 ? 0 : (text.codePointAt(at) ?? 0)
    if (rune > 0xffff) at++
    if (normalizeRune(rune) === IGNORED) return true
  }
  return false
}
