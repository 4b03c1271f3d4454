import { readAs, UNREAD } from "../content/fold.ts"
import { CONCEPTS } from "./injection-concepts.ts"

/** Hashed features of the model: a power of two. */
export const BUCKETS = 1 << 17

const GAP = 1
const SKIPPED = 2
const FIRST_IDEOGRAPH = 0x2e80
const SENTENCE_END = 3
const LONGEST_SENTENCE = 400

/** Of each unit its letter without accent and case, or one of the marks above; 0 if it is not known yet. */
const letters = new Uint16Array(0x10000)

function letterOf(unit: number): number {
  const known = letters[unit] ?? 0
  if (known !== 0) return known
  return (letters[unit] = classify(unit))
}

function classify(unit: number): number {
  const read = readAs(unit)
  if (read === UNREAD) return SKIPPED
  if (read === 10 || read === 13) return SENTENCE_END
  const char = String.fromCharCode(read > 0xffff ? unit : read)
  if (/[.!?。।؟…]/.test(char)) return SENTENCE_END
  if (/\d/.test(char)) return 48
  if (!/[\p{L}\p{M}]/u.test(char)) return GAP
  const isHangul = read >= 0xac00 && read <= 0xd7a3
  return isHangul ? read : plainLetter(char.toLowerCase()).charCodeAt(0)
}

/** The dotless i and others that Unicode does not take apart. */
const UNDIVIDED: Readonly<Record<string, string>> = { ı: "i", ł: "l", ø: "o", đ: "d", ß: "s", æ: "a" }

function plainLetter(letter: string): string {
  return UNDIVIDED[letter] ?? letter.normalize("NFD").charAt(0)
}

/** A sentence: where it is, the sum of the weights of its sequences of letters and their count, and of its concepts. */
export type Sentence = { from: number; to: number; sum: number; count: number; met: number }

const mixed = (one: number, other: number) => Math.imul((one ^ other) + 0x7ed55d16, 0x9e3779b1)
/** Letters of scripts without spaces, or with prefixes that are written as one word. */
const isJoined = (letter: number) => letter >= FIRST_IDEOGRAPH || (letter >= 0x620 && letter <= 0x6ff)
const LONGEST_JOINED = 7
const START = 0x811c9dc5
const step = (hash: number, letter: number) => Math.imul(hash ^ letter, 0x01000193)

type Dictionary = {
  /** Of the low bits of a hash which of the maps may have it. */
  likely: Uint8Array
  stems: Map<number, number>
  /** Short stems, which must be a whole word. */
  whole: Map<number, number>
  pairs: Map<number, number>
}

const IS_STEM = 1
const IS_WHOLE = 2
const IS_PAIR = 4
const LONGEST_WHOLE = 4
const LIKELY_BITS = 16
const LIKELY_MASK = (1 << LIKELY_BITS) - 1
let dictionary: Dictionary | undefined

function hashOf(written: string): number {
  let hash = START
  for (let at = 0; at < written.length; at++) {
    const letter = letterOf(written.charCodeAt(at))
    if (letter > SENTENCE_END) hash = step(hash, letter)
  }
  return hash
}

function dictionaryOf(): Dictionary {
  const made: Dictionary = {
    likely: new Uint8Array(LIKELY_MASK + 1),
    stems: new Map(),
    whole: new Map(),
    pairs: new Map(),
  }
  const add = (map: Map<number, number>, hash: number, concept: number, kind: number) => {
    map.set(hash, concept)
    made.likely[hash & LIKELY_MASK] = (made.likely[hash & LIKELY_MASK] ?? 0) | kind
  }
  for (const [at, stems] of Object.values(CONCEPTS).entries()) {
    for (const stem of stems.trim().split(/\s+/)) {
      const isSpaced = !isJoined(letterOf(stem.charCodeAt(0)))
      const [last = "", first] = stem.split("_").toReversed()
      if (first !== undefined && isSpaced) add(made.pairs, pairOf(hashOf(first), hashOf(last)), at + 1, IS_PAIR)
      else if (stem.length <= LONGEST_WHOLE && isSpaced) add(made.whole, hashOf(stem), at + 1, IS_WHOLE)
      else add(made.stems, hashOf(stem), at + 1, IS_STEM)
    }
  }
  return made
}

const pairOf = (first: number, second: number) => mixed(mixed(first, 2), second)
const bucket = (hash: number) => (hash ^ (hash >>> 15)) & (BUCKETS - 1)

const MAX_CONCEPTS = 16
/** Sentences with fewer concepts are no injections. */
const MIN_CONCEPTS = 2
const QUESTION = 64
const QUESTIONS = new Set([0x3f, 0xff1f, 0x61f])

/**
 * The sentences of a text. Features are the sequences of three, four and five letters with the gaps between words, of
 * one and two ideographs, the concepts of a sentence and their pairs in order. `weigh` returns the
 * weight of a feature; `isConcept` is false for a letter n-gram. Sentences whose concepts weigh less than `least`
 * are left out.
 */
export function sentencesOf(text: string, weigh: Weigh, least = Number.NEGATIVE_INFINITY): Sentence[] {
  return new SentenceReader(text, weigh, least).read()
}

type Weigh = (feature: number, isConcept: boolean) => number

class SentenceReader {
  readonly #text: string
  readonly #weigh: Weigh
  readonly #least: number
  readonly #dictionary = (dictionary ??= dictionaryOf())
  readonly #sentences: Sentence[] = []
  readonly #concepts: number[] = []
  /** In which word each of them is. */
  readonly #places: number[] = []
  #wordCount = 0
  #from = 0
  #sum = 0
  #count = 0
  #before = START
  #concept = 0
  /** Hashes of the last letters of a script without spaces: of one, of two and so on. */
  readonly #open = new Int32Array(LONGEST_JOINED)
  #joined = 0

  constructor(text: string, weigh: Weigh, least: number) {
    this.#text = text
    this.#weigh = weigh
    this.#least = least
  }

  read(): Sentence[] {
    const text = this.#text
    const { likely } = this.#dictionary
    let word = START
    let wasGap = true
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const letter = letters[unit] || letterOf(unit)
      if (letter > SENTENCE_END) {
        wasGap = false
        word = step(word, letter)
        if (((likely[word & LIKELY_MASK] ?? 0) & IS_STEM) !== 0)
          this.#concept = this.#dictionary.stems.get(word) ?? this.#concept
        if (isJoined(letter)) this.#readJoined(letter)
        continue
      }
      if (wasGap && letter === GAP) continue
      if (letter === SKIPPED) continue
      if (word !== START) this.#endWord(word)
      word = START
      wasGap = true
      if (QUESTIONS.has(unit)) this.#meet(QUESTION)
      const isEnd = letter === SENTENCE_END && !(unit === 46 && isInWord(text, at))
      if (isEnd || at - this.#from > LONGEST_SENTENCE) this.#close(at + 1)
    }
    if (word !== START) this.#endWord(word)
    this.#close(text.length)
    return this.#sentences
  }

  /** The sequences of letters of a sentence. */
  #weighLetters(from: number, to: number): void {
    const text = this.#text
    let [one, two, three, four] = [GAP, 0, 0, 0]
    for (let at = from; at < to; at++) {
      const letter = letters[text.charCodeAt(at)] ?? 0
      const now = letter === SENTENCE_END ? GAP : letter
      if (now === SKIPPED || (now === GAP && one === GAP)) continue
      if (two !== 0) {
        const triple = mixed((now << 16) | one, two)
        this.#add(triple)
        if (three !== 0) {
          const quad = mixed(triple, three)
          this.#add(quad)
          if (four !== 0) this.#add(mixed(quad, four))
        }
      }
      if (now >= FIRST_IDEOGRAPH) {
        this.#add(mixed(now, 3))
        if (one >= FIRST_IDEOGRAPH) this.#add(mixed((now << 16) | one, 5))
      }
      four = three
      three = two
      two = one
      one = now
    }
  }

  #add(hash: number): void {
    this.#sum += this.#weigh(bucket(hash), false)
    this.#count++
  }

  #endWord(word: number): void {
    const { likely, pairs, whole } = this.#dictionary
    this.#joined = 0
    if (this.#before !== START) {
      const pair = pairOf(this.#before, word)
      if (((likely[pair & LIKELY_MASK] ?? 0) & IS_PAIR) !== 0) this.#meet(pairs.get(pair) ?? 0)
    }
    this.#meet(this.#concept)
    if (((likely[word & LIKELY_MASK] ?? 0) & IS_WHOLE) !== 0) this.#meet(whole.get(word) ?? 0)
    this.#before = word
    this.#concept = 0
    this.#wordCount++
  }

  /** Looks for stems that end at a letter of a script without spaces. */
  #readJoined(letter: number): void {
    const open = this.#open
    for (let at = LONGEST_JOINED - 1; at > 0; at--) open[at] = step(open[at - 1] ?? 0, letter)
    open[0] = step(START, letter)
    const count = Math.min(++this.#joined, LONGEST_JOINED)
    for (let at = 0; at < count; at++) {
      const hash = open[at] ?? 0
      if (((this.#dictionary.likely[hash & LIKELY_MASK] ?? 0) & IS_STEM) === 0) continue
      this.#meet(this.#dictionary.stems.get(hash) ?? 0)
    }
  }

  #meet(concept: number): void {
    if (concept === 0 || this.#concepts.length >= MAX_CONCEPTS || this.#concepts.at(-1) === concept) return
    this.#concepts.push(concept)
    this.#places.push(this.#wordCount)
  }

  #close(to: number): void {
    const met = this.#concepts.length >= MIN_CONCEPTS ? this.#weighConcepts() : Number.NaN
    if (met >= this.#least) {
      this.#weighLetters(this.#from, to)
      this.#sentences.push({ from: this.#from, to, sum: this.#sum, count: this.#count, met })
    }
    this.#from = to
    this.#sum = this.#count = 0
    this.#before = START
    this.#concepts.length = this.#places.length = this.#wordCount = 0
  }

  #weighConcepts(): number {
    const concepts = this.#concepts
    const places = this.#places
    let met = 0
    const add = (hash: number) => (met += this.#weigh(bucket(hash), true))
    for (let at = 0; at < concepts.length; at++) {
      const one = concepts[at] ?? 0
      const isFirst = concepts.indexOf(one) === at
      if (isFirst) add(mixed(one, 11))
      if ((places[at] ?? 0) < 2) add(mixed(one, 17))
      const [next = 0, third = 0] = [concepts[at + 1], concepts[at + 2]]
      if (next !== 0) add(mixed(mixed(mixed(one, 19), next), nearness((places[at + 1] ?? 0) - (places[at] ?? 0))))
      if (third !== 0) add(mixed(mixed(mixed(one, 23), next), third))
      for (let other = at + 1; isFirst && other < concepts.length; other++) {
        const two = concepts[other] ?? 0
        if (two !== one && concepts.indexOf(two) === other)
          add(mixed(mixed(Math.min(one, two), 13), Math.max(one, two)))
      }
    }
    return met
  }
}

/** Next to each other, near or far. */
function nearness(gap: number): number {
  return gap <= 2 ? 1 : gap <= 5 ? 2 : 3
}

/** A point in a name of a file or a number does not end a sentence. */
function isInWord(text: string, at: number): boolean {
  const next = letterOf(text.charCodeAt(at + 1))
  return at + 1 < text.length && next !== GAP && next !== SENTENCE_END
}
