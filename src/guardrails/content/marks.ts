import { elementAt } from "../../support/arrays.ts"
import type { Span } from "./scanner.ts"

/** A span to redact, and its replacement. */
export type Mark = Span & { label: string }

/** Inserts a redaction in order. Overlapping ones are merged, with the label of the first or else the longer one. */
export function addMark(marks: Mark[], mark: Mark): void {
  let at = marks.length
  let merged = mark
  while (at > 0) {
    const other = elementAt(marks, at - 1)
    if (other.end <= merged.start) break
    at--
    if (other.start >= merged.end) continue
    const isFirst = other.start < merged.start || (other.start === merged.start && other.end >= merged.end)
    const { label } = isFirst ? other : merged
    merged = { start: Math.min(other.start, merged.start), end: Math.max(other.end, merged.end), label }
    marks.splice(at, 1)
  }
  marks.splice(at, 0, merged)
}
