import type { Part } from "./detector.ts"
import { elementAt } from "../../support/arrays.ts"

const VERBS = ["ignore", "disregard", "forget", "override", "bypass"]
const EARLIER = ["previous", "prior", "above", "earlier", "preceding", "system"]
const ORDERS = ["instruction", "instructions", "prompt", "prompts", "directives", "guidelines"]
/** Maximum number of words between two words of a phrase. */
const WINDOW = 4

const TOKEN = /\p{L}{4,16}/gu
const LONGEST = 16
const SHORTEST = 4
/** The verb by its first letter, in lower case. */
const VERB_OF = new Map(VERBS.map((verb) => [verb.charCodeAt(0), verb]))
const DOTTED_I = 0x130

/**
 * Every detected misspelling of a verb contains one of these: with one wrong letter, one half of the verb is intact; a
 * scrambled verb starts with the first letter and three of the inner ones.
 */
export const VERB_PARTS: readonly string[] = [...new Set(VERBS.flatMap(partsOf))]

function partsOf(verb: string): string[] {
  const half = verb.length >> 1
  const scrambled = arrangements(verb.slice(1, -1).split(""), 3).map((letters) => verb.charAt(0) + letters)
  return [verb.slice(0, half), verb.slice(half), ...scrambled]
}

/** All arrangements of `count` of these letters. */
function arrangements(letters: readonly string[], count: number): string[] {
  if (count === 0) return [""]
  return letters.flatMap((letter, at) =>
    arrangements(letters.toSpliced(at, 1), count - 1).map((others) => letter + others),
  )
}

/** Finds instructions to ignore earlier instructions with misspelt words: one wrong letter, or scrambled letters. */
export function fuzzyInjections(text: string): Part[] {
  return [...text.matchAll(TOKEN)].flatMap(({ index }) => injectionsFrom(text, index))
}

/** Finds an instruction that begins with the word at this index. */
export function injectionsFrom(text: string, from: number): Part[] {
  const tokens: RegExpExecArray[] = []
  const pattern = new RegExp(TOKEN)
  pattern.lastIndex = from
  while (tokens.length <= 2 * WINDOW) {
    const token = pattern.exec(text)
    if (!token) break
    tokens.push(token)
    if (tokens.length === 1 && !isLike(token[0], VERBS)) return []
  }
  const earlier = next(tokens, 0, EARLIER)
  const order = earlier === undefined ? undefined : next(tokens, earlier, ORDERS)
  const last = order === undefined ? undefined : tokens[order]
  return last ? [[from, last.index + last[0].length]] : []
}

/**
 * Index in a stretch of letters of a word that may be a misspelt verb; -1 if there is none. A cheap test without false
 * negatives.
 */
export function misspeltVerb(text: string, start: number, to: number): number {
  const length = (to - start) % LONGEST
  if (length < SHORTEST) return -1
  const from = to - length
  const first = text.charCodeAt(from)
  if (first >= 128) return first === DOTTED_I ? from : -1
  const verb = VERB_OF.get(first | 0x20)
  if (verb === undefined) return -1
  const [second, last] = [text.charCodeAt(from + 1), text.charCodeAt(to - 1)]
  const isAlike = (second | 0x20) === verb.charCodeAt(1) || (last | 0x20) === verb.charCodeAt(verb.length - 1)
  if (isAlike && Math.abs(length - verb.length) <= 1) return from
  for (let at = from; at < to; at++) if (text.charCodeAt(at) >= 128) return from
  return -1
}

function next(tokens: readonly RegExpExecArray[], from: number, content: readonly string[]): number | undefined {
  for (let at = from + 1; at <= from + WINDOW && at < tokens.length; at++) {
    const [token, before] = [elementAt(tokens, at), elementAt(tokens, at - 1)]
    // Not across sentences or lines of code.
    if (token.index - before.index - before[0].length > 12) return undefined
    if (isLike(token[0], content)) return at
  }
  return undefined
}

function isLike(token: string, content: readonly string[]): boolean {
  const lower = token.toLowerCase()
  return content.some(
    (word) => lower === word || isScrambled(lower, word) || (word.length > 5 && isOneOff(lower, word)),
  )
}

function isScrambled(token: string, word: string): boolean {
  if (token.length !== word.length || token[0] !== word[0] || token.at(-1) !== word.at(-1)) return false
  return sorted(token) === sorted(word)
}

/** Whether one letter is added, missing or different. */
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
