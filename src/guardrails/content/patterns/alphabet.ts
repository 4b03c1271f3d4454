import { stepMatches, type Step } from "./program.ts"

const ASCII = 128
const PAGE = 256
/** Maximum of cached pages of 512 bytes; texts in one script need a few. */
const MAX_PAGES = 64
const LAST_RUNE = 0x10ffff
const FOLD_CASE = 1

/** Kinds of characters that `^`, `$` and `\b` distinguish. */
export const KIND = { edge: 0, newline: 1, word: 2, other: 3 } as const

/**
 * Character classes: characters that no step of a program distinguishes share a class, so that a table by class is
 * small.
 */
export class Alphabet {
  readonly size: number
  /** KIND of each class; always `other` if the program has no conditions. */
  readonly kinds: Uint8Array
  readonly ascii: Uint16Array
  readonly #bounds: Int32Array
  readonly #classes: Uint16Array
  readonly #pages = new Map<number, Uint16Array>()
  /** One row for each set of characters, one column for each class. */
  readonly #members: Uint8Array

  /** `sets`: one step for each distinct set of characters. */
  constructor(sets: readonly Step[], needsKinds: boolean) {
    const bounds = boundsOf(sets, needsKinds)
    const classes = new Uint16Array(bounds.length)
    const classByKey = new Map<string, number>()
    const kinds: number[] = []
    const columns: Uint16Array[] = []
    const members = membersAt(bounds, sets)
    for (const [at, rune] of bounds.entries()) {
      const kind = needsKinds ? kindOf(rune) : KIND.other
      const column = members[at] ?? new Uint16Array()
      const key = String.fromCharCode(kind, ...column)
      let charClass = classByKey.get(key)
      if (charClass === undefined) {
        charClass = columns.push(column) - 1
        kinds.push(kind)
        classByKey.set(key, charClass)
      }
      classes[at] = charClass
    }
    this.size = columns.length
    this.kinds = Uint8Array.from([...kinds, needsKinds ? KIND.edge : KIND.other])
    this.#bounds = bounds
    this.#classes = classes
    this.#members = new Uint8Array(sets.length * this.size)
    for (const [charClass, column] of columns.entries()) {
      for (let set = 0; set < sets.length; set++) this.#members[set * this.size + charClass] = bitOf(column, set)
    }
    this.ascii = Uint16Array.from({ length: ASCII }, (_, rune) => this.#search(rune))
  }

  /** Class of the end of the text, after all others. */
  get end(): number {
    return this.size
  }

  has(set: number, charClass: number): boolean {
    return this.#members[set * this.size + charClass] === 1
  }

  classOf(rune: number): number {
    if (rune < ASCII) return this.ascii[rune] ?? 0
    const number = rune >> 8
    let page = this.#pages.get(number)
    if (!page) {
      page = Uint16Array.from({ length: PAGE }, (_, at) => this.#search(number * PAGE + at))
      if (this.#pages.size >= MAX_PAGES) this.#pages.clear()
      this.#pages.set(number, page)
    }
    return page[rune & 0xff] ?? 0
  }

  #search(rune: number): number {
    let low = 0
    let high = this.#bounds.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#bounds[middle] ?? 0) <= rune) low = middle
      else high = middle - 1
    }
    return this.#classes[low] ?? 0
  }
}

/** Boundaries of the character ranges of all sets. */
function boundsOf(sets: readonly Step[], needsKinds: boolean): Int32Array {
  const bounds = new Set<number>([0])
  const add = (from: number, to: number) => {
    bounds.add(from)
    if (to < LAST_RUNE) bounds.add(to + 1)
  }
  if (needsKinds) for (const [from, to] of KINDS) add(from, to)
  // Separates newline for the steps that take any character, or any but a newline.
  add(10, 10)
  for (const step of sets) {
    const { runes } = step
    const single = singleRunes(step)
    if (single) for (const rune of single) add(rune, rune)
    else for (let at = 0; at < runes.length; at += 2) add(runes[at] ?? 0, runes[at + 1] ?? 0)
  }
  return Int32Array.from(bounds).sort()
}

/** The characters of a step that takes one letter in any case; undefined for others. */
function singleRunes(step: Step): readonly number[] | undefined {
  const [rune = 0] = step.runes
  if (step.runes.length !== 1) return undefined
  return (step.arg & FOLD_CASE) !== 0 ? caseVariants(rune, step) : [rune]
}

/** Bits in each number of a column. */
const BITS = 16
const bitOf = (column: Uint16Array, set: number) => ((column[(set / BITS) | 0] ?? 0) >> (set % BITS)) & 1

/** For each boundary, which sets contain the characters from there on, as one bit for each set. */
function membersAt(bounds: Int32Array, sets: readonly Step[]): readonly Uint16Array[] {
  const columns = Array.from(bounds, () => new Uint16Array(Math.ceil(sets.length / BITS)))
  const indexes = new Map([...bounds].map((rune, at) => [rune, at]))
  for (const [set, step] of sets.entries()) {
    const single = singleRunes(step)
    const matching = single ? single.map((rune) => indexes.get(rune) ?? -1) : bounds.keys()
    for (const at of matching) {
      const column = columns[at]
      if (column && stepMatches(step, bounds[at] ?? 0)) {
        const word = (set / BITS) | 0
        column[word] = (column[word] ?? 0) | (1 << (set % BITS))
      }
    }
  }
  return columns
}

const KINDS = [
  [10, 10],
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
] as const

function kindOf(rune: number): number {
  if (rune === 10) return KIND.newline
  return KINDS.some(([from, to]) => rune >= from && rune <= to) ? KIND.word : KIND.other
}

const caseVariantCache = new Map<number, readonly number[]>()
const MAX_CASE_VARIANTS = 1_000
const LAST_CASED = 0x1ffff
let casedRunes: ReadonlyMap<string, readonly number[]> | undefined

/** Other letter cases of a character. */
function caseVariants(rune: number, step: Step): readonly number[] {
  const cached = caseVariantCache.get(rune)
  if (cached) return cached
  // Two ASCII letters have a third form: the long s and the kelvin sign.
  const candidates = rune < ASCII ? [rune, rune ^ 0x20, 0x17f, 0x212a] : withOtherCases(rune)
  const found = candidates.filter((other) => stepMatches(step, other))
  if (caseVariantCache.size < MAX_CASE_VARIANTS) caseVariantCache.set(rune, found)
  return found
}

/** The character first, then those with an equal lower or upper case. */
function withOtherCases(rune: number): readonly number[] {
  casedRunes ??= findCasedRunes()
  const others = casesOf(rune).flatMap((form) => casedRunes?.get(form) ?? [])
  return [...new Set([rune, ...others])]
}

/** The lower and the upper case of a character, and the lower case of the latter. */
function casesOf(rune: number): string[] {
  const char = String.fromCodePoint(rune)
  const upper = char.toUpperCase()
  return [char.toLowerCase(), upper, upper.toLowerCase()]
}

/** Characters with another case, by each of their cases. */
function findCasedRunes(): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (let first = 0; first <= LAST_CASED; first += BLOCK) {
    const block = String.fromCodePoint(...Array.from({ length: BLOCK }, (_, at) => first + at))
    for (const [char] of block.matchAll(CASED)) {
      const rune = char.codePointAt(0) ?? 0
      for (const form of new Set(casesOf(rune))) found.set(form, [...(found.get(form) ?? []), rune])
    }
  }
  return found
}

const BLOCK = 0x1000
const CASED = /\p{Changes_When_Casemapped}/gu

/** The code point at an index, if both of its units are present. */
export function runeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if ((unit & 0xfc00) !== 0xd800 || at + 1 >= text.length) return unit
  const low = text.charCodeAt(at + 1)
  return (low & 0xfc00) === 0xdc00 ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : unit
}
