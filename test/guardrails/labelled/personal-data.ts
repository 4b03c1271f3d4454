import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { type LabelledLine, toLine } from "../../support/labelled-line.ts"
import { findingsOf, percent } from "./measure.ts"
import type { Half } from "./secrets.ts"

/** The detectors of personal data. */
export const PERSONAL_DATA = [
  "email",
  "phone",
  "ssn",
  "credit-card",
  "iban",
  "ip-address",
  "person-name",
  "address",
] as const
export type PersonalDataSlug = (typeof PERSONAL_DATA)[number]

type Line = LabelledLine & { language: string }

const folder = path.join(import.meta.dirname, "../../fixtures/personal-data")

const halfOfLine = (written: string): Half =>
  Number.parseInt(createHash("sha256").update(written).digest("hex").slice(0, 2), 16) % 2 === 0 ? "tuning" : "unseen"

/** Lines written after the detectors were tuned: the first were then used to tune them, the later ones were not. */
const COMPLETE_FILES: Readonly<Record<string, Half>> = { "tuning.txt": "tuning", "later.txt": "unseen" }

/** Lines of one half, `en A line with {{email|ann@example.com}}`. The half follows from the line: new lines move none. */
export function personalDataLines(half: Half): Line[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => {
      const lines = readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n")
      return lines.filter((line) => (COMPLETE_FILES[file] ?? halfOfLine(line)) === half)
    })
    .map((written) => ({
      language: written.slice(0, 2),
      ...toLine(written.slice(3).replaceAll(String.raw`\n`, "\n")),
    }))
}

type Count = { found: number; labels: number }
export type PersonalDataScore = {
  recall: number
  precision: number
  alarms: number
  reports: string[]
  mistakes: string[]
}

/** A label is found if a finding covers it; a finding is right if it overlaps a label. */
export function scorePersonalData(slug: PersonalDataSlug, half: Half): PersonalDataScore {
  const lines = personalDataLines(half)
  const languages = new Map<string, Count>()
  const mistakes: string[] = []
  let [findings, right, alarms] = [0, 0, 0]
  for (const { text, labels, language } of lines) {
    const own = labels.filter((label) => label.slug === slug)
    const spans = findingsOf(slug, text)
    const count = languages.get(language) ?? { found: 0, labels: 0 }
    languages.set(language, count)
    for (const { start, end } of own) {
      count.labels++
      if (spans.some((span) => span.start <= start && span.end >= end)) count.found++
      else mistakes.push(`${slug} missed, ${language}: ${text.slice(start, end)} in: ${text}`)
    }
    const wrong = spans.filter((span) => !own.some(({ start, end }) => span.start < end && span.end > start))
    findings += spans.length
    right += spans.length - wrong.length
    if (wrong.length > 0 && labels.length === 0) alarms++
    mistakes.push(
      ...wrong.map(({ start, end }) => `${slug} false alarm, ${language}: ${text.slice(start, end)} in: ${text}`),
    )
  }
  const ordinary = lines.filter(({ labels }) => labels.length === 0).length
  const all = [...languages.values()]
  const labels = all.reduce((sum, one) => sum + one.labels, 0)
  const recall = all.reduce((sum, one) => sum + one.found, 0) / labels
  const precision = findings === 0 ? 1 : right / findings
  const shares = [...languages]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .filter(([, one]) => one.labels > 0)
    .map(([language, one]) => `${language} ${one.found}/${one.labels}`)
  const reports = [
    `${slug}, ${half} half: recall ${percent(recall)} of ${labels}, precision ${percent(precision)}, false alarms in ${alarms} of ${ordinary} ordinary lines`,
    `  found by language: ${shares.join(", ")}`,
  ]
  return { recall, precision, alarms: alarms / ordinary, reports, mistakes }
}
