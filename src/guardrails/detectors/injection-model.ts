import { COST, type Meter } from "../content/meter.ts"
import { decodeBase64 } from "../../support/encoding.ts"
import type { Part } from "./detector.ts"
import { BUCKETS, type Sentence, sentencesOf } from "./injection-features.ts"
import { BIAS, FOREIGN_THRESHOLD, SCALE, THRESHOLD, WEIGHTS } from "./injection-weights.ts"

/** Number of adjacent sentences that are scored together. */
export const WINDOW = 2
/** Rise of the threshold with each doubling of the number of sentences, above the start value. */
const THRESHOLD_STEP = 0.15
const SHORT = 4

let weights: Int8Array | undefined

/** The largest weight of four bits. */
export const LARGEST = 7
/** The largest distance between two weighted buckets that is written in four bits. */
export const FARTHEST = 15

/** Reads what `packed` in test/guardrails/train.ts writes. */
function weightsOf(): Int8Array {
  const read = new Int8Array(BUCKETS)
  let feature = -1
  for (const byte of decodeBase64(WEIGHTS) ?? new Uint8Array()) {
    const [upper, lower] = [byte >> 4, byte & 15]
    if (upper === FARTHEST) feature += FARTHEST * (lower + 1)
    else {
      feature += upper + 1
      read[feature] = lower - LARGEST - 1
    }
  }
  return read
}

/** Added to the score of a disguised text, since few ordinary texts are disguised. */
export const HIDDEN_SCORE = 1

/**
 * The stretches that the linear model classifies as injections, and the highest probability in the text. `more` is
 * added to each score.
 */
export function scoreInjections(text: string, meter: Meter, more = 0): { parts: Part[]; score: number } {
  meter.spend(text.length * COST.weighed)
  const known = (weights ??= weightsOf())
  const sentences = sentencesOf(text, (feature) => known[feature] ?? 0)
  const parts: Part[] = []
  const increase = thresholdIncrease(sentences.length)
  let best = Number.NEGATIVE_INFINITY
  for (let first = 0; first < sentences.length; first++) {
    const window = { sum: 0, count: 0, met: 0, matchedCount: 0, isForeign: false }
    for (let last = first; last < Math.min(sentences.length, first + WINDOW); last++) {
      const sentence = sentences[last]
      if (!sentence) break
      window.sum += sentence.sum
      window.count += sentence.count
      window.met += sentence.met
      window.matchedCount += sentence.matchedCount
      window.isForeign ||= sentence.isForeign
      const share = shareOf(window)
      const score = more + BIAS + (window.sum * share.word + window.met * share.concept) * SCALE
      best = Math.max(best, score)
      if (score > thresholdOf(window) + increase) parts.push([sentences[first]?.from ?? 0, sentence.to])
    }
  }
  return { parts: merged(parts), score: 1 / (1 + Math.exp(-best)) }
}

/** In a long text, more sentences can be false positives, so each needs a higher score. */
function thresholdIncrease(sentences: number): number {
  return THRESHOLD_STEP * Math.log2(Math.max(1, sentences / SHORT))
}

/**
 * Separate thresholds, because scores of English and other languages differ: much of the training data is English
 * documentation.
 */
export function thresholdOf({ isForeign }: Pick<Sentence, "isForeign">): number {
  return isForeign ? FOREIGN_THRESHOLD : THRESHOLD
}

type Counts = Pick<Sentence, "count" | "matchedCount">

/** Factors for the weights of words and concepts, so that a long sentence scores little more than a short one. */
export function shareOf({ count, matchedCount }: Counts): { word: number; concept: number } {
  return { word: 2 / Math.sqrt(count + 6), concept: 1 / Math.cbrt(matchedCount + 1) }
}

/** Sorts parts and merges overlapping ones. */
function merged(parts: readonly Part[]): Part[] {
  const found: Part[] = []
  for (const [from, to] of parts) {
    const last = found.at(-1)
    if (last && from < last[1]) found[found.length - 1] = [last[0], Math.max(last[1], to)]
    else found.push([from, to])
  }
  return found
}
