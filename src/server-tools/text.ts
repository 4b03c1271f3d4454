/** The start of a text, without a split surrogate pair. */
export function startOf(text: string, maxLength: number): string {
  return text.slice(0, boundaryAt(text, maxLength))
}

/** The start of a text, with a note if it is cut. */
export function truncateEnd(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const start = startOf(text, maxLength)
  return `${start}\n[… cut here: ${text.length - start.length} more characters]`
}

/** The start and the end of a text, with a note between them. The note counts towards `maxLength`. */
export function truncateMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const note = (omitted: number) => `\n[… ${omitted} characters left out …]\n`
  const room = Math.max(0, maxLength - note(text.length).length)
  const head = startOf(text, Math.ceil(room / 2))
  const tail = text.slice(boundaryAt(text, text.length - Math.floor(room / 2), 1))
  return head + note(text.length - head.length - tail.length) + tail
}

/** The index, moved by one if it would split a surrogate pair. */
function boundaryAt(text: string, at: number, step: -1 | 1 = -1): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff && at > 0 ? at + step : at
}
