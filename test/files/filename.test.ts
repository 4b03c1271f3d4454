import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toFilename } from "../../src/files/file.ts"

test.each([
  ["../../x.json", "x.json"],
  ["C:\\temp\\x.json", "x.json"],
  ["a\r\nX-Header: 1.txt", "aX-Header: 1.txt"],
  ["\u202etxt.exe", "txt.exe"],
  ["\u001b[2J", "[2J"],
  ['"', "file"],
])("the name %j is stored as %j", (name, stored) => expect(toFilename(name)).toBe(stored))

test("a stored name is one line without folders, at most 255 units, and can be sent in a header", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom("/", "\\", '"', "\r", "\u2028", "\u202e", "😀", "a".repeat(85)),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
  })
  fc.assert(
    fc.property(text, (name) => {
      const stored = toFilename(name)
      expect(stored).toMatch(/^[^/\\"\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]{1,255}$/u)
      expect(stored.length).toBeLessThanOrEqual(255)
      expect(() => encodeURIComponent(stored)).not.toThrow()
    }),
  )
})
