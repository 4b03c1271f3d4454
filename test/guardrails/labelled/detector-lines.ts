import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import type { BuiltinSlug } from "../../../src/guardrails/schemas.ts"
import { findingsOf, percent, type Score } from "./measure.ts"
import { type FormatLine, toFormatLine } from "./value-formats.ts"

/** The sets in the order in which they were written; each was scored before the detectors changed because of it. */
export const LINE_SETS = ["tuning", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] as const
export type LineSet = (typeof LINE_SETS)[number]

/** A finding in a text with this label is neither right nor wrong. */
const UNCLEAR = "unclear"

type Span = { start: number; end: number }
const overlaps = (one: Span, other: Span) => one.start < other.end && other.start < one.end
const covers = (outer: Span, inner: Span) => outer.start <= inner.start && outer.end >= inner.end

/** Lines such as `en export TOKEN={{secrets|ghp_⟦w 36⟧}}`, after the language. */
export function detectorLines(set: LineSet): FormatLine[] {
  const folder = path.join(import.meta.dirname, "../../fixtures/detectors", set)
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n"))
    .map((written) => toFormatLine(written.slice(3)))
}

/** A label is found if a finding covers it; a finding is right if it overlaps a label. */
export function scoreLines(slug: BuiltinSlug, sets: readonly LineSet[]): Score {
  const lines = sets.flatMap(detectorLines)
  const mistakes: string[] = []
  let [labels, found, findings, right, alarms] = [0, 0, 0, 0, 0]
  for (const { text, labels: all } of lines) {
    const scoped = all.filter((label) => label.slug === slug)
    const unclear = all.filter((label) => label.slug === UNCLEAR)
    const spans = findingsOf(slug, text).filter((span) => !unclear.some((label) => overlaps(span, label)))
    const missed = scoped.filter((label) => !spans.some((span) => covers(span, label)))
    const wrong = spans.filter((span) => !scoped.some((label) => overlaps(span, label)))
    labels += scoped.length
    found += scoped.length - missed.length
    findings += spans.length
    right += spans.length - wrong.length
    if (wrong.length > 0 && all.length === 0) alarms++
    for (const { start, end } of missed) mistakes.push(`${slug} missed: ${text.slice(start, end)} in: ${text}`)
    for (const { start, end } of wrong) mistakes.push(`${slug} false alarm: ${text.slice(start, end)} in: ${text}`)
  }
  const ordinary = lines.filter((line) => line.labels.length === 0).length
  const [recall, precision] = [found / labels, findings === 0 ? 1 : right / findings]
  const report = `${slug}, ${sets.join(", ")}: recall ${percent(recall)} of ${labels}, precision ${percent(precision)}, false alarms in ${alarms} of ${ordinary} ordinary lines`
  return { recall, precision, alarms: alarms / ordinary, report, mistakes }
}
