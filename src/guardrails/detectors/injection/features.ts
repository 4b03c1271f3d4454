import {
  conceptLexicon,
  IS_BIGRAM,
  IS_STEM,
  IS_EXACT,
  BLOOM_MASK,
  mixHash,
  bigramHash,
  HASH_SEED,
  hashStep,
} from "./lexicon/lexicon.ts"
import {
  isHangul,
  isIdeograph,
  isUnspaced,
  letterOf,
  letterTable,
  SYMBOL,
  SENTENCE_END,
  SKIPPED,
  SCRIPT,
  type Script,
  scriptOf,
} from "./characters.ts"
import { isInAddress, isPeriodInWord } from "./lexicon/punctuation.ts"

/** Hashed features of the model: a power of two. */
export const BUCKETS = 1 << 20

const LAST_ASCII = 127
const MAX_SENTENCE = 400
const FIRST_UNSPACED = 0x620
const MAX_UNSPACED_NGRAM = 7
/** Length of a word stem, which represents all forms of a word. */
const STEM_LENGTH = 4
/** A syllable of Hangul is two or three letters. */
const HANGUL_STEM_LENGTH = 2
const MAX_FEATURES = 1_500
/** Marks a feature that is no stem. */
const NO_STEM = -1
const MAX_CONCEPTS = 12
/** A single concept is no evidence. */
const MIN_CONCEPTS = 2
const QUESTION_CONCEPT = 1_000
/** A URL or an e-mail address. */
const ADDRESS_CONCEPT = QUESTION_CONCEPT + 1
const QUESTION_MARKS = new Set([0x3f, 0xff1f, 0x61f])

/** A sentence: its position, and sum of weights and count of its words and concepts. */
export type Sentence = {
  from: number
  to: number
  wordWeight: number
  wordFeatures: number
  conceptWeight: number
  conceptFeatures: number
  script: Script
}

const bucket = (hash: number) => (hash ^ (hash >>> 15)) & (BUCKETS - 1)

/**
 * The sentences of a text. Features are its words, their first letters, pairs of those, the first word, symbols such as
 * brackets, one to three ideographs, and the concepts of a sentence and their pairs in order. `weightOf` returns the
 * weight of a feature; `isConcept` is false for a word.
 */
export function extractSentences(text: string, weightOf: WeightOf): Sentence[] {
  return new FeatureExtractor(text, weightOf).extract()
}

type WeightOf = (feature: number, isConcept: boolean) => number

/** Shared by all extractors, each of which reads one sentence without yielding. */
const featureHashes = new Int32Array(MAX_FEATURES)
const featureStems = new Int32Array(MAX_FEATURES)

class FeatureExtractor {
  readonly #text: string
  readonly #weightOf: WeightOf
  readonly #lexicon = conceptLexicon()
  readonly #sentences: Sentence[] = []
  readonly #concepts: number[] = []
  /** The word of each of them. */
  readonly #conceptPositions: number[] = []
  readonly #distinct = new Int32Array(MAX_CONCEPTS)
  #wordCount = 0
  #start = 0
  #wordWeight = 0
  #wordFeatures = 0
  #previousWord = HASH_SEED
  readonly #hashes = featureHashes
  readonly #stems = featureStems
  #featureCount = 0
  #script: Script = SCRIPT.ascii
  #concept = 0
  /** The concept of letters inside a word. */
  #innerConcept = 0
  /** The concept of the last word. */
  #previousConcept = 0
  /** Hashes of the last one, two, three and more letters of a script without spaces. */
  readonly #suffixHashes = new Int32Array(MAX_UNSPACED_NGRAM)
  #unspacedLength = 0

  constructor(text: string, weightOf: WeightOf) {
    this.#text = text
    this.#weightOf = weightOf
  }

  extract(): Sentence[] {
    const text = this.#text
    const { bloomBits, stems, minStemLength } = this.#lexicon
    let [word, length, stem] = [HASH_SEED, 0, HASH_SEED]
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const letter = letterTable[unit] || letterOf(unit)
      if (letter > SYMBOL) {
        if (unit > LAST_ASCII && this.#script !== SCRIPT.other) this.#script = scriptOf(unit)
        word = hashStep(word, letter)
        if (++length <= (isHangul(letter) ? HANGUL_STEM_LENGTH : STEM_LENGTH)) stem = word
        if (length >= minStemLength && ((bloomBits[word & BLOOM_MASK] ?? 0) & IS_STEM) !== 0)
          this.#concept = stems.get(word) ?? this.#concept
        if (letter >= FIRST_UNSPACED && isUnspaced(letter)) this.#readUnspaced(letter)
        continue
      }
      if (letter === SKIPPED) continue
      if (length > 0) {
        this.#endWord(word, stem, length)
        length = 0
        word = stem = HASH_SEED
      }
      if (letter === SYMBOL) {
        this.#addFeature(mixHash(unit, 29), unit)
        if (isInAddress(text, at)) this.#addConcept(ADDRESS_CONCEPT)
      } else if (letter === SENTENCE_END) {
        if (QUESTION_MARKS.has(unit)) this.#addConcept(QUESTION_CONCEPT)
        if (!(unit === 46 && isPeriodInWord(text, at))) this.#endSentence(at + 1)
      }
      if (at - this.#start > MAX_SENTENCE) this.#endSentence(at + 1)
    }
    if (length > 0) this.#endWord(word, stem, length)
    this.#endSentence(text.length)
    return this.#sentences
  }

  /** A feature of the sentence, or a stem, which makes a pair with the stem before; 0 ends a row of stems. */
  #addFeature(hash: number, stem: number): void {
    const at = this.#featureCount
    if (at >= MAX_FEATURES) return
    this.#hashes[at] = hash
    this.#stems[at] = stem
    this.#featureCount = at + 1
  }

  #weighFeatures(): void {
    const weigh = this.#weightOf
    const hashes = this.#hashes
    const stems = this.#stems
    const featureCount = this.#featureCount
    let [sum, count, before] = [0, featureCount, 0]
    for (let at = 0; at < featureCount; at++) {
      const stem = stems[at] ?? 0
      const hash = hashes[at] ?? 0
      sum += weigh(bucket(hash), false)
      if (stem === NO_STEM) continue
      if (before !== 0 && stem !== 0) {
        sum += weigh(bucket(mixHash(mixHash(before, 31), stem)), false)
        count++
      }
      before = stem
    }
    this.#wordWeight = sum
    this.#wordFeatures = count
  }

  #endWord(word: number, stem: number, length: number): void {
    const { bloomBits, bigrams, exactTerms } = this.#lexicon
    if (this.#unspacedLength === 0 || !isIdeograph(this.#lastLetter)) {
      const stemHash = mixHash(stem, 37)
      this.#addFeature(stemHash, stemHash)
      if (length > STEM_LENGTH) this.#addFeature(mixHash(word, 41), NO_STEM)
    }
    this.#unspacedLength = 0
    if (this.#wordCount === 0) this.#addFeature(mixHash(stem, 59), NO_STEM)
    if (this.#previousWord !== HASH_SEED) {
      const pair = bigramHash(this.#previousWord, word)
      if (((bloomBits[pair & BLOOM_MASK] ?? 0) & IS_BIGRAM) !== 0) this.#addConcept(bigrams.get(pair) ?? 0)
      this.#addFeature(mixHash(pair, 53), NO_STEM)
    }
    const exactConcept = ((bloomBits[word & BLOOM_MASK] ?? 0) & IS_EXACT) !== 0 ? (exactTerms.get(word) ?? 0) : 0
    this.#addConcept(this.#concept)
    this.#addConcept(exactConcept)
    this.#addConceptFeature(exactConcept || this.#concept || this.#innerConcept)
    this.#concept = this.#innerConcept = 0
    this.#previousWord = word
    this.#wordCount++
  }

  #lastLetter = 0

  /** Looks for stems that end at a letter of a script without spaces, and adds the last one to three ideographs. */
  #readUnspaced(letter: number): void {
    const suffixHashes = this.#suffixHashes
    for (let at = MAX_UNSPACED_NGRAM - 1; at > 0; at--) suffixHashes[at] = hashStep(suffixHashes[at - 1] ?? 0, letter)
    suffixHashes[0] = hashStep(HASH_SEED, letter)
    this.#lastLetter = letter
    const suffixCount = Math.min(++this.#unspacedLength, MAX_UNSPACED_NGRAM)
    if (isIdeograph(letter))
      for (let at = 0; at < Math.min(suffixCount, 3); at++) this.#addFeature(mixHash(suffixHashes[at] ?? 0, 43), 0)
    else if (isHangul(letter)) this.#addInnerNgrams(suffixCount, 1, 2)
    else this.#addInnerNgrams(suffixCount, 2, 3)
    let longest = 0
    for (let at = 0; at < suffixCount; at++) {
      const hash = suffixHashes[at] ?? 0
      if (((this.#lexicon.bloomBits[hash & BLOOM_MASK] ?? 0) & IS_STEM) === 0) continue
      const concept = this.#lexicon.stems.get(hash) ?? 0
      this.#addConcept(concept)
      longest = concept || longest
    }
    if (longest === 0) return
    if (isIdeograph(letter)) this.#addConceptFeature(longest)
    else this.#innerConcept = longest
  }

  /** Adds letters inside a word, since prefixes and endings are written as one word with it. */
  #addInnerNgrams(count: number, from: number, to: number): void {
    for (let at = from; at <= Math.min(to, count - 1); at++)
      this.#addFeature(mixHash(this.#suffixHashes[at] ?? 0, 47), NO_STEM)
  }

  /** Adds the concept of a word, also of a particle, and its pair with the one of the word before. */
  #addConceptFeature(concept: number): void {
    if (concept !== 0) {
      this.#addFeature(mixHash(concept, 61), NO_STEM)
      if (this.#previousConcept !== 0) this.#addFeature(mixHash(mixHash(this.#previousConcept, 67), concept), NO_STEM)
    }
    this.#previousConcept = concept
  }

  #addConcept(concept: number): void {
    const concepts = this.#concepts
    const count = concepts.length
    if (concept > this.#lexicon.lastConcept && concept < QUESTION_CONCEPT) return
    if (concept === 0 || count >= MAX_CONCEPTS || (count > 0 && concepts[count - 1] === concept)) return
    concepts.push(concept)
    this.#conceptPositions.push(this.#wordCount)
  }

  #endSentence(to: number): void {
    if (this.#featureCount > 0) {
      this.#weighFeatures()
      const [conceptWeight, conceptFeatures] = this.#concepts.length >= MIN_CONCEPTS ? this.#weighConcepts() : [0, 0]
      const sums = { wordWeight: this.#wordWeight, wordFeatures: this.#wordFeatures, script: this.#script }
      this.#sentences.push({ from: this.#start, to, ...sums, conceptWeight, conceptFeatures })
    }
    this.#start = to
    this.#script = SCRIPT.ascii
    this.#featureCount = 0
    this.#previousWord = HASH_SEED
    this.#previousConcept = 0
    this.#concepts.length = this.#conceptPositions.length = this.#wordCount = 0
  }

  #weighConcepts(): readonly [weight: number, count: number] {
    const concepts = this.#concepts
    const positions = this.#conceptPositions
    let [weight, count] = [0, 0]
    const add = (hash: number) => {
      weight += this.#weightOf(bucket(hash), true)
      count++
    }
    let distinctCount = 0
    for (let at = 0; at < concepts.length; at++) {
      const concept = concepts[at] ?? 0
      const word = positions[at] ?? 0
      const isFirst = concepts.indexOf(concept) === at
      if (word < 2) add(mixHash(concept, 17))
      const next = concepts[at + 1] ?? 0
      const third = concepts[at + 2] ?? 0
      if (next !== 0) add(mixHash(mixHash(mixHash(concept, 19), next), distanceClass((positions[at + 1] ?? 0) - word)))
      if (third !== 0) add(mixHash(mixHash(mixHash(concept, 23), next), third))
      if (!isFirst) continue
      add(mixHash(concept, 11))
      for (let other = 0; other < distinctCount; other++) {
        const earlier = this.#distinct[other] ?? 0
        add(mixHash(mixHash(Math.min(concept, earlier), 13), Math.max(concept, earlier)))
      }
      this.#distinct[distinctCount++] = concept
    }
    return [weight, count]
  }
}

/** Distance class: adjacent, near or far. */
function distanceClass(gap: number): number {
  return gap <= 2 ? 1 : gap <= 5 ? 2 : 3
}
