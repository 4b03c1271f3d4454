/**
 * `npm run guardrails:train`: fits the model that finds prompt injections to the labelled prompts and writes its
 * weights. The same prompts give the same weights.
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { type Script, SCRIPT } from "../../src/guardrails/detectors/injection/characters.ts"
import { crossValidated, fit, type Scored, SEEDS, samplesOf } from "./fit.ts"
import { percent } from "./labelled/measure.ts"
import { type Training, trainingPrompts } from "./labelled/training.ts"

/**
 * False alarms by cross-validation: on prompts as people send them, with a margin to the 0.5 % that are accepted, on
 * ordinary lines, many of which were written because they resemble attacks, and on prompts that quote attacks or write
 * prompts.
 */
const REQUEST_ALARMS = 0.005
const ORDINARY_ALARMS = 0.012
const LOOKALIKE_ALARMS = 0.06
const TARGET = path.join(import.meta.dirname, "../../src/guardrails/detectors/injection/weights.ts")

/** The code that `unpackWeights` of injection-model.ts reads. `weights`: multiples of the scale, by bucket. */
export function packed(weights: ArrayLike<number>): { bytes: Buffer; count: number } {
  const bytes: number[] = []
  let length = 0
  const put = (bit: number) => {
    const at = length++ >> 3
    bytes[at] = ((bytes[at] ?? 0) << 1) | bit
  }
  const putUnary = (ones: number) => {
    for (let one = 0; one < ones; one++) put(1)
    put(0)
  }
  let [last, count] = [-1, 0]
  for (let feature = 0; feature < weights.length; feature++) {
    const weight = weights[feature] ?? 0
    if (weight === 0) continue
    const skipped = feature - last - 1
    putUnary(skipped >> 1)
    put(skipped & 1)
    put(weight < 0 ? 1 : 0)
    putUnary(Math.abs(weight) - 1)
    last = feature
    count++
  }
  while (length % 8 !== 0) put(0)
  return { bytes: Buffer.from(bytes), count }
}

/**
 * The score that a share of prompts exceeds: a mean of those that half to twice the share exceeds, because a single one
 * differs much from one fit to another. The scores decrease.
 */
function scoreAt(scores: readonly number[], share: number): number {
  const rank = scores.length * share
  const nearby = scores.slice(Math.floor(rank / 2), Math.ceil(rank * 2))
  const weights = nearby.map((_, at) => 1 / (rank / 2 + at + 1))
  const sum = nearby.reduce((total, score, at) => total + score * (weights[at] ?? 0), 0)
  return sum / weights.reduce((total, weight) => total + weight, 0)
}

/** The lowest score that few enough ordinary prompts exceed. */
function thresholdFor(prompts: readonly Training[], scores: readonly Scored[], script: Script): number {
  const scored = (of: (prompt: Training) => boolean) =>
    scores
      .filter((one, at) => one.script === script && of(prompts[at] as Training))
      .map(({ score }) => score)
      .toSorted((one, other) => other - one)
  const isOrdinary = ({ isAttack, isLookalike, isDocument }: Training) => !isAttack && !isLookalike && !isDocument
  return Math.max(
    scoreAt(
      scored((one) => one.isRequest === true),
      REQUEST_ALARMS,
    ),
    scoreAt(
      scored((one) => isOrdinary(one) && one.isRequest !== true),
      ORDINARY_ALARMS,
    ),
    scoreAt(
      scored((one) => one.isLookalike === true),
      LOOKALIKE_ALARMS,
    ),
  )
}

export const sourceOf = (prompts: readonly unknown[]) =>
  createHash("sha256").update(JSON.stringify(prompts)).digest("hex")

if (process.argv[1] === import.meta.filename) {
  const prompts = trainingPrompts()
  const samples = samplesOf(prompts)
  const scores = crossValidated(samples, SEEDS)
  const thresholds = Object.values(SCRIPT).map((script) => thresholdFor(prompts, scores, script))
  const thresholdOf = ({ script }: Scored) => thresholds[script] ?? 0
  const isFound = (scored: Scored) => scored.score > thresholdOf(scored)
  const attacks = scores.filter((_, at) => prompts[at]?.isAttack)
  const found = attacks.filter(isFound).length
  const model = fit(samples, { seeds: SEEDS })
  const { bytes, count } = packed(model.weights.map((weight) => Math.round(weight / model.scale)))
  writeFileSync(
    TARGET,
    [
      "/** Written by `npm run guardrails:train`. The weights of features (injection-features.ts), in base64. */",
      `export const SCALE = ${Number(model.scale.toPrecision(8))}`,
      `export const BIAS = ${Number(model.bias.toPrecision(8))}`,
      `/** By SCRIPT. By cross-validation, at most ${percent(REQUEST_ALARMS)} of prompts as people send them score more. */`,
      `export const THRESHOLDS = [${thresholds.map((one) => one.toPrecision(4)).join(", ")}] as const`,
      "/** SHA-256 of the prompts that the model was fitted to. */",
      `export const SOURCE = "${sourceOf(prompts)}"`,
      "/** Number of weights. */",
      `export const COUNT = ${count}`,
      `export const WEIGHTS =\n  "${bytes.toString("base64")}"`,
      "",
    ].join("\n"),
  )
  console.info(
    `${prompts.length} prompts, ${readFileSync(TARGET).length} bytes; cross-validated: ` +
      `recall ${percent(found / attacks.length)} above ${thresholds.map((one) => one.toFixed(2)).join(", ")}`,
  )
  if (process.argv[2] === "mistakes")
    for (const [at, { text, isAttack }] of prompts.entries()) {
      const scored = scores[at] as Scored
      const [{ score }, limit] = [scored, thresholdOf(scored)]
      const isNear = isAttack ? score <= limit : score > limit - 1.5
      if (isNear) console.info(`${isAttack ? "missed" : "alarm"} ${score.toFixed(2)}: ${text}`)
    }
}
