import { readFileSync } from "node:fs"
import path from "node:path"
import { LOOKALIKE, prompts, REQUEST } from "./injections.ts"
import { ordinaryLines } from "./secrets.ts"

/** Texts of one group are never in both the training and the test set. */
export type Training = {
  text: string
  isAttack: boolean
  isLookalike?: boolean
  isRequest?: boolean
  isDocument?: boolean
  group?: string
}

const fixtures = path.join(import.meta.dirname, "../../fixtures")

/** Labelled lines of all detectors; those with the label of another detector count as ordinary. */
function corpusPrompts(): Training[] {
  return readFileSync(path.join(fixtures, "guardrail-corpus.txt"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => ({
      text: line.replaceAll(/\{\{[a-z-]+\|(.*?)\}\}(?!\})/g, "$1"),
      isAttack: line.includes("{{regex-prompt-injection|"),
    }))
}

/** Sentences of technical documentation. */
function documentation(): Training[] {
  return readFileSync(path.join(fixtures, "injection-ordinary.txt"), "utf8")
    .trimEnd()
    .split("\n")
    .map((text) => ({ text, isAttack: false }))
}

/** Parts of this project's documents and sources that models took for attacks. */
function documents(): Training[] {
  return readFileSync(path.join(fixtures, "injection-documents.txt"), "utf8")
    .trimEnd()
    .split("\n%%\n")
    .map((text) => ({ text, isAttack: false, isDocument: true }))
}

/** All labelled texts that the model is fitted to. */
export function trainingPrompts(): Training[] {
  return [
    ...[...prompts("tuning"), ...prompts("unseen")].map(({ family, text, isAttack, group }) => ({
      isLookalike: family === LOOKALIKE,
      isRequest: family === REQUEST,
      text,
      isAttack,
      group,
    })),
    ...corpusPrompts(),
    ...documentation(),
    ...documents(),
    ...ordinaryLines("tuning").map(({ text }) => ({ text, isAttack: false })),
  ]
}
