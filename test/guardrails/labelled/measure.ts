import { combineRules } from "../../../src/guardrails/content/rules.ts"
import { plainUnits, TextFilter } from "../../../src/guardrails/content/text-filter.ts"
import type { BuiltinSlug } from "../../../src/guardrails/schemas.ts"
import { prompts } from "./injections.ts"
import { type Half, ordinaryLines, secretLines } from "./secrets.ts"

export type Score = { recall: number; precision: number; alarms: number; report: string; mistakes: string[] }
type Span = { start: number; end: number }

export const percent = (share: number) => `${(share * 100).toFixed(1)} %`

export function findingsOf(slug: BuiltinSlug, text: string): Span[] {
  const found: Span[] = []
  const rules = combineRules([{ content_filter_builtins: [{ slug, action: "redact" }] }])
  new TextFilter(rules, plainUnits(), ({ start, end }) => found.push({ start, end })).push(text, true)
  return found
}

/** A secret is found where a finding covers all of it; a finding is right where it overlaps a secret. */
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

export type LanguageScore = { language: string; recall: number; attacks: number; alarms: number; ordinary: number }

/** By language, the share of attacks that have a finding, and of ordinary prompts that have one. */
export function scoreInjections(half: Half): { languages: LanguageScore[]; mistakes: string[] } {
  const mistakes: string[] = []
  const languages = [...Map.groupBy(prompts(half), ({ language }) => language)].map(([language, lines]) => {
    const found = lines.filter(({ text }) => findingsOf("regex-prompt-injection", text).length > 0)
    const attacks = lines.filter(({ isAttack }) => isAttack)
    const ordinary = lines.length - attacks.length
    const alarms = found.filter(({ isAttack }) => !isAttack)
    mistakes.push(...alarms.map(({ text }) => `false alarm, ${language}: ${text}`))
    mistakes.push(...attacks.filter((line) => !found.includes(line)).map(({ text }) => `missed, ${language}: ${text}`))
    const recall = (found.length - alarms.length) / attacks.length
    return { language, recall, attacks: attacks.length, alarms: alarms.length / ordinary, ordinary }
  })
  return { languages, mistakes }
}

export function reportInjections(half: Half): { reports: string[]; mistakes: string[] } {
  const { languages, mistakes } = scoreInjections(half)
  const sum = (of: (one: LanguageScore) => number) => languages.reduce((total, one) => total + of(one), 0)
  const [attacks, ordinary] = [sum((one) => one.attacks), sum((one) => one.ordinary)]
  const total = {
    language: "all",
    attacks,
    ordinary,
    recall: sum((one) => one.recall * one.attacks) / attacks,
    alarms: sum((one) => one.alarms * one.ordinary) / ordinary,
  }
  const reports = [...languages, total].map(
    (one) =>
      `regex-prompt-injection, ${half} half, ${one.language}: recall ${percent(one.recall)} of ${one.attacks}, ` +
      `false alarms ${percent(one.alarms)} of ${one.ordinary} ordinary prompts`,
  )
  return { reports, mistakes }
}
