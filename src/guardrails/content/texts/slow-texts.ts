import { elementAt } from "../../../support/arrays.ts"
/**
 * Deterministic texts that should be slow to search with a pattern, made of its own letters and literals, in and out of
 * order.
 */
export function slowTexts(pattern: string): string[] {
  const literals = pattern.slice(0, MAX_SOURCE).match(/[\p{L}\d]{2,}/gu) ?? ["ab"]
  const chars = [...new Set(`${literals.join("")}ab1 -é`)]
  let state = SEED
  const randomBelow = (end: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
  const randomChar = () => elementAt(chars, randomBelow(chars.length))
  const parts: (() => string)[] = [
    randomChar,
    () =>
      randomBelow(2) === 0
        ? elementAt(literals, randomBelow(literals.length))
        : randomChar().repeat(1 + randomBelow(12)),
    () => elementAt(chars, 0),
  ]
  return parts.map((part) => {
    let text = ""
    while (text.length < LENGTH) text += part()
    return text
  })
}

const SEED = 7
const MAX_SOURCE = 2_000
const LENGTH = 16_384
