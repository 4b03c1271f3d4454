import type { Part } from "./detector.ts"

const VERBS = ["ignore", "disregard", "forget", "override", "bypass"]
const EARLIER = ["previous", "prior", "above", "earlier", "preceding", "system"]
const ORDERS = ["instruction", "instructions", "prompt", "prompts", "directives", "guidelines"]
/** How many words may stand between one and the next. */
const REACH = 4

/** Sentences that say to drop earlier instructions, with words that are misspelt: a letter off, or scrambled inside. */
export function fuzzyInjections(text: string): Part[] {
  const tokens = [...text.matchAll(/\p{L}{4,16}/gu)]
  const found: Part[] = []
  for (let at = 0; at < tokens.length; at++) {
    const verb = tokens[at] as RegExpExecArray
    if (!isLike(verb[0], VERBS)) continue
    const earlier = next(tokens, at, EARLIER)
    const order = earlier === undefined ? undefined : next(tokens, earlier, ORDERS)
    const last = order === undefined ? undefined : tokens[order]
    if (last) found.push([verb.index, last.index + last[0].length])
  }
  return found
}

function next(tokens: readonly RegExpExecArray[], from: number, words: readonly string[]): number | undefined {
  for (let at = from + 1; at <= from + REACH && at < tokens.length; at++) {
    const [token, before] = [tokens[at] as RegExpExecArray, tokens[at - 1] as RegExpExecArray]
    // Not across sentences, nor from one line of code to the next.
    if (token.index - before.index - before[0].length > 12) return undefined
    if (isLike(token[0], words)) return at
  }
  return undefined
}

function isLike(token: string, words: readonly string[]): boolean {
  const lower = token.toLowerCase()
  return words.some((word) => lower === word || isScrambled(lower, word) || (word.length > 5 && isOneOff(lower, word)))
}

function isScrambled(token: string, word: string): boolean {
  if (token.length !== word.length || token[0] !== word[0] || token.at(-1) !== word.at(-1)) return false
  return sorted(token) === sorted(word)
}

/** One letter more, less or other. */
function isOneOff(token: string, word: string): boolean {
  if (Math.abs(token.length - word.length) > 1 || token[0] !== word[0]) return false
  let start = 0
  while (start < token.length && token[start] === word[start]) start++
  let end = 0
  while (end < Math.min(token.length, word.length) - start && token.at(-1 - end) === word.at(-1 - end)) end++
  return Math.max(token.length, word.length) - start - end <= 1
}

function sorted(word: string): string {
  return word.split("").sort().join("")
}
