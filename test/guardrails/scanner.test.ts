import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compileProgram } from "../../src/guardrails/content/program.ts"
import { NfaScanner, type Span } from "../../src/guardrails/content/nfa-scanner.ts"
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
