import * as fc from "fast-check"
import { expect, test } from "vitest"
import { truncateEnd, truncateMiddle } from "../../src/server-tools/text.ts"

const text = fc.string({ unit: fc.constantFrom("a", "ü", "😀", "\n"), maxLength: 400, size: "+2" })

test("a short text is not cut", () => {
  expect(truncateEnd("four", 4)).toBe("four")
  expect(truncateMiddle("four", 4)).toBe("four")
})

test("a cut text states the number of omitted characters", () => {
  expect(truncateEnd("a".repeat(10), 4)).toBe("aaaa\n[… cut here: 6 more characters]")
  expect(truncateMiddle(`${"a".repeat(100)}${"b".repeat(100)}`, 60)).toBe(
    `${"a".repeat(15)}\n[… 171 characters left out …]\n${"b".repeat(14)}`,
  )
})

test("a cut text stays well-formed and within its length", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 40, max: 300 }), (original, maxLength) => {
      expect(truncateEnd(original, maxLength).isWellFormed()).toBe(true)
      const cut = truncateMiddle(original, maxLength)
      expect(cut.isWellFormed()).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(maxLength)
    }),
  )
})
