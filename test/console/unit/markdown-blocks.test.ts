import * as fc from "fast-check"
import { marked } from "marked"
import { expect, test } from "vitest"
import { lex, lexMore } from "../../../src/console/ui/text/markdown-blocks.ts"
import { runs } from "../../support/runs.ts"

const line = fc.constantFrom(
  "# Heading",
  "A paragraph of words",
  "with a second line",
  "===",
  "---",
  "- item",
  "  continued",
  "1. first",
  "> quote",
  "```ts",
  "const a = 1",
  "    indented",
  "| a | b |",
  "|---|---|",
  "| 1 | 2 |",
  "",
  "",
  "**bold** and `code`",
)
const markdown = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"))

test("a growing text has the same blocks as the complete text, wherever it was split", () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), (text, cuts) => {
      const ends = [...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length]
      let lexed = lex("")
      for (const end of ends) lexed = lexMore(lexed, text.slice(0, end))
      expect(lexed.blocks.map(({ raw }) => raw).join("")).toBe(text)
      expect(lexed.blocks.map(({ type, raw }) => [type, raw])).toEqual(
        marked.lexer(text).map(({ type, raw }) => [type, raw]),
      )
    }),
    { numRuns: runs(3) },
  )
})

test("complete blocks stay the same objects, so that they are not rendered again", () => {
  const start = "# One\n\nTwo\n\nThree\n\nFour\n\nFive"
  const before = lex(start)
  const after = lexMore(before, `${start} and more`)
  expect(after.blocks[0]).toBe(before.blocks[0])
  expect(after.blocks[2]).toBe(before.blocks[2])
  expect(after.blocks.at(-1)?.raw).toBe("Five and more")
})

test("a different text starts over, and CRLF is read like LF", () => {
  const other = lexMore(lex("# One\n\nTwo"), "Another")
  expect(other.blocks.map(({ raw }) => raw)).toEqual(["Another"])
  expect(lexMore(lex("# One\r\n\r\nTwo\r"), "# One\r\n\r\nTwo\r\n\r\nThree").blocks.at(-1)?.raw).toBe("Three")
})
