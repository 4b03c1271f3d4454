import { describe, expect, test } from "vitest"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { corpusLines as lines } from "../support/corpus.ts"
import { BUILTIN_SLUGS, type BuiltinSlug } from "../../src/guardrails/schemas.ts"

const ordinary = lines.filter(({ labels }) => labels.length === 0)

function find(slug: BuiltinSlug, text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = []
  const rules = combineRules([{ content_filter_builtins: [{ slug, action: "flag" }] }])
  new TextFilter(rules, plainCodec(), (finding) => found.push(finding)).push(text, true)
  return found
}

type Span = { start: number; end: number }
const overlaps = (one: Span, other: Span) => one.start < other.end && other.start < one.end
const covers = (outer: Span, inner: Span) => outer.start <= inner.start && outer.end >= inner.end

/** A label is found if a finding covers it; a finding is right if it overlaps a label. */
function measure(slug: BuiltinSlug) {
  const result = {
    labels: 0,
    found: 0,
    findings: 0,
    right: 0,
    falseAlarms: 0,
    wrong: [] as string[],
    missed: [] as string[],
  }
  for (const { text, labels } of lines) {
    const scoped = labels.filter((label) => label.slug === slug)
    const findings = find(slug, text)
    const isFoundBy = slug === "regex-prompt-injection" ? overlaps : covers
    result.labels += scoped.length
    for (const label of scoped) {
      if (findings.some((finding) => isFoundBy(finding, label))) result.found += 1
      else result.missed.push(text)
    }
    // Text labelled for another detector is not ordinary text.
    const right = findings.filter((finding) => scoped.some((label) => overlaps(finding, label)))
    result.findings += findings.length
    result.right += right.length
    if (right.length < findings.length) {
      result.wrong.push(text)
      if (labels.length === 0) result.falseAlarms += 1
    }
  }
  return result
}

/**
 * A little below the measured values, since names and addresses are guesses; `alarms`: most findings in ordinary
 * prompts.
 */
const FLOORS: Readonly<Record<BuiltinSlug, { precision: number; recall: number; alarms: number }>> = {
  email: { precision: 0.99, recall: 0.97, alarms: 0.01 },
  phone: { precision: 0.99, recall: 0.95, alarms: 0.01 },
  ssn: { precision: 0.99, recall: 0.96, alarms: 0.01 },
  "credit-card": { precision: 0.99, recall: 0.96, alarms: 0.01 },
  "ip-address": { precision: 0.99, recall: 0.99, alarms: 0.01 },
  secrets: { precision: 0.97, recall: 0.97, alarms: 0.01 },
  "person-name": { precision: 0.97, recall: 0.95, alarms: 0.01 },
  address: { precision: 0.97, recall: 0.97, alarms: 0.01 },
  "regex-prompt-injection": { precision: 0.99, recall: 0.88, alarms: 0.01 },
  iban: { precision: 0.99, recall: 0.99, alarms: 0.01 },
}

describe(`the detectors on ${lines.length} labelled lines, ${ordinary.length} of them ordinary prompts`, () => {
  test("the corpus has at least 500 labelled and 250 ordinary lines", () => {
    expect(lines.length).toBeGreaterThanOrEqual(500)
    expect(ordinary.length).toBeGreaterThanOrEqual(250)
  })

  test("a complete text has the same findings as a chunked one", () => {
    const reported = (slug: BuiltinSlug, pieces: readonly string[]) => {
      const rules = combineRules([{ content_filter_builtins: [{ slug, action: "redact" }] }])
      const found: Span[] = []
      const filter = new TextFilter(rules, plainCodec(), ({ start, end }) => found.push({ start, end }))
      const last = pieces.length - 1
      const text = pieces.map((piece, at) => filter.push(piece, at === last)).join("")
      return { text, found: found.toSorted((one, other) => one.start - other.start || one.end - other.end) }
    }
    for (let at = 0; at + 3 < lines.length; at += 3) {
      const text = lines
        .slice(at, at + 3)
        .map((line) => line.text)
        .join(at % 2 === 0 ? " " : "\n")
      for (const slug of BUILTIN_SLUGS) {
        if (slug === "regex-prompt-injection") continue
        expect(reported(slug, [text]), text).toEqual(reported(slug, [text.slice(0, 7), text.slice(7), ""]))
      }
    }
  })

  test("a text made to be slow is scanned in linear time", () => {
    const hostile = [
      "ignore ''''-''''-''''",
      "a ",
      "a-",
      "ignore a b c d ",
      "send a a a secrets a a ",
      "0x41 ",
      "(((",
      "aA1+/",
      "+1 2 3 4 ",
      "password password ",
      "A. ",
      "a@a.",
      "1.",
      "a:",
    ]
    for (const piece of hostile) for (const slug of BUILTIN_SLUGS) find(slug, piece.repeat(20_000 / piece.length))
  })

  // Made-up keys are split, so that no source scanner takes them for real ones.
  test.each<[BuiltinSlug, string]>([
    ["phone", "tel:+1-201-555-0123"],
    ["phone", "phone:415-555-2671"],
    ["phone", "mobile=+14155552671"],
    ["phone", "8 (912) 345-67-89"],
    ["phone", "8 912 345 67 89"],
    ["phone", "612 34 56 78"],
    ["phone", "138 1234 5678"],
    ["credit-card", "no. 378282246310005"],
    ["credit-card", "4222222222222"],
    ["email", "ion@firma.md"],
    ["email", "ana@empresa.com.py"],
    ["secrets", ["dckr", "_pat_", "a1B2".repeat(7)].join("")],
    ["secrets", ["sbp", "_", "0a1b".repeat(10)].join("")],
    ["secrets", ["figd", "_", "a1B2".repeat(10)].join("")],
    ["secrets", ["key", "-", "0a1b".repeat(8)].join("")],
    ["secrets", ["sk", "-lf-", "0a1b-".repeat(6)].join("")],
  ])("%s: finds %s", (slug, text) => {
    expect(find(slug, `It is ${text}`)).not.toEqual([])
  })

  test.each<[BuiltinSlug, string]>([
    ["phone", "at 12:0415 5552671"],
    ["phone", "https://a.example/415-555-2671"],
    ["email", "logo@2x.png"],
    ["secrets", "key-value pairs and key-0123"],
  ])("%s: finds nothing in %s", (slug, text) => {
    expect(find(slug, text)).toEqual([])
  })

  test.each(BUILTIN_SLUGS)("%s", (slug) => {
    const { labels, found, findings, right, falseAlarms, wrong, missed } = measure(slug)
    const precision = findings === 0 ? 1 : right / findings
    const recall = found / labels
    const alarms = falseAlarms / ordinary.length
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`
    console.info(
      `${slug}: precision ${percent(precision)}, recall ${percent(recall)} of ${labels}, false alarms ${percent(alarms)}`,
    )
    const reported = JSON.stringify({ wrong, missed }, null, 1)
    expect(precision, reported).toBeGreaterThanOrEqual(FLOORS[slug].precision)
    expect(recall, reported).toBeGreaterThanOrEqual(FLOORS[slug].recall)
    expect(alarms, reported).toBeLessThan(FLOORS[slug].alarms)
  })
})
