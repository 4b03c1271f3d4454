import { COST, type Meter } from "../content/meter.ts"
import { decodeBase64 } from "../../support/encoding.ts"
import type { Part } from "./detector.ts"
import { BUCKETS, type Sentence, sentencesOf } from "./injection-features.ts"
import { BIAS, FOREIGN_THRESHOLD, SCALE, THRESHOLD, WEIGHTS } from "./injection-weights.ts"

/** Sentences that are weighed together. */
export const WINDOW = 2
/** How much the threshold rises each time that the sentences double, from this many on. */
const RISE = 0.15
const SHORT = 4

let weights: Int8Array | undefined

/** Each feature with a weight is two bytes or more: how many buckets after the last one, then its weight. */
function weightsOf(): Int8Array {
  const bytes = decodeBase64(WEIGHTS) ?? new Uint8Array()
  const read = new Int8Array(BUCKETS)
  let [feature, gap] = [-1, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    gap += byte
    if (byte === 255) continue
    feature += gap
    gap = 0
    read[feature] = ((bytes[++at] ?? 0) << 24) >> 24
  }
  return read
}

/** What a text scores more that was disguised: few ordinary texts are. */
export const HIDDEN_SCORE = 1

/**
 * The stretches of a text that the linear model takes for injections, and the highest probability in the text. `more`
 * is added to each score.
 */
export function scoreInjections(text: string, meter: Meter, more = 0): { parts: Part[]; score: number } {
  meter.spend(text.length * COST.weighed)
  const known = (weights ??= weightsOf())
  const sentences = sentencesOf(text, (feature) => known[feature] ?? 0)
  const parts: Part[] = []
  const rise = riseOf(sentences.length)
  let best = Number.NEGATIVE_INFINITY
  for (let first = 0; first < sentences.length; first++) {
    const window = { sum: 0, count: 0, met: 0, metCount: 0, isForeign: false }
    for (let last = first; last < Math.min(sentences.length, first + WINDOW); last++) {
      const sentence = sentences[last]
      if (!sentence) break
      window.sum += sentence.sum
      window.count += sentence.count
      window.met += sentence.met
      window.metCount += sentence.metCount
      window.isForeign ||= sentence.isForeign
      const share = shareOf(window)
      const score = more + BIAS + (window.sum * share.word + window.met * share.concept) * SCALE
      best = Math.max(best, score)
      if (score > thresholdOf(window) + rise) parts.push([sentences[first]?.from ?? 0, sentence.to])
    }
  }
  return { parts: merged(parts), score: 1 / (1 + Math.exp(-best)) }
}

/** Of a long text more sentences could be taken for an injection by chance: each has to be surer. */
function riseOf(sentences: number): number {
  return RISE * Math.log2(Math.max(1, sentences / SHORT))
}

/**
 * Each has its own, as scores of English and of other languages are not alike: much of what the model was fitted to
 * is English documentation.
 */
export function thresholdOf({ isForeign }: Pick<Sentence, "isForeign">): number {
  return isForeign ? FOREIGN_THRESHOLD : THRESHOLD
}

type Counts = Pick<Sentence, "count" | "metCount">

/** What the weights of words and of concepts count, so that a long sentence weighs little more than a short one. */
export function shareOf({ count, metCount }: Counts): { word: number; concept: number } {
  return { word: 2 / Math.sqrt(count + 6), concept: 1 / Math.cbrt(metCount + 1) }
}

/** Parts in order, those that overlap as one. */
function merged(parts: readonly Part[]): Part[] {
  const found: Part[] = []
  for (const [from, to] of parts) {
    const last = found.at(-1)
    if (last && from < last[1]) found[found.length - 1] = [last[0], Math.max(last[1], to)]
    else found.push([from, to])
  }
  return found
}
