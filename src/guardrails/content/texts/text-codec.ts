/** A streamed text, unchanged except for redactions. `codec` defines how it is escaped (json-codec.ts). */
export type TextCodec = {
  /** Takes more of the escaped text; returns the decoded one. */
  decode: (piece: string, isLast: boolean) => string
  /** The escaped text between two units of the decoded one. */
  slice: (from: number, to: number) => string
  /** Replacement for a redacted range. */
  replace: (from: number, to: number, label: string) => string
  /** Units before this are no longer needed. */
  discard: (before: number) => void
  /** `decode` is expensive and counts as work. */
  isExpensive?: true
}

export function plainCodec(): TextCodec {
  let text = ""
  let base = 0
  return {
    decode: (piece) => {
      text += piece
      return piece
    },
    slice: (from, to) => text.slice(from - base, to - base),
    replace: (_from, _to, label) => label,
    discard: (before) => {
      if (before <= base) return
      text = text.slice(before - base)
      base = before
    },
  }
}
