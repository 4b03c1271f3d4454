import { elementAt } from "../../support/arrays.ts"
import type { Span } from "./patterns/nfa-scanner.ts"

/** A span to redact, and its replacement. */
export type Redaction = Span & { label: string }

/** Inserts a redaction in order. Overlapping ones are merged, with the label of the first or else the longer one. */
export function addRedaction(redactions: Redaction[], redaction: Redaction): void {
  let at = redactions.length
  let merged = redaction
  while (at > 0) {
    const other = elementAt(redactions, at - 1)
    if (other.end <= merged.start) break
    at--
    if (other.start >= merged.end) continue
    const isFirst = other.start < merged.start || (other.start === merged.start && other.end >= merged.end)
    const { label } = isFirst ? other : merged
    merged = { start: Math.min(other.start, merged.start), end: Math.max(other.end, merged.end), label }
    redactions.splice(at, 1)
  }
  redactions.splice(at, 0, merged)
}
