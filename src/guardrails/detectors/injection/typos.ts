import type { MatchRange } from "../detector.ts"
import { elementAt } from "../../../support/arrays.ts"

const VERBS = ["ignore", "disregard", "forget", "override", "bypass"]
const EARLIER_TERMS = ["previous", "prior", "above", "earlier", "preceding", "system"]
const INSTRUCTION_NOUNS = ["instruction", "instructions", "prompt", "prompts", "directives", "guidelines"]
/** Maximum number of words between two words of a phrase. */
const WINDOW = 4

const TOKEN = /\p{L}{4,16}/gu
const MAX_WORD_LENGTH = 16
const MIN_WORD_LENGTH = 4
/** The verb by its first letter, in lower case. */
const VERB_BY_FIRST_LETTER = new Map(VERBS.map((verb) => [verb.charCodeAt(0), verb]))
const DOTTED_I = 0x130

/**
 * Every detected misspelling of a verb contains one of these: with one wrong letter, one half of the verb is intact; a
 * scrambled verb starts with the first letter and three of the inner ones.
 */
export const VERB_FRAGMENTS: readonly string[] = [...new Set(VERBS.flatMap(fragmentsOf))]

function fragmentsOf(verb: string): string[] {
  const half = verb.length >> 1
  const scrambled = permutations(verb.slice(1, -1).split(""), 3).map((letters) => verb.charAt(0) + letters)
  return [verb.slice(0, half), verb.slice(half), ...scrambled]
}

/** All arrangements of `count` of these letters. */
function permutations(letters: readonly string[], count: number): string[] {
  if (count === 0) return [""]
  return letters.flatMap((letter, at) =>
    permutations(letters.toSpliced(at, 1), count - 1).map((others) => letter + others),
  )
}

/** Finds instructions to ignore earlier instructions with misspelt words: one wrong letter, or scrambled letters. */
export function findMisspelled(text: string): MatchRange[] {
  return [...text.matchAll(TOKEN)].flatMap(({ index }) => findMisspelledAt(text, index))
}

/** Finds an instruction that begins with the word at this index. */
export function findMisspelledAt(text: string, from: number): MatchRange[] {
  const tokens: RegExpExecArray[] = []
  const pattern = new RegExp(TOKEN)
  pattern.lastIndex = from
  while (tokens.length <= 2 * WINDOW) {
    const token = pattern.exec(text)
    if (!token) break
    tokens.push(token)
    if (tokens.length === 1 && !isSimilar(token[0], VERBS)) return []
  }
  const earlier = nextSimilar(tokens, 0, EARLIER_TERMS)
  const order = earlier === undefined ? undefined : nextSimilar(tokens, earlier, INSTRUCTION_NOUNS)
  const last = order === undefined ? undefined : tokens[order]
  return last ? [[from, last.index + last[0].length]] : []
}

/**
 * Index in a run of letters of a word that may be a misspelt verb; -1 if there is none. A cheap test without false
 * negatives.
 */
export function possibleVerbStart(text: string, start: number, to: number): number {
  const length = (to - start) % MAX_WORD_LENGTH
  if (length < MIN_WORD_LENGTH) return -1
  const from = to - length
  const first = text.charCodeAt(from)
  if (first >= 128) return first === DOTTED_I ? from : -1
  const verb = VERB_BY_FIRST_LETTER.get(first | 0x20)
  if (verb === undefined) return -1
  const [second, last] = [text.charCodeAt(from + 1), text.charCodeAt(to - 1)]
  const isAlike = (second | 0x20) === verb.charCodeAt(1) || (last | 0x20) === verb.charCodeAt(verb.length - 1)
  if (isAlike && Math.abs(length - verb.length) <= 1) return from
  for (let at = from; at < to; at++) if (text.charCodeAt(at) >= 128) return from
  return -1
}

function nextSimilar(
  tokens: readonly RegExpExecArray[],
  from: number,
  candidates: readonly string[],
): number | undefined {
  for (let at = from + 1; at <= from + WINDOW && at < tokens.length; at++) {
    const [token, before] = [elementAt(tokens, at), elementAt(tokens, at - 1)]
    // Not across sentences or lines of code.
    if (token.index - before.index - before[0].length > 12) return undefined
    if (isSimilar(token[0], candidates)) return at
  }
  return undefined
}

function isSimilar(token: string, candidates: readonly string[]): boolean {
  const lower = token.toLowerCase()
  return candidates.some(
    (word) => lower === word || isScrambled(lower, word) || (word.length > 5 && hasEditDistanceOne(lower, word)),
  )
}

function isScrambled(token: string, word: string): boolean {
  if (token.length !== word.length || token[0] !== word[0] || token.at(-1) !== word.at(-1)) return false
  return sortLetters(token) === sortLetters(word)
}

/** Whether one letter is added, missing or different. */
function hasEditDistanceOne(token: string, word: string): boolean {
  if (Math.abs(token.length - word.length) > 1 || token[0] !== word[0]) return false
  let start = 0
  while (start < token.length && token[start] === word[start]) start++
  let end = 0
  while (end < Math.min(token.length, word.length) - start && token.at(-1 - end) === word.at(-1 - end)) end++
  return Math.max(token.length, word.length) - start - end <= 1
}

function sortLetters(word: string): string {
  return word.split("").sort().join("")
}
