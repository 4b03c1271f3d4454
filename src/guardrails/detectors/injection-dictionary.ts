import { CONCEPTS } from "./injection-concepts.ts"
import { EVERYDAY } from "./injection-everyday.ts"
import { isJoined, letterOf, MARK } from "./injection-letters.ts"
import { PARTICLES } from "./injection-particles.ts"
import { SITUATIONS } from "./injection-situations.ts"
import { SYNONYMS } from "./injection-synonyms.ts"

export const START = 0x811c9dc5
export const step = (hash: number, letter: number) => Math.imul(hash ^ letter, 0x01000193)
export const mixed = (one: number, other: number) => Math.imul((one ^ other) + 0x7ed55d16, 0x9e3779b1)
export const pairOf = (first: number, second: number) => mixed(mixed(first, 2), second)

export type Dictionary = {
  /** Maps that may contain a hash, by its low bits. */
  likely: Uint8Array
  stems: Map<number, number>
  /** Length of the shortest stem. */
  shortest: number
  /** Short stems, which must be complete words. */
  whole: Map<number, number>
  pairs: Map<number, number>
  /** The last number of a concept: particles have larger ones. */
  lastConcept: number
}

export const IS_STEM = 1
export const IS_WHOLE = 2
export const IS_PAIR = 4
const MAX_WHOLE = 4
const LIKELY_BITS = 16
export const LIKELY_MASK = (1 << LIKELY_BITS) - 1
let dictionary: Dictionary | undefined

/** The concepts by the hashes of their words. */
export const dictionaryOf = (): Dictionary => (dictionary ??= read())

function lettersOf(written: string): number[] {
  return Array.from({ length: written.length }, (_, at) => letterOf(written.charCodeAt(at))).filter(
    (letter) => letter > MARK,
  )
}

const hashOf = (written: string) => lettersOf(written).reduce(step, START)

function read(): Dictionary {
  const made: Dictionary = {
    likely: new Uint8Array(LIKELY_MASK + 1),
    stems: new Map(),
    shortest: Number.POSITIVE_INFINITY,
    whole: new Map(),
    pairs: new Map(),
    lastConcept: 0,
  }
  const add = (map: Map<number, number>, hash: number, concept: number, kind: number) => {
    if (made.lastConcept > 0 && map.has(hash)) return
    map.set(hash, concept)
    made.likely[hash & LIKELY_MASK] = (made.likely[hash & LIKELY_MASK] ?? 0) | kind
  }
  // A word of several lists has the meaning of the last one.
  const numbers = new Map<string, number>()
  const readList = ([name, stems]: readonly [string, string]) => {
    const concept = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, concept)
    for (const stem of stems.trim().split(/\s+/)) {
      const isSpaced = !isJoined(letterOf(stem.charCodeAt(0)))
      const [last = "", first] = stem.split("_").toReversed()
      if (first !== undefined && isSpaced) add(made.pairs, pairOf(hashOf(first), hashOf(last)), concept, IS_PAIR)
      else if (stem.length <= MAX_WHOLE && isSpaced) add(made.whole, hashOf(stem), concept, IS_WHOLE)
      else {
        add(made.stems, hashOf(stem), concept, IS_STEM)
        if (isSpaced) made.shortest = Math.min(made.shortest, lettersOf(stem).length)
      }
    }
  }
  for (const list of [SYNONYMS, SITUATIONS, CONCEPTS, EVERYDAY]) Object.entries(list).forEach(readList)
  made.lastConcept = numbers.size
  Object.entries(PARTICLES).forEach(readList)
  return made
}
