import { COST, type WorkBudget } from "../../content/work-budget.ts"
import { decodeBase64 } from "../../../support/text/encoding.ts"
import type { MatchRange } from "../detector.ts"
import { type Script, SCRIPT } from "./characters.ts"
import { BUCKETS, type Sentence, extractSentences } from "./features.ts"
import { BIAS, COUNT, SCALE, THRESHOLDS, WEIGHTS } from "./weights.ts"

const EMPTY_WINDOW = { wordWeight: 0, wordFeatures: 0, conceptWeight: 0, conceptFeatures: 0, script: SCRIPT.ascii }

/** Number of adjacent sentences that are scored together. */
export const WINDOW_SENTENCES = 2
/** Rise of the threshold with each doubling of the number of sentences. */
const THRESHOLD_STEP = 0.3

let weights: Int8Array | undefined

/** Weights are from -7 to 7. */
export const MAX_WEIGHT = 7

/**
 * Reads what `packed` in test/guardrails/train.ts writes: for each weight that is not 0 the distance to the one before in
 * a Rice code with one low bit, the sign, and the size in unary. Most distances and sizes are small: a weight takes five
 * bits.
 */
export function unpackWeights(bytes: Uint8Array, count: number): Int8Array {
  const unpacked = new Int8Array(BUCKETS)
  let position = 0
  const bit = (): number => {
    const byte = bytes[position >> 3] ?? 0
    return (byte >> (7 - (position++ & 7))) & 1
  }
  const unary = (): number => {
    let ones = 0
    while (bit() === 1) ones++
    return ones
  }
  let feature = -1
  for (let read = 0; read < count; read++) {
    feature += 2 * unary() + bit() + 1
    const isNegative = bit() === 1
    const size = unary() + 1
    unpacked[feature] = isNegative ? -size : size
  }
  return unpacked
}

const readWeights = () => unpackWeights(decodeBase64(WEIGHTS) ?? new Uint8Array(), COUNT)

/** Added to the score of a decoded text, since few benign texts are obfuscated. */
export const DECODED_BONUS = 1

/**
 * The ranges that the linear model classifies as injections, and the highest probability in the text. `bonus` is
 * added to each score.
 */
export function scoreInjections(text: string, budget: WorkBudget, bonus = 0): { parts: MatchRange[]; score: number } {
  budget.spend(text.length * COST.modelCharacter)
  const modelWeights = (weights ??= readWeights())
  const sentences = extractSentences(text, (feature) => modelWeights[feature] ?? 0)
  const parts: MatchRange[] = []
  const increase = thresholdIncrease(sentences.length)
  let maxScore = Number.NEGATIVE_INFINITY
  for (let first = 0; first < sentences.length; first++) {
    const window: Omit<Sentence, "from" | "to"> = { ...EMPTY_WINDOW }
    for (let last = first; last < Math.min(sentences.length, first + WINDOW_SENTENCES); last++) {
      const sentence = sentences[last]
      if (!sentence) break
      window.wordWeight += sentence.wordWeight
      window.wordFeatures += sentence.wordFeatures
      window.conceptWeight += sentence.conceptWeight
      window.conceptFeatures += sentence.conceptFeatures
      window.script = maxScript(window.script, sentence.script)
      const factors = lengthFactors(window)
      const score = bonus + BIAS + (window.wordWeight * factors.word + window.conceptWeight * factors.concept) * SCALE
      maxScore = Math.max(maxScore, score)
      if (score > thresholdOf(window) + increase) parts.push([sentences[first]?.from ?? 0, sentence.to])
    }
  }
  return { parts: mergeRanges(parts), score: 1 / (1 + Math.exp(-maxScore)) }
}

/** In a long text, more sentences can be false positives, so each needs a higher score. */
export function thresholdIncrease(sentences: number): number {
  return THRESHOLD_STEP * Math.log2(Math.max(1, sentences))
}

/**
 * Separate thresholds, because scores of languages differ: much of the training data is English documentation, and
 * ordinary prompts in other alphabets resemble attacks less often.
 */
export function thresholdOf({ script }: Pick<Sentence, "script">): number {
  return THRESHOLDS[script]
}

export function maxScript(one: Script, other: Script): Script {
  return one > other ? one : other
}

type FeatureCounts = Pick<Sentence, "wordFeatures" | "conceptFeatures">

/** Factors for the weights of words and concepts, so that a long sentence scores little more than a short one. */
export function lengthFactors({ wordFeatures, conceptFeatures }: FeatureCounts): { word: number; concept: number } {
  return { word: 2 / Math.sqrt(wordFeatures + 6), concept: 1 / Math.cbrt(conceptFeatures + 1) }
}

/** Sorts parts and merges overlapping ones. */
function mergeRanges(parts: readonly MatchRange[]): MatchRange[] {
  const result: MatchRange[] = []
  for (const [from, to] of parts) {
    const last = result.at(-1)
    if (last && from < last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)]
    else result.push([from, to])
  }
  return result
}
