import { combineRules } from "../../../src/guardrails/content/rules.ts"
import { plainUnits, TextFilter } from "../../../src/guardrails/content/text-filter.ts"
import type { BuiltinSlug } from "../../../src/guardrails/schemas.ts"
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
