import { COST, type Meter } from "../content/meter.ts"
import { decodeBase64 } from "../../support/encoding.ts"
import type { Part } from "./detector.ts"
import { sentencesOf } from "./injection-features.ts"
import { BIAS, SCALE, WEIGHTS } from "./injection-weights.ts"

/** Chosen on the tuning half of the labelled prompts: one false alarm in 200. */
const THRESHOLD = 2
/** Sentences that are weighed together. */
const WINDOW = 2
/** Most that the sequences of letters of a sentence add to its score, in practice. */
const MOST_OF_LETTERS = 3

let weights: Int8Array | undefined

function weightsOf(): Int8Array {
  return new Int8Array(decodeBase64(WEIGHTS)?.buffer ?? new ArrayBuffer(0))
}

/** The stretches of a text that the linear model takes for injections, and the highest probability in the text. */
export function scoreInjections(text: string, meter: Meter): { parts: Part[]; score: number } {
  meter.spend(text.length * COST.weighed)
  const known = (weights ??= weightsOf())
  const least = (THRESHOLD - BIAS - MOST_OF_LETTERS) / SCALE
  const sentences = sentencesOf(text, (feature) => known[feature] ?? 0, least)
  const parts: Part[] = []
  let best = Number.NEGATIVE_INFINITY
  for (let first = 0; first < sentences.length; first++) {
    let [sum, count, met] = [0, 0, 0]
    for (let last = first; last < Math.min(sentences.length, first + WINDOW); last++) {
      const sentence = sentences[last]
      if (!sentence) break
      sum += sentence.sum
      count += sentence.count
      met += sentence.met
      const score = BIAS + (sum / Math.sqrt(count) + met) * SCALE
      best = Math.max(best, score)
      if (score > THRESHOLD) parts.push([sentences[first]?.from ?? 0, sentence.to])
    }
  }
  return { parts: merged(parts), score: 1 / (1 + Math.exp(-best)) }
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
