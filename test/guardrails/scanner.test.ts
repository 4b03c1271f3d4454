import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compileProgram } from "../../src/guardrails/content/patterns/program.ts"
import { NfaScanner, type Span } from "../../src/guardrails/content/patterns/nfa-scanner.ts"
import { searcherOf } from "../../src/guardrails/content/patterns/dfa-search.ts"
import { StreamScanner } from "../../src/guardrails/content/stream-scanner.ts"
import { runs } from "../support/runs.ts"

const EVERY = { limit: Number.POSITIVE_INFINITY, longestOnly: false }

function scan(pattern: string, pieces: readonly string[]): Span[] {
  const spans: Span[] = []
  const scanner = new NfaScanner(compileProgram(pattern), EVERY, (span) => spans.push(span))
  for (const piece of pieces) scanner.push(piece, false)
  scanner.push("", true)
  return spans
}

/** Marks the code units that are part of a match. */
function covered(spans: readonly Span[], length: number): boolean[] {
  return Array.from({ length }, (_, at) => spans.some(({ start, end }) => start <= at && at < end))
}

/** The same by trying every substring with the runtime's regex engine. */
function coveredByHand(pattern: string, text: string): boolean[] {
  const spans: Span[] = []
  for (let start = 0; start < text.length; start++) {
    for (let end = start + 1; end <= text.length; end++) {
      const found = new RegExp(`(?<=^[^]{${start}})(?:${pattern})(?=[^]{${text.length - end}}$)`).exec(text)
      if (found) spans.push({ start, end })
    }
  }
  return covered(spans, text.length)
}

const PATTERNS = [
  "a+b",
  "ab|ba",
  "\\bab\\b",
  "a.c",
  "(?:ab)+",
  "^a",
  "b$",
  "a{2,3}",
  "[^a]b",
  "a(?:b|bc)d?",
  "\\Bb",
  "ab*",
]

describe("the scanner", () => {
  test("finds the same as trying every substring, however the text is split", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PATTERNS),
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c", "d", " ", "\n", "é"), maxLength: 4 }), {
          maxLength: 4,
        }),
        (pattern, pieces) => {
          const text = pieces.join("")
          const expected = coveredByHand(pattern, text)
          expect(covered(scan(pattern, [text]), text.length)).toEqual(expected)
          expect(covered(scan(pattern, pieces), text.length)).toEqual(expected)
          expect(covered(scan(pattern, text.split("")), text.length)).toEqual(expected)
        },
      ),
      { numRuns: runs(2) },
    )
  })

  test("holds back no more than a match that may have begun", () => {
    const scanner = new NfaScanner(compileProgram("sk-[a-z]{4}"), EVERY, () => {})
    scanner.push("the key is ", false)
    expect(scanner.earliestOpen).toBe(11)
    scanner.push("sk-ab", false)
    expect(scanner.earliestOpen).toBe(11)
    scanner.push("!", false)
    expect(scanner.earliestOpen).toBe(17)
  })

  test("takes time in proportion to the text for every pattern", () => {
    // Backtracking would take 2^100000 steps here, and a search from every position 10^10.
    for (const pattern of ["(?:a+)+$", "(?:a|aa)+b", "a.*b|a"]) scan(pattern, ["a".repeat(100_000)])
  })
})

const STREAM_PATTERNS = [...PATTERNS, "a[^\\n]*b", "(?:a|b){3,40}c", "é+b", "𝄞b?", "\\w+é", "(?m)^b+$", "a \\bb"]
/** Pieces of a text: letters of the patterns, letters that the normalization changes, characters that it skips. */
const UNITS = ["a", "a", "b", "b", "c", "d", " ", "\n", "é", "𝄞", "ａ", "\u200b", "\u00ad", "\ud834", "\udd1e"]

test("a stream is scanned like by the NFA alone, however it is split, and delayed by at most 32 units more", () => {
  const input = fc.record({
    pattern: fc.constantFrom(...STREAM_PATTERNS),
    limit: fc.constantFrom(Number.POSITIVE_INFINITY, 3, 40),
    longestOnly: fc.boolean(),
    normalizes: fc.boolean(),
    pieces: fc.array(
      fc.tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 6 }) },
          { weight: 4, arbitrary: fc.constantFrom("aab", "bab", "aa", " ab", "abb", "b", "aéb") },
          { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom("a", "b", "d"), minLength: 20, maxLength: 60 }) },
          { weight: 1, arbitrary: fc.nat(1).map((extra) => "d𝄞".repeat(1_023 + extra)) },
        ),
        fc.boolean(),
        fc.boolean(),
      ),
      { maxLength: 12 },
    ),
  })
  fc.assert(
    fc.property(input, ({ pattern, limit, longestOnly, normalizes, pieces }) => {
      fc.pre(!longestOnly || limit !== Number.POSITIVE_INFINITY)
      const [expected, found]: [Span[], Span[]] = [[], []]
      const options = { limit, longestOnly, normalizes }
      const program = compileProgram(pattern)
      const nfa = new NfaScanner(program, options, (span) => expected.push(span))
      const scanner = new StreamScanner(program, options, (span) => found.push(span))
      for (const [piece, reports, drops] of pieces) {
        // As another stream or search does when the tables become too large.
        if (drops) searcherOf(program).forward.clear()
        for (const one of [nfa, scanner]) one.push(piece, false)
        expect(found).toEqual(expected)
        expect(scanner.earliestOpen).toBeLessThanOrEqual(nfa.earliestOpen)
        expect(scanner.earliestOpen).toBeGreaterThanOrEqual(nfa.earliestOpen - 32)
        if (reports) for (const one of [nfa, scanner]) one.reportOpen()
        expect(found).toEqual(expected)
      }
      for (const one of [nfa, scanner]) one.push("", true)
      expect(found).toEqual(expected)
    }),
    { numRuns: runs(20) },
  )
})
