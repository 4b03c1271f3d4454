import { letterOf, SENTENCE_END, SEPARATOR, SYMBOL } from "../characters.ts"

/** Whether a period is inside a file name or a number and does not end a sentence. */
export function isPeriodInWord(text: string, at: number): boolean {
  if (at + 1 >= text.length) return false
  const next = letterOf(text.charCodeAt(at + 1))
  return next !== SEPARATOR && next !== SENTENCE_END && next !== SYMBOL
}

/** Whether a symbol is the colon of a URL with `//`, or the sign of an e-mail address. */
export function isInAddress(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  if (unit === 0x3a) return text.charCodeAt(at + 1) === 0x2f && text.charCodeAt(at + 2) === 0x2f
  if (unit !== 0x40 || at === 0 || at + 1 >= text.length) return false
  return letterOf(text.charCodeAt(at - 1)) > SYMBOL && letterOf(text.charCodeAt(at + 1)) > SYMBOL
}
