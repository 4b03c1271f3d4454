import { createHash } from "node:crypto"
import { type Script, SCRIPT } from "../../src/guardrails/detectors/injection/characters.ts"
import { BUCKETS, extractSentences } from "../../src/guardrails/detectors/injection/features.ts"
import { WorkBudget } from "../../src/guardrails/content/work-budget.ts"
import { decodedTexts } from "../../src/guardrails/detectors/injection/injection.ts"
import {
  DECODED_BONUS,
  MAX_WEIGHT,
  lengthFactors,
  maxScript,
  thresholdIncrease,
  WINDOW_SENTENCES,
} from "../../src/guardrails/detectors/injection/model.ts"
import { prefilterForAll } from "../../src/guardrails/detectors/detector-prefilter.ts"
import { seeded } from "../support/random-patterns.ts"
import type { Training } from "./labelled/training.ts"

const EPOCHS = 12
const RATE = 0.15
const DECAY = 1e-3
/** Number of weights that are kept, the largest: the file of weights is smaller than 300 KB. */
const KEPT = 345_000
/** Number of weights that are larger than the largest that is written. */
const CLIPPED = 4
/** Share of features that are left out of an example in training. */
const DROPPED = 0.35
/** Weight of the error of an attack: an ordinary prompt above the threshold is worse than a missed attack. */
const ATTACK_WEIGHT = 0.5
export const FOLDS = 20
/** The seeds of the fits whose weights are averaged: single fits differ by some percent of recall in a language. */
export const SEEDS = [29, 31, 37] as const
const ONE_SEED = SEEDS.slice(0, 1)

type Window = {
  words: Uint32Array
  concepts: Uint32Array
  script: Script
  factors: ReturnType<typeof lengthFactors>
  /** Added to the score. */
  bonus: number
}
/** `hidden`: windows of the decoded text, which the model is not fitted to. */
export type Sample = { windows: Window[]; hidden: Window[]; isAttack: boolean; group: string; sentences: number }
/** The weights are multiples of the scale. */
export type Model = { weights: Float64Array; bias: number; scale: number }
type Fitted = Pick<Model, "weights" | "bias">
/** `seeds`: one fit for each. `epochs`: how often a fit goes through the samples. */
type FitOptions = { seeds?: readonly number[]; epochs?: number }

/** The windows of a text: each sentence, alone and with the next. */
function windowsOf(text: string, bonus = 0): { windows: Window[]; sentences: number } {
  const [words, concepts]: [number[], number[]] = [[], []]
  const sentences = extractSentences(text, (feature, isConcept) => {
    ;(isConcept ? concepts : words).push(feature)
    return 0
  })
  let [wordFrom, conceptFrom] = [0, 0]
  const windows = sentences.flatMap((sentence, first) => {
    let [wordTo, conceptTo] = [wordFrom, conceptFrom]
    let script: Script = SCRIPT.ascii
    const windows = sentences.slice(first, first + WINDOW_SENTENCES).map((next) => {
      const { wordFeatures, conceptFeatures } = next
      script = maxScript(script, next.script)
      wordTo += wordFeatures
      conceptTo += conceptFeatures
      return {
        words: Uint32Array.from(words.slice(wordFrom, wordTo)),
        concepts: Uint32Array.from(concepts.slice(conceptFrom, conceptTo)),
        script,
        bonus,
        factors: lengthFactors({ wordFeatures: wordTo - wordFrom, conceptFeatures: conceptTo - conceptFrom }),
      }
    })
    wordFrom += sentence.wordFeatures
    conceptFrom += sentence.conceptFeatures
    return windows
  })
  return { windows, sentences: sentences.length }
}

export function samplesOf(prompts: readonly Training[]): Sample[] {
  return prompts.map(({ text, isAttack, group }) => {
    const hidden = decodedTexts(text, prefilterForAll(text), new WorkBudget()).flatMap(
      (one) => windowsOf(one.text, DECODED_BONUS).windows,
    )
    return { ...windowsOf(text), hidden, isAttack, group: group ?? text }
  })
}

function scoreOf({ words, concepts, factors, bonus }: Window, { weights, bias }: Fitted): number {
  let [sum, met] = [0, 0]
  for (const feature of words) sum += weights[feature] ?? 0
  for (const feature of concepts) met += weights[feature] ?? 0
  return bonus + bias + sum * factors.word + met * factors.concept
}

function bestOf(windows: readonly Window[], model: Fitted): { window: Window | undefined; score: number } {
  let best: { window: Window | undefined; score: number } = { window: undefined, score: Number.NEGATIVE_INFINITY }
  for (const window of windows) {
    const score = scoreOf(window, model)
    if (score > best.score) best = { window, score }
  }
  return best
}

/** A window without some of its features, so that the model does not rely on a single one. */
function thinned(window: Window, random: () => number): Window {
  const some = (features: Uint32Array) => {
    const kept = new Uint32Array(features.length)
    let count = 0
    for (const feature of features) if (random() >= DROPPED) kept[count++] = feature
    return kept.subarray(0, count)
  }
  const { word, concept } = window.factors
  const kept = 1 - DROPPED
  return {
    ...window,
    words: some(window.words),
    concepts: some(window.concepts),
    factors: { word: word / kept, concept: concept / kept },
  }
}

/** The mean of one fit for each seed. */
export function fit(samples: readonly Sample[], { seeds = ONE_SEED, epochs = EPOCHS }: FitOptions = {}): Model {
  const { order, buckets } = renumbered(samples)
  const mean = { weights: new Float64Array(buckets.length), bias: 0 }
  for (const seed of seeds) {
    const { weights, bias } = fitOnce(order, { features: buckets.length, seed, epochs })
    mean.bias += bias / seeds.length
    for (const [at, weight] of weights.entries()) mean.weights[at] = (mean.weights[at] ?? 0) + weight / seeds.length
  }
  const all = new Float64Array(BUCKETS)
  for (const [number, bucket] of buckets.entries()) all[bucket] = mean.weights[number] ?? 0
  return { bias: mean.bias, ...rounded(all) }
}

/**
 * Logistic regression with a separate rate for each weight. Only the window of a text with the highest score is learnt
 * from, since one match is enough.
 */
function fitOnce(
  samples: readonly Sample[],
  { features, seed, epochs }: { features: number; seed: number; epochs: number },
): Fitted {
  const order = [...samples]
  const model = { weights: new Float64Array(features), bias: 0 }
  const { weights } = model
  const squares = new Float64Array(features).fill(1e-3)
  const random = seeded(seed)
  const learn = (features: Uint32Array, slope: number) => {
    for (const feature of features) {
      const full = slope + DECAY * (weights[feature] ?? 0)
      squares[feature] = (squares[feature] ?? 0) + full * full
      weights[feature] = (weights[feature] ?? 0) - (RATE * full) / Math.sqrt(squares[feature] ?? 1)
    }
  }
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1))
      ;[order[at], order[other]] = [order[other] as Sample, order[at] as Sample]
    }
    for (const sample of order) {
      const { window: best } = bestOf(sample.windows, model)
      if (!best) continue
      const window = thinned(best, random)
      const score = scoreOf(window, model)
      const probability = 1 / (1 + Math.exp(-score))
      const error = sample.isAttack ? ATTACK_WEIGHT * (probability - 1) : probability
      model.bias -= 0.01 * error
      learn(window.words, error * window.factors.word)
      learn(window.concepts, error * window.factors.concept)
    }
  }
  return model
}

/** The samples with their features numbered from 0, so that the weights in use are next to each other in memory. */
function renumbered(samples: readonly Sample[]): { order: Sample[]; buckets: number[] } {
  const numbers = new Int32Array(BUCKETS).fill(-1)
  const buckets: number[] = []
  const numberOf = (bucket: number) => {
    if (numbers[bucket] === -1) numbers[bucket] = buckets.push(bucket) - 1
    return numbers[bucket] ?? 0
  }
  const order = samples.map((sample) => ({
    ...sample,
    windows: sample.windows.map((window) => ({
      ...window,
      words: window.words.map(numberOf),
      concepts: window.concepts.map(numberOf),
    })),
  }))
  return { order, buckets }
}

/** The weights as they are written, in four bits each. */
function rounded(weights: Float64Array): Pick<Model, "weights" | "scale"> {
  const sizes = weights
    .filter((weight) => weight !== 0)
    .map(Math.abs)
    .sort()
  const least = sizes.at(-KEPT) ?? 0
  const scale = (sizes.at(-CLIPPED) ?? 1) / MAX_WEIGHT
  const levelOf = (weight: number) => Math.max(-MAX_WEIGHT, Math.min(MAX_WEIGHT, Math.round(weight / scale)))
  return { scale, weights: weights.map((weight) => (Math.abs(weight) < least ? 0 : levelOf(weight) * scale)) }
}

/** The score of a text as it is compared with the threshold of the script. */
export type Scored = { score: number; script: Script }

export type CrossValidation = FitOptions & { folds: number; tested: number }

/** By the hash of the name, so that a new group moves no other. */
function foldOfGroup(group: string, folds: number): number {
  return Number.parseInt(createHash("sha256").update(group).digest("hex").slice(0, 8), 16) % folds
}

/** The score of each sample by a model that was fitted without its group. */
export function crossValidated(samples: readonly Sample[], seeds: readonly number[] = ONE_SEED): Scored[] {
  const scores = crossValidatedPart(samples, { folds: FOLDS, tested: FOLDS, seeds })
  return scores.filter((scored) => scored !== undefined)
}

/** The same for the samples of the first `tested` folds; the others have no score. */
export function crossValidatedPart(
  samples: readonly Sample[],
  { folds, tested, ...options }: CrossValidation,
): (Scored | undefined)[] {
  const parts = new Map(
    [...new Set(samples.map(({ group }) => group))].map((group) => [group, foldOfGroup(group, folds)]),
  )
  const foldOf = ({ group }: Sample) => parts.get(group) ?? 0
  const models = Array.from({ length: tested }, (_, fold) =>
    fit(
      samples.filter((one) => foldOf(one) !== fold),
      options,
    ),
  )
  return samples.map((sample) => {
    const model = models[foldOf(sample)]
    if (!model) return undefined
    const { window, score } = bestOf([...sample.windows, ...sample.hidden], model)
    return { score: score - thresholdIncrease(sample.sentences), script: window?.script ?? SCRIPT.ascii }
  })
}
