import * as fc from "fast-check"
import { expect, test } from "vitest"
import { promptMessages } from "../../src/inference/input/prompt-messages.ts"
import { runs } from "../support/runs.ts"

const LIMIT = 12_000

test("texts are messages in their order, after the instructions, without empty ones", () => {
  expect(promptMessages(["a", "", "b"], "Softly")).toEqual([
    { role: "system", content: "Softly" },
    { role: "user", content: "a" },
    { role: "user", content: "b" },
  ])
  expect(promptMessages([])).toBeUndefined()
  expect(promptMessages([""], null)).toBeUndefined()
})

test("texts beyond the limit are cut, with the number of omitted texts in the last message", () => {
  const texts = ["a".repeat(LIMIT - 1), "bcd", "e"]
  expect(promptMessages(texts)?.at(-1)).toEqual({ role: "user", content: "b[… of 3 characters, and 1 more]" })
})

test("any texts have at most the limit of characters, and all of them below it", () => {
  const text = fc.oneof(
    fc.string(),
    fc.nat({ max: LIMIT + 2 }).map((length) => "x".repeat(length)),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.option(text), (texts, instructions) => {
      const contents = (promptMessages(texts, instructions) ?? []).map(({ content }) => content)
      const length = contents.join("").length
      const all = [instructions ?? "", ...texts].filter((one) => one !== "")
      if (all.join("").length <= LIMIT) expect(contents).toEqual(all)
      else expect(length).toBeLessThan(LIMIT + 100)
    }),
    { numRuns: runs(1) },
  )
})
