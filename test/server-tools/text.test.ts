import * as fc from "fast-check"
import { expect, test } from "vitest"
import { cutEnd, cutMiddle } from "../../src/server-tools/text.ts"

const text = fc.string({ unit: fc.constantFrom("a", "ü", "😀", "\n"), maxLength: 400, size: "+2" })

test("a short text is not cut", () => {
  expect(cutEnd("four", 4)).toBe("four")
  expect(cutMiddle("four", 4)).toBe("four")
})

test("a cut text states the number of omitted characters", () => {
  expect(cutEnd("a".repeat(10), 4)).toBe("aaaa\n[… cut here: 6 more characters]")
  expect(cutMiddle(`${"a".repeat(100)}${"b".repeat(100)}`, 60)).toBe(
    `${"a".repeat(15)}\n[… 171 characters left out …]\n${"b".repeat(14)}`,
  )
})

test("a cut text stays well-formed and within its length", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 40, max: 300 }), (original, maxLength) => {
      expect(cutEnd(original, maxLength).isWellFormed()).toBe(true)
      const cut = cutMiddle(original, maxLength)
      expect(cut.isWellFormed()).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(maxLength)
    }),
  )
})
