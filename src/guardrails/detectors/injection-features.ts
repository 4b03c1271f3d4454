import {
  dictionaryOf,
  IS_PAIR,
  IS_STEM,
  IS_WHOLE,
  LIKELY_MASK,
  mixed,
  pairOf,
  START,
  step,
} from "./injection-dictionary.ts"
import {
  GAP,
  isHangul,
  isIdeograph,
  isJoined,
  letterOf,
  letters,
  MARK,
  SENTENCE_END,
  SKIPPED,
} from "./injection-letters.ts"

/** Hashed features of the model: a power of two. */
export const BUCKETS = 1 << 20

const LAST_ASCII = 127
const MAX_SENTENCE = 400
const FIRST_JOINED = 0x620
const MAX_JOINED = 7
/** Length of a word stem, which represents all forms of a word. */
const STEM = 4
/** A syllable of Hangul is two or three letters. */
const HANGUL_STEM = 2
const MAX_ADDED = 1_500
/** Marks a feature that is no stem. */
const NO_STEM = -1
const MAX_CONCEPTS = 12
/** A single concept is no evidence. */
const MIN_CONCEPTS = 2
const QUESTION = 1_000
const QUESTIONS = new Set([0x3f, 0xff1f, 0x61f])

/** A sentence: its position, and sum of weights and count of its words and concepts. */
export type Sentence = {
  from: number
  to: number
  sum: number
  count: number
  met: number
  matchedCount: number
  /** Has letters beyond ASCII. */
  isForeign: boolean
}

const bucket = (hash: number) => (hash ^ (hash >>> 15)) & (BUCKETS - 1)

/**
 * The sentences of a text. Features are its words, their first letters, pairs of those, the first word, signs such as
 * brackets, one to three ideographs, and the concepts of a sentence and their pairs in order. `weigh` returns the weight
 * of a feature;
 * `isConcept` is false for a word.
 */
export function sentencesOf(text: string, weigh: Weigh): Sentence[] {
  return new SentenceReader(text, weigh).read()
}

type Weigh = (feature: number, isConcept: boolean) => number

class SentenceReader {
  readonly #text: string
  readonly #weigh: Weigh
  readonly #dictionary = dictionaryOf()
  readonly #sentences: Sentence[] = []
  readonly #concepts: number[] = []
  /** The word of each of them. */
  readonly #places: number[] = []
  readonly #distinct = new Int32Array(MAX_CONCEPTS)
  #wordCount = 0
  #from = 0
  #sum = 0
  #count = 0
  #before = START
  readonly #hashes = new Int32Array(MAX_ADDED)
  readonly #stems = new Int32Array(MAX_ADDED)
  #added = 0
  #isForeign = false
  #concept = 0
  /** The concept of letters inside a word. */
  #inner = 0
  /** The concept of the last word. */
  #marked = 0
  /** Hashes of the last one, two, three and more letters of a script without spaces. */
  readonly #open = new Int32Array(MAX_JOINED)
  #joined = 0

  constructor(text: string, weigh: Weigh) {
    this.#text = text
    this.#weigh = weigh
  }

  read(): Sentence[] {
    const text = this.#text
    const { likely, stems, shortest } = this.#dictionary
    let [word, length, stem] = [START, 0, START]
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const letter = letters[unit] || letterOf(unit)
      if (letter > MARK) {
        if (unit > LAST_ASCII) this.#isForeign = true
        word = step(word, letter)
        if (++length <= (isHangul(letter) ? HANGUL_STEM : STEM)) stem = word
        if (length >= shortest && ((likely[word & LIKELY_MASK] ?? 0) & IS_STEM) !== 0)
          this.#concept = stems.get(word) ?? this.#concept
        if (letter >= FIRST_JOINED && isJoined(letter)) this.#readJoined(letter)
        continue
      }
      if (letter === SKIPPED) continue
      if (length > 0) {
        this.#endWord(word, stem, length)
        length = 0
        word = stem = START
      }
      if (letter === MARK) this.#add(mixed(unit, 29), unit)
      else if (letter === SENTENCE_END) {
        if (QUESTIONS.has(unit)) this.#meet(QUESTION)
        if (!(unit === 46 && isInWord(text, at))) this.#close(at + 1)
      }
      if (at - this.#from > MAX_SENTENCE) this.#close(at + 1)
    }
    if (length > 0) this.#endWord(word, stem, length)
    this.#close(text.length)
    return this.#sentences
  }

  /** A feature of the sentence, or a stem, which makes a pair with the stem before; 0 ends a row of stems. */
  #add(hash: number, stem: number): void {
    const at = this.#added
    if (at >= MAX_ADDED) return
    this.#hashes[at] = hash
    this.#stems[at] = stem
    this.#added = at + 1
  }

  #weighAdded(): void {
    const weigh = this.#weigh
    const hashes = this.#hashes
    const stems = this.#stems
    const added = this.#added
    let [sum, count, before] = [0, added, 0]
    for (let at = 0; at < added; at++) {
      const stem = stems[at] ?? 0
      const hash = hashes[at] ?? 0
      sum += weigh(bucket(hash), false)
      if (stem === NO_STEM) continue
      if (before !== 0 && stem !== 0) {
        sum += weigh(bucket(mixed(mixed(before, 31), stem)), false)
        count++
      }
      before = stem
    }
    this.#sum = sum
    this.#count = count
  }

  #endWord(word: number, stem: number, length: number): void {
    const { likely, pairs, whole } = this.#dictionary
    if (this.#joined === 0 || !isIdeograph(this.#lastLetter)) {
      const short = mixed(stem, 37)
      this.#add(short, short)
      if (length > STEM) this.#add(mixed(word, 41), NO_STEM)
    }
    this.#joined = 0
    if (this.#wordCount === 0) this.#add(mixed(stem, 59), NO_STEM)
    if (this.#before !== START) {
      const pair = pairOf(this.#before, word)
      if (((likely[pair & LIKELY_MASK] ?? 0) & IS_PAIR) !== 0) this.#meet(pairs.get(pair) ?? 0)
      this.#add(mixed(pair, 53), NO_STEM)
    }
    const complete = ((likely[word & LIKELY_MASK] ?? 0) & IS_WHOLE) !== 0 ? (whole.get(word) ?? 0) : 0
    this.#meet(this.#concept)
    this.#meet(complete)
    this.#mark(complete || this.#concept || this.#inner)
    this.#concept = this.#inner = 0
    this.#before = word
    this.#wordCount++
  }

  #lastLetter = 0

  /** Looks for stems that end at a letter of a script without spaces, and adds the last one to three ideographs. */
  #readJoined(letter: number): void {
    const open = this.#open
    for (let at = MAX_JOINED - 1; at > 0; at--) open[at] = step(open[at - 1] ?? 0, letter)
    open[0] = step(START, letter)
    this.#lastLetter = letter
    const count = Math.min(++this.#joined, MAX_JOINED)
    if (isIdeograph(letter)) for (let at = 0; at < Math.min(count, 3); at++) this.#add(mixed(open[at] ?? 0, 43), 0)
    else if (isHangul(letter)) this.#addInner(count, 1, 2)
    else this.#addInner(count, 2, 3)
    let longest = 0
    for (let at = 0; at < count; at++) {
      const hash = open[at] ?? 0
      if (((this.#dictionary.likely[hash & LIKELY_MASK] ?? 0) & IS_STEM) === 0) continue
      const concept = this.#dictionary.stems.get(hash) ?? 0
      this.#meet(concept)
      longest = concept || longest
    }
    if (longest === 0) return
    if (isIdeograph(letter)) this.#mark(longest)
    else this.#inner = longest
  }

  /** Adds letters inside a word, since prefixes and endings are written as one word with it. */
  #addInner(count: number, from: number, to: number): void {
    for (let at = from; at <= Math.min(to, count - 1); at++) this.#add(mixed(this.#open[at] ?? 0, 47), NO_STEM)
  }

  /** Adds the concept of a word, also of a particle, and its pair with the one of the word before. */
  #mark(concept: number): void {
    if (concept !== 0) {
      this.#add(mixed(concept, 61), NO_STEM)
      if (this.#marked !== 0) this.#add(mixed(mixed(this.#marked, 67), concept), NO_STEM)
    }
    this.#marked = concept
  }

  #meet(concept: number): void {
    const concepts = this.#concepts
    const count = concepts.length
    if (concept > this.#dictionary.lastConcept && concept !== QUESTION) return
    if (concept === 0 || count >= MAX_CONCEPTS || (count > 0 && concepts[count - 1] === concept)) return
    concepts.push(concept)
    this.#places.push(this.#wordCount)
  }

  #close(to: number): void {
    if (this.#added > 0) {
      this.#weighAdded()
      const [met, matchedCount] = this.#concepts.length >= MIN_CONCEPTS ? this.#weighConcepts() : [0, 0]
      const [from, sum, count, isForeign] = [this.#from, this.#sum, this.#count, this.#isForeign]
      this.#sentences.push({ from, to, sum, count, met, matchedCount, isForeign })
    }
    this.#from = to
    this.#isForeign = false
    this.#added = 0
    this.#before = START
    this.#marked = 0
    this.#concepts.length = this.#places.length = this.#wordCount = 0
  }

  #weighConcepts(): readonly [met: number, count: number] {
    const concepts = this.#concepts
    const places = this.#places
    let [met, count] = [0, 0]
    const add = (hash: number) => {
      met += this.#weigh(bucket(hash), true)
      count++
    }
    let seen = 0
    for (let at = 0; at < concepts.length; at++) {
      const one = concepts[at] ?? 0
      const word = places[at] ?? 0
      const isFirst = concepts.indexOf(one) === at
      if (word < 2) add(mixed(one, 17))
      const next = concepts[at + 1] ?? 0
      const third = concepts[at + 2] ?? 0
      if (next !== 0) add(mixed(mixed(mixed(one, 19), next), nearness((places[at + 1] ?? 0) - word)))
      if (third !== 0) add(mixed(mixed(mixed(one, 23), next), third))
      if (!isFirst) continue
      add(mixed(one, 11))
      for (let other = 0; other < seen; other++) {
        const two = this.#distinct[other] ?? 0
        add(mixed(mixed(Math.min(one, two), 13), Math.max(one, two)))
      }
      this.#distinct[seen++] = one
    }
    return [met, count]
  }
}

/** Distance class: adjacent, near or far. */
function nearness(gap: number): number {
  return gap <= 2 ? 1 : gap <= 5 ? 2 : 3
}

/** Whether a period is inside a file name or a number and does not end a sentence. */
function isInWord(text: string, at: number): boolean {
  if (at + 1 >= text.length) return false
  const next = letterOf(text.charCodeAt(at + 1))
  return next !== GAP && next !== SENTENCE_END && next !== MARK
}
