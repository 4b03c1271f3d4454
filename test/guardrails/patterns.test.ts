import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { runToCompletion, BudgetExceeded, WorkBudget, SCAN_BUDGET } from "../../src/guardrails/content/work-budget.ts"
import { addPattern, NO_SIZES, problemOf, programOf } from "../../src/guardrails/content/patterns/pattern.ts"
import { compileProgram } from "../../src/guardrails/content/patterns/program.ts"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { NfaScanner, type Span } from "../../src/guardrails/content/patterns/nfa-scanner.ts"
import { findFirst, findRanges, Searcher, searcherOf } from "../../src/guardrails/content/patterns/dfa-search.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { adversarialTexts, randomPattern, seeded } from "../support/random-patterns.ts"
import { runs } from "../support/runs.ts"
import { PLAIN_CALL } from "../support/screening.ts"

/** Matches of an NFA simulation, with overlapping ones merged. */
function byThreads(pattern: string, text: string): Span[] {
  const found: Span[] = []
  const scanner = new NfaScanner(
    compileProgram(pattern),
    { limit: Number.POSITIVE_INFINITY, longestOnly: false },
    (span) => found.push(span),
  )
  scanner.push(text, true)
  const merged: Span[] = []
  for (const span of found.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = merged.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ ...span })
  }
  return merged
}

const PATTERNS = [
  ..."a+b|ab\\|ba|\\bab\\b|a.c|(?:ab)+|^a|b$|a{2,3}|[^a]b|a(?:b\\|bc)d?|\\Bb|ab*|a.{0,5}b|a.{2,5}b"
    .split(/(?<!\\)\|/)
    .map((pattern) => pattern.replaceAll("\\|", "|")),
  "(?i)ab.{0,3}k",
  "\\ba.{0,4}\\b",
  "(?m)^a.*$",
  "é+",
  "a.{3}b",
  "(a|b){0,4}c",
  "😀.",
  "a?b?c?",
  "(?:a|b)(?:c|d){0,6}d",
]
const unit = fc.constantFrom("a", "b", "c", "d", " ", "\n", "é", "😀", "K", "\u212a", "\ud83d")

describe("a search by tables", () => {
  test("finds the matches of an NFA simulation", () => {
    fc.assert(
      fc.property(fc.constantFrom(...PATTERNS), fc.string({ unit, maxLength: 40 }), (pattern, text) => {
        const searcher = searcherOf(programOf(pattern))
        const expected = byThreads(pattern, text)
        expect(runToCompletion(findRanges(searcher, text, new WorkBudget())).toSpans()).toEqual(expected)
        expect(runToCompletion(findFirst(searcher, text, new WorkBudget())) !== undefined).toBe(expected.length > 0)
      }),
      { numRuns: runs(4) },
    )
  })

  test("finds them in texts of many blocks, and after its tables are evicted", () => {
    const random = seeded(3)
    for (const pattern of PATTERNS) {
      const text = Array.from({ length: 6_000 }, () => "aabbcd \n😀"[Math.floor(random() * 9)]).join("")
      const far = `${"z".repeat(2_047)}${text.slice(0, 30)}${"z".repeat(4_090)}${text.slice(0, 900)}`
      const searcher = new Searcher(compileProgram(pattern))
      for (const one of [text, far]) {
        const steps = findRanges(searcher, one, new WorkBudget())
        // Another search may evict the tables between any two steps of this one.
        for (;;) {
          searcher.forward.clear()
          searcher.backward.clear()
          const { done, value } = steps.next()
          if (done) {
            expect(value.toSpans()).toEqual(byThreads(pattern, one))
            break
          }
        }
      }
    }
  })
})

describe("a pattern", () => {
  test.each([
    // Took 28 s for 400 kB without the limit.
    ".{0,1000}.{0,1000}x",
    "a.{20}b",
    "(?:a|b){0,9}a(?:a|b){16}c",
    "(?:a?){1000}b",
    "a".repeat(100_000),
  ])("with too many states is rejected: %.30s", (pattern) => {
    expect(addPattern(pattern, NO_SIZES)).toMatch(/cannot be searched at 20 MB per second/)
  })

  test.each([
    "(?i)ignore.{0,50}instructions",
    "(?i)(ignore|disregard|forget).{0,50}(instructions|rules|prompts)",
    "(?i)\\b(?:alice|bob|carol)\\b.{0,64}salary",
    "\\b\\d{3}[- ]?\\d{2}[- ]?\\d{4}\\b",
    "[\\pL\\pN_][\\pL\\pN._%+'-]*@[\\pL\\pN-]+\\.[a-z]+",
    "PROJECT-[0-9]+x*",
    ".*confidential.*",
    Array.from({ length: 300 }, (_, at) => `word${at}`).join("|"),
  ])("of common form is accepted: %.60s", (pattern) => {
    expect(addPattern(pattern, NO_SIZES)).not.toBeTypeOf("string")
  })

  test.each([
    ["a*", /matches the empty string/],
    ["(?:x|)", /matches the empty string/],
    [".", /matches nearly every text/],
    ["\\w+", /matches nearly every text/],
    ["\\s", /matches nearly every text/],
  ])("that matches nearly everything is rejected with the reason: %s", (pattern, reason) => {
    expect(addPattern(pattern, NO_SIZES)).toMatch(reason)
  })

  test("is rejected if the patterns of a guardrail together exceed the step limit", () => {
    expect(problemOf("b".repeat(70_000), 70_000)).toMatch(/is too large together/)
  })

  test("that is accepted takes little work on any text, hostile texts included", () => {
    const random = seeded(11)
    for (let taken = 0; taken < runs(1);) {
      const pattern = randomPattern(random)
      const added = addPattern(pattern, NO_SIZES)
      if (typeof added === "string") continue
      taken++
      const searcher = searcherOf(programOf(pattern))
      for (const text of adversarialTexts(pattern, 2_048, random)) {
        const budget = new WorkBudget()
        runToCompletion(findFirst(searcher, text, budget))
        runToCompletion(findRanges(searcher, text, budget))
        const warm = new WorkBudget()
        runToCompletion(findFirst(searcher, text, warm))
        runToCompletion(findRanges(searcher, text, warm))
        // 7 steps a character with cached tables, 60 if each character is a match.
        expect(warm.spent, pattern).toBeLessThan(text.length * 100)
        expect(budget.spent, pattern).toBeLessThan(added.work + text.length * 1000)
      }
    }
  })
})

describe("the scan budget", () => {
  const settings = (action: "block" | "redact", pattern: string) => [{ content_filters: [{ action, pattern }] }]

  test.each(["block", "redact"] as const)(
    "ends the scan of a stored pattern that would be rejected now: %s",
    (action) => {
      const refused: string[] = []
      const budget = new WorkBudget()
      const filter = new TextFilter(combineRules(settings(action, ".{0,1000}.{0,1000}x")), plainCodec(), () => {}, {
        budget,
        onUnchecked: ({ detector }) => refused.push(detector.name),
      })
      const reported = filter.push(`${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(170), true)
      if (action === "block") return expect(refused).toEqual([])
      expect(reported).toBe("")
      expect(refused).toEqual([".{0,1000}.{0,1000}x"])
      expect(filter.isBlocked).toBe(true)
    },
  )

  test("holds for a chunked text, after which nothing more is sent", () => {
    const budget = new WorkBudget(1_000_000)
    const filter = new TextFilter(combineRules(settings("redact", ".{0,1000}x")), plainCodec(), () => {}, { budget })
    for (let at = 0; at < 100; at++) filter.push("a".repeat(100), false)
    expect(filter.isBlocked).toBe(true)
    expect(filter.push("x", true)).toBe("")
    expect(budget.spent).toBeLessThan(2_000_000)
  })

  const screening = () => {
    const rules = JSON.stringify(settings("redact", ".{0,1000}.{0,1000}x")[0])
    const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null }
    const applied = {
      ...row,
      includeByokInBudgets: false,
      rules,
      byKey: true,
      byMember: false,
      keyHash: "k",
      userId: null,
    }
    return screeningOf(toAppliedGuardrails([applied]), PLAIN_CALL)
  }
  const HOSTILE = `${"a".repeat(900)}x${"a".repeat(1_500)}`.repeat(170)

  test("rejects a request that could not be scanned with guardrail_unchecked", async () => {
    const sent = { messages: [{ role: "user", content: HOSTILE }] }
    await expect(screening()?.request(sent)).rejects.toMatchObject({
      code: "forbidden",
      metadata: { reason: "guardrail_unchecked", patterns: [".{0,1000}.{0,1000}x"] },
    })
    const short = { messages: [{ role: "user", content: "ax" }] }
    expect(await screening()?.request(short)).toEqual({ messages: [{ role: "user", content: "[REDACTED]" }] })
  })

  test("ends a response that could not be scanned with guardrail_unchecked", async () => {
    const answer = { choices: [{ index: 0, message: { role: "assistant", content: HOSTILE } }] }
    await expect(screening()?.response(answer)).rejects.toMatchObject({ metadata: { reason: "guardrail_unchecked" } })
    const filter = screening()?.responseFilter()
    const reported: unknown[] = []
    for (let at = 0; at < HOSTILE.length && !filter?.isBlocked; at += 1_000) {
      const delta = { content: HOSTILE.slice(at, at + 1_000).replaceAll("x", "y") }
      reported.push(...(filter?.chunk({ id: "x", choices: [{ index: 0, delta, finish_reason: null }] }) ?? []))
    }
    expect(filter?.blockError()?.metadata).toMatchObject({ reason: "guardrail_unchecked" })
    expect(filter?.end()).toEqual([])
  })

  test("yields to other work while a long request is scanned", async () => {
    let turns = 0
    let isDone = false
    const reading = screening()?.request({ messages: [{ role: "user", content: "b".repeat(12_000_000) }] })
    void reading?.finally(() => (isDone = true))
    for (; !isDone; turns++) await new Promise((resolve) => setTimeout(resolve, 0))
    expect(turns).toBeGreaterThan(3)
  })

  test("throws BudgetExceeded when it is spent", () => {
    const budget = new WorkBudget(10)
    expect(() => runToCompletion(findFirst(searcherOf(programOf("a")), "b".repeat(11), budget))).toThrow(BudgetExceeded)
    expect(SCAN_BUDGET).toBeLessThanOrEqual(150_000_000)
  })
})
