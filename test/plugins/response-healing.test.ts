import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { heal } from "../../src/plugins/response-healing.ts"
import { runs } from "../support/runs.ts"

describe("valid JSON is unchanged", () => {
  test.each(['{"a": 1}', " [1, 2]\n", '"text"', "3", "null", "true"])("%s", (text) => {
    expect(heal(text)).toBe(text)
  })
})

describe("text with JSON becomes valid JSON", () => {
  const A = { a: 1 }
  test.each<[string, string, unknown]>([
    ["a fenced block", '```json\n{"a": 1}\n```', A],
    ["a fenced block without a language", '```\n{"a": 1}\n```', A],
    ["a fenced block in prose", 'Here it is:\n\n```json\n{"a": 1}\n```\n\nGood luck!', A],
    ["a fenced block that is not closed", '```json\n{"a": 1}\n', A],
    ["a fence on one line", '```json {"a": 1} ```', A],
    ["a fenced block after one of another language", '```python\nprint({})\n```\n```json\n{"a": 1}\n```', A],
    ["a broken fenced block", "```json\n{a: 1,}\n```", A],
    ["prose before it", 'Sure! {"a": 1}', A],
    ["prose after it", '{"a": 1} I hope that helps.', A],
    ["prose around an array", 'The list: [{"a": 1}, {"a": 2}]. Done.', [A, { a: 2 }]],
    ["a footnote before it", 'As in [1] and {this}: {"a": 1}', A],
    ["brackets in its strings", 'So: {"a": "}]", "b": "\\"{"} end', { a: "}]", b: '"{' }],
    ["trailing commas", '{"a": [1, 2,],}', { a: [1, 2] }],
    ["single quotes", "{'a': 'b'}", { a: "b" }],
    ["keys without quotes", "{a: 1, b_c: true}", { a: 1, b_c: true }],
    ["Python literals", '{"a": True, "b": None}', { a: true, b: null }],
    ["comments", '{"a": 1 /* one */}', A],
    ["an object that is not closed", '{"a": {"b": [1, 2', { a: { b: [1, 2] } }],
    ["a string that is not closed", '{"a": "cut sh', { a: "cut sh" }],
    ["an array that is not closed", '["a", "b"', ["a", "b"]],
    ["an empty object in prose", "Nothing: {}", {}],
    ["line breaks in a string", '{"a": "x\ny"}', { a: "x\ny" }],
  ])("%s", (_, text, value) => {
    expect(JSON.parse(heal(text) ?? "null")).toEqual(value)
  })
})

describe("text without JSON is unchanged", () => {
  test.each([
    "hello",
    "",
    "   ",
    "I cannot help with that.",
    "See [1] and [2].",
    "Use {name} as a placeholder.",
    "[link](https://example.com)",
    "```python\nprint('x')\n```",
    "a: 1\nb: 2",
    "true or false",
    "[".repeat(200_000),
    "{".repeat(200_000),
  ])("%.40s", (text) => {
    expect(heal(text)).toBeNull()
  })
})

test("any object or array is extracted from prose and from fences", () => {
  const word = fc.stringMatching(/^[a-zA-Z ,.]{0,30}$/)
  const value = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
    fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), { minLength: 1 }),
  )
  fc.assert(
    fc.property(word, value, word, (before, json, after) => {
      const text = JSON.stringify(json)
      const same = JSON.parse(text) as unknown
      expect(JSON.parse(heal(`${before} ${text} ${after}`) ?? "null")).toEqual(same)
      if (text.includes("```")) return
      expect(JSON.parse(heal(`${before}\n\`\`\`json\n${text}\n\`\`\`\n${after}`) ?? "null")).toEqual(same)
    }),
  )
})

test("the result is valid JSON or null for any text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "'", ":", ",", "`", "\\", " ", "\n", "a", "1") }),
      (text) => {
        const healed = heal(text)
        if (healed !== null) expect(() => JSON.parse(healed) as unknown).not.toThrow()
      },
    ),
    { numRuns: runs(4) },
  )
})
