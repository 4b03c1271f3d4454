/**
 * `npm run guardrails:train`: fits the model that finds prompt injections to the tuning half of the labelled prompts and
 * writes its weights. The same prompts give the same weights.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { BUCKETS, sentencesOf } from "../../src/guardrails/detectors/injection-features.ts"
import { trainingPrompts } from "./labelled/training.ts"
import { seeded } from "../support/random-patterns.ts"

const EPOCHS = 20
const RATE = 0.1
const CONCEPT_RATE = 0.2
const DECAY = 3e-4
const TARGET = path.join(import.meta.dirname, "../../src/guardrails/detectors/injection-weights.ts")

type Sample = { features: Uint32Array; concepts: Uint32Array; isAttack: boolean; weight: number }

function samplesOf(text: string, isAttack: boolean, weight: number): Sample {
  const [features, concepts]: [number[], number[]] = [[], []]
  sentencesOf(text, (feature, isConcept) => ((isConcept ? concepts : features).push(feature), 0))
  return { features: Uint32Array.from(features), concepts: Uint32Array.from(concepts), isAttack, weight }
}

export function fit(prompts: readonly { text: string; isAttack: boolean; weight?: number }[]) {
  const samples = prompts.map(({ text, isAttack, weight = 1 }) => samplesOf(text, isAttack, weight))
  const weights = new Float64Array(BUCKETS)
  const squares = new Float64Array(BUCKETS).fill(1e-3)
  let bias = 0
  const random = seeded(29)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (let at = samples.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1))
      ;[samples[at], samples[other]] = [samples[other] as Sample, samples[at] as Sample]
    }
    for (const { features, concepts, isAttack, weight } of samples) {
      if (features.length === 0) continue
      const norm = 1 / Math.sqrt(features.length)
      let score = bias
      for (const feature of features) score += (weights[feature] ?? 0) * norm
      for (const feature of concepts) score += weights[feature] ?? 0
      const error = (1 / (1 + Math.exp(-score)) - (isAttack ? 1 : 0)) * weight
      bias -= 0.01 * error
      const learn = (feature: number, slope: number, rate: number) => {
        squares[feature] = (squares[feature] ?? 0) + slope * slope
        weights[feature] = (weights[feature] ?? 0) - (rate * slope) / Math.sqrt(squares[feature] ?? 1)
      }
      for (const feature of features) learn(feature, error * norm + DECAY * (weights[feature] ?? 0), RATE)
      for (const feature of concepts) learn(feature, error + DECAY * (weights[feature] ?? 0), CONCEPT_RATE)
    }
  }
  return { weights, bias }
}

/** One byte for each weight. */
function quantized(weights: Float64Array): { bytes: Int8Array; scale: number } {
  const most = weights.toSorted((one, other) => Math.abs(other) - Math.abs(one))[64] ?? 1
  const scale = Math.abs(most) / 127
  return { bytes: Int8Array.from(weights, (one) => Math.max(-127, Math.min(127, Math.round(one / scale)))), scale }
}

export const sourceOf = (prompts: readonly unknown[]) =>
  createHash("sha256").update(JSON.stringify(prompts)).digest("hex")

if (process.argv[1] === import.meta.filename) {
  const prompts = trainingPrompts()
  const { weights, bias } = fit(prompts)
  const { bytes, scale } = quantized(weights)
  writeFileSync(
    TARGET,
    [
      "/** Written by `npm run guardrails:train`. One byte for each feature (injection-features.ts), in base64. */",
      `export const SCALE = ${scale.toPrecision(8)}`,
      `export const BIAS = ${bias.toPrecision(8)}`,
      "/** SHA-256 of the prompts that it was fitted to. */",
      `export const SOURCE = "${sourceOf(prompts)}"`,
      `export const WEIGHTS =\n  "${Buffer.from(bytes.buffer).toString("base64")}"`,
      "",
    ].join("\n"),
  )
  console.info(`${prompts.length} prompts, ${readFileSync(TARGET).length} bytes`)
}
