import { CONCEPTS } from "./concepts.ts"
import { BENIGN_CONCEPTS } from "../benign.ts"
import { isUnspaced, letterOf, SYMBOL } from "../characters.ts"
import { FUNCTION_TERMS } from "./function-terms.ts"
import { CONTEXT_CONCEPTS } from "../contexts.ts"
import { MORE_STEMS } from "./stems-more.ts"
import { STEMS } from "./stems.ts"
import { SYNONYMS } from "./synonyms.ts"

export const HASH_SEED = 0x811c9dc5
export const hashStep = (hash: number, letter: number) => Math.imul(hash ^ letter, 0x01000193)
export const mixHash = (one: number, other: number) => Math.imul((one ^ other) + 0x7ed55d16, 0x9e3779b1)
export const bigramHash = (first: number, second: number) => mixHash(mixHash(first, 2), second)

export type Lexicon = {
  /** Maps that may contain a hash, by its low bits. */
  bloomBits: Uint8Array
  stems: Map<number, number>
  /** Length of the shortest stem. */
  minStemLength: number
  /** Short stems, which must be complete words. */
  exactTerms: Map<number, number>
  bigrams: Map<number, number>
  /** The last number of a concept: particles have larger ones. */
  lastConcept: number
}

export const IS_STEM = 1
export const IS_EXACT = 2
export const IS_BIGRAM = 4
const MAX_EXACT_LENGTH = 4
const BLOOM_INDEX_BITS = 16
export const BLOOM_MASK = (1 << BLOOM_INDEX_BITS) - 1
let lexicon: Lexicon | undefined

/** The concepts by the hashes of their words. */
export const conceptLexicon = (): Lexicon => (lexicon ??= buildLexicon())

function lettersOf(word: string): number[] {
  return Array.from({ length: word.length }, (_, at) => letterOf(word.charCodeAt(at))).filter(
    (letter) => letter > SYMBOL,
  )
}

const hashOf = (word: string) => lettersOf(word).reduce(hashStep, HASH_SEED)

function buildLexicon(): Lexicon {
  const lexicon: Lexicon = {
    bloomBits: new Uint8Array(BLOOM_MASK + 1),
    stems: new Map(),
    minStemLength: Number.POSITIVE_INFINITY,
    exactTerms: new Map(),
    bigrams: new Map(),
    lastConcept: 0,
  }
  const add = (map: Map<number, number>, hash: number, concept: number, kind: number) => {
    if (lexicon.lastConcept > 0 && map.has(hash)) return
    map.set(hash, concept)
    lexicon.bloomBits[hash & BLOOM_MASK] = (lexicon.bloomBits[hash & BLOOM_MASK] ?? 0) | kind
  }
  // A word of several lists has the meaning of the last one.
  const numbers = new Map<string, number>()
  const readList = ([name, stems]: readonly [string, string]) => {
    const concept = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, concept)
    for (const stem of stems.trim().split(/\s+/)) {
      const isSpaced = !isUnspaced(letterOf(stem.charCodeAt(0)))
      const [last = "", first] = stem.split("_").toReversed()
      if (first !== undefined && isSpaced)
        add(lexicon.bigrams, bigramHash(hashOf(first), hashOf(last)), concept, IS_BIGRAM)
      else if (stem.length <= MAX_EXACT_LENGTH && isSpaced) add(lexicon.exactTerms, hashOf(stem), concept, IS_EXACT)
      else {
        add(lexicon.stems, hashOf(stem), concept, IS_STEM)
        if (isSpaced) lexicon.minStemLength = Math.min(lexicon.minStemLength, lettersOf(stem).length)
      }
    }
  }
  for (const list of [SYNONYMS, CONTEXT_CONCEPTS, CONCEPTS, BENIGN_CONCEPTS]) Object.entries(list).forEach(readList)
  lexicon.lastConcept = numbers.size
  for (const list of [STEMS, MORE_STEMS, FUNCTION_TERMS]) Object.entries(list).forEach(readList)
  return lexicon
}
