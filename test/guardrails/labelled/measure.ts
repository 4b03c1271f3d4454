import { WorkBudget } from "../../../src/guardrails/content/work-budget.ts"
import { combineRules } from "../../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../../src/guardrails/content/texts/text-codec.ts"
import { findPhrases } from "../../../src/guardrails/detectors/injection/injection.ts"
import { thresholdOf } from "../../../src/guardrails/detectors/injection/model.ts"
import { prefilterForAll } from "../../../src/guardrails/detectors/detector-prefilter.ts"
import type { BuiltinSlug } from "../../../src/guardrails/schemas.ts"
import { type CrossValidation, crossValidatedPart, FOLDS, samplesOf } from "../fit.ts"
import { blindPrompts, LOOKALIKE, type Prompt, prompts } from "./injections.ts"
import { type Half, ordinaryLines, secretLines } from "./secrets.ts"
import { trainingPrompts } from "./training.ts"

export type Score = { recall: number; precision: number; alarms: number; report: string; mistakes: string[] }
type Span = { start: number; end: number }

export const percent = (share: number) => `${(share * 100).toFixed(1)} %`

const rulesBySlug = new Map<BuiltinSlug, ReturnType<typeof combineRules>>()

export function redactionRules(slug: BuiltinSlug): ReturnType<typeof combineRules> {
  const rules = rulesBySlug.get(slug) ?? combineRules([{ content_filter_builtins: [{ slug, action: "redact" }] }])
  rulesBySlug.set(slug, rules)
  return rules
}

export function findingsOf(slug: BuiltinSlug, text: string): Span[] {
  const found: Span[] = []
  new TextFilter(redactionRules(slug), plainCodec(), ({ start, end }) => found.push({ start, end })).push(text, true)
  return found
}

/** A secret is found if a finding covers it; a finding is right if it overlaps a secret. */
export function scoreSecrets(half: Half): Score {
  const mistakes: string[] = []
  let [found, findings, right, alarms] = [0, 0, 0, 0]
  const lines = secretLines(half)
  for (const { text, family, from, to } of lines) {
    const spans = findingsOf("secrets", text)
    findings += spans.length
    right += spans.filter(({ start, end }) => start < to && end > from).length
    if (spans.some(({ start, end }) => start <= from && end >= to)) found++
    else mistakes.push(`missed, ${family}: ${text}`)
  }
  const ordinary = ordinaryLines(half)
  for (const { text, family } of ordinary) {
    const spans = findingsOf("secrets", text)
    findings += spans.length
    if (spans.length === 0) continue
    alarms++
    mistakes.push(`false alarm, ${family}: ${text}`)
  }
  const [recall, precision] = [found / lines.length, right / findings]
  const report = `secrets, ${half} half: recall ${percent(recall)} of ${lines.length}, precision ${percent(precision)}, false alarms ${alarms} of ${ordinary.length} ordinary lines`
  return { recall, precision, alarms: alarms / ordinary.length, report, mistakes }
}

export type LanguageScore = {
  language: string
  recall: number
  attacks: number
  alarms: number
  ordinary: number
  lookalikeAlarms: number
  lookalikes: number
}

type Finder = (prompt: Pick<Prompt, "text">) => boolean

/** A text is scanned once: a line counts in several figures. */
function remembered(find: (text: string) => boolean): Finder {
  const known = new Map<string, boolean>()
  return ({ text }) => {
    const isFound = known.get(text) ?? find(text)
    known.set(text, isFound)
    return isFound
  }
}

/**
 * Whether a prompt has a finding. The patterns know only the tuning half; each prompt is scored by a model that was
 * fitted without its phrasing. `isTested`: prompts of the tested folds.
 */
export function injectionFinder(validation: CrossValidation = { folds: FOLDS, tested: FOLDS }): {
  isFound: Finder
  isTested: Finder
} {
  const training = trainingPrompts()
  const scores = crossValidatedPart(samplesOf(training), validation)
  const [tested, isAbove] = [new Set<string>(), new Set<string>()]
  for (const [at, { text }] of training.entries()) {
    const scored = scores[at]
    if (!scored) continue
    tested.add(text)
    if (scored.score > thresholdOf(scored)) isAbove.add(text)
  }
  return {
    isTested: ({ text }) => tested.has(text),
    isFound: remembered(
      (text) => isAbove.has(text) || findPhrases(text, prefilterForAll(text), new WorkBudget()).length > 0,
    ),
  }
}

/** By language, the share of attacks with a finding, and of ordinary prompts with one. */
export function scoreInjections(
  all: readonly Prompt[],
  isFound: Finder,
): { languages: LanguageScore[]; mistakes: string[] } {
  const mistakes: string[] = []
  const languages = [...Map.groupBy(all, ({ language }) => language)].map(([language, lines]) => {
    const shareOf = (of: readonly Prompt[]) => of.filter(isFound).length / Math.max(1, of.length)
    const attacks = lines.filter(({ isAttack }) => isAttack)
    const lookalikes = lines.filter(({ family }) => family === LOOKALIKE)
    const ordinary = lines.filter((line) => !line.isAttack && line.family !== LOOKALIKE)
    const alarms = lines.filter((line) => !line.isAttack && isFound(line))
    mistakes.push(...alarms.map(({ text }) => `false alarm, ${language}: ${text}`))
    mistakes.push(...attacks.filter((line) => !isFound(line)).map(({ text }) => `missed, ${language}: ${text}`))
    return {
      language,
      recall: shareOf(attacks),
      attacks: attacks.length,
      alarms: shareOf(ordinary),
      ordinary: ordinary.length,
      lookalikeAlarms: shareOf(lookalikes),
      lookalikes: lookalikes.length,
    }
  })
  return { languages, mistakes }
}

export function totalOf(languages: readonly LanguageScore[]): LanguageScore {
  const sum = (of: (one: LanguageScore) => number) => languages.reduce((total, one) => total + of(one), 0)
  const [attacks, ordinary, lookalikes] = [
    sum((one) => one.attacks),
    sum((one) => one.ordinary),
    sum((one) => one.lookalikes),
  ]
  return {
    language: "all",
    attacks,
    ordinary,
    lookalikes,
    recall: sum((one) => one.recall * one.attacks) / attacks,
    alarms: sum((one) => one.alarms * one.ordinary) / ordinary,
    lookalikeAlarms: sum((one) => one.lookalikeAlarms * one.lookalikes) / lookalikes,
  }
}

/** Whether the detector as it ships, with its weights and patterns, has a finding in a prompt. */
export const isFoundAsShipped = remembered((text) => findingsOf("regex-prompt-injection", text).length > 0)

type Report = { reports: string[]; mistakes: string[] }

export const reportInjections = (half: Half): Report =>
  reportOf(`${half} half`, prompts(half), injectionFinder().isFound)

/** Figures of the detector as it ships for the prompts that it was not fitted to; no mistakes, so none are tuned away. */
export const reportBlind = (): string[] => reportOf("blind", blindPrompts(), isFoundAsShipped).reports

function reportOf(name: string, all: readonly Prompt[], isFound: Finder): Report {
  const { languages, mistakes } = scoreInjections(all, isFound)
  const reports = [...languages, totalOf(languages)].map(
    (one) =>
      `regex-prompt-injection, ${name}, ${one.language}: recall ${percent(one.recall)} of ${one.attacks}, ` +
      `false alarms ${percent(one.alarms)} of ${one.ordinary} ordinary prompts ` +
      `and ${percent(one.lookalikeAlarms)} of ${one.lookalikes} that look like attacks`,
  )
  return { reports, mistakes }
}
