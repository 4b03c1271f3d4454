import { describe, expect, test } from "vitest"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { PERSONAL_DATA, personalDataLines, type PersonalDataSlug, scorePersonalData } from "./labelled/personal-data.ts"
import { findingsOf } from "./labelled/measure.ts"
import { seeded } from "../support/random-patterns.ts"

const HALVES = ["tuning", "unseen"] as const

function redacted(slug: PersonalDataSlug, pieces: readonly string[]): string {
  const rules = combineRules([{ content_filter_builtins: [{ slug, action: "redact" }] }])
  const filter = new TextFilter(rules, plainCodec(), () => {})
  return pieces.map((piece, at) => filter.push(piece, at === pieces.length - 1)).join("")
}

describe.each(PERSONAL_DATA)("%s", (slug) => {
  test.each(HALVES)("has a recall of 0.95 and a precision of 0.97 on the %s half", (half) => {
    const { recall, precision, alarms, reports, mistakes } = scorePersonalData(slug, half)
    console.info(reports.join("\n"))
    // The lines of the unseen half stay unseen.
    const shown = half === "tuning" ? mistakes.join("\n") : reports[0]
    expect(recall, shown).toBeGreaterThanOrEqual(0.95)
    expect(precision, shown).toBeGreaterThanOrEqual(0.97)
    expect(alarms, shown).toBeLessThan(0.01)
  })

  test("is found in a stream as in a complete text", () => {
    const random = seeded(slug.length)
    for (const { text } of HALVES.flatMap(personalDataLines)) {
      const cut = Math.floor(random() * text.length)
      const pieces = [text.slice(0, cut), text.slice(cut), ""]
      expect(redacted(slug, pieces), text).toBe(redacted(slug, [text]))
    }
  })
})

test("each half has labels of every detector and 200 ordinary lines", () => {
  for (const half of HALVES) {
    const lines = personalDataLines(half)
    expect(lines.filter(({ labels }) => labels.length === 0).length).toBeGreaterThanOrEqual(200)
    for (const slug of PERSONAL_DATA)
      expect(lines.filter(({ labels }) => labels.some((label) => label.slug === slug)).length).toBeGreaterThan(40)
  }
})

const found = (slug: PersonalDataSlug, text: string) =>
  findingsOf(slug, text).map(({ start, end }) => text.slice(start, end))

test.each<[PersonalDataSlug, string, string]>([
  ["phone", "Bitte um Rückruf (0151-12345678 nach sechs)", "0151-12345678"],
  ["phone", "the number is 2125550187", "2125550187"],
  ["email", "write to ada(at)example.com", "ada(at)example.com"],
  ["email", "user=ada%40example.com", "ada%40example.com"],
  ["ip-address", "203[.]0[.]113[.]7 is malicious", "203[.]0[.]113[.]7"],
  ["ip-address", "192.168.000.001 does not answer", "192.168.000.001"],
  ["address", "Send it to Unit 5, Riverside Business Park", "Unit 5, Riverside Business Park"],
  ["address", "wir wohnen Am Markt 3, 28195 Bremen", "Am Markt 3, 28195 Bremen"],
  ["person-name", "Ask Professor Zaphod Beeblebrox", "Professor Zaphod Beeblebrox"],
  ["person-name", "Michael's laptop is broken", "Michael"],
  ["person-name", "Nguyễn Văn An joined", "Nguyễn Văn An"],
  ["person-name", "I met Jean-Luc Picard there", "Jean-Luc Picard"],
  ["person-name", "我是李明的同事", "李明"],
  ["person-name", "客户王芳投诉了两次", "王芳"],
  ["person-name", "联系人：王小明", "王小明"],
])("%s: finds the whole of %s", (slug, text, value) => {
  expect(found(slug, text)).toContain(value)
})

test.each<[PersonalDataSlug, string]>([
  ["phone", "order number 2125550187"],
  ["phone", "Meine Social Security Number lautet 398-12-6657"],
  ["phone", "changes: calls of 3.1 (2020-12)"],
  ["ip-address", "Artikel 2.1.3.4 der Verordnung"],
  ["ip-address", "firmware 1.2.3.4-beta"],
  ["address", "a 24 Hour Drive through the desert"],
  ["address", "Der Platz 3 ging an Italien"],
  ["address", "on May 5, 2024 Berlin celebrated"],
  ["person-name", "Johnson & Johnson and Morgan Stanley"],
  ["person-name", "Saint Nicholas Church and Lake Victoria"],
  ["person-name", "14 avenue Victor Hugo"],
  ["person-name", "Translate it into German"],
  ["person-name", "Dear Hiring Manager, dear Customer Support"],
  ["person-name", "Valentine's Day offers"],
  ["person-name", "我是程序员，同事马上到"],
  ["person-name", "我是高中老师，客户于昨天下单"],
  ["person-name", "Pani SMS-em dostanie kod"],
  ["person-name", "Anh chuyển vào trong"],
  ["person-name", "كتبت اسمي أول مرة"],
])("%s: finds nothing in %s", (slug, text) => {
  expect(found(slug, text)).toEqual([])
})
