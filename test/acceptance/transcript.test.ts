import { expect, test } from "vitest"
import { matches, stepsOf } from "./transcript.ts"

test.each([
  [["a"], ["a"], true],
  [["a"], ["a", "b"], false],
  [["a", "…"], ["a", "b", "c"], true],
  [["…", "c"], ["a", "b", "c"], true],
  [["a … c"], ["a b c"], true],
  [["a.c"], ["abc"], false],
  [["…"], [], true],
  [[], ["a"], false],
])("%j matches %j: %s", (described, printed, expected) => {
  expect(matches(described, printed)).toBe(expected)
})

test("a page is read as commands with their output", () => {
  const page = "```sh\none\ntwo\n```\ntext\n```text\nout\n```\n```text terminal\nline\n```\n```sh\nlast\n```"
  expect(stepsOf(page)).toEqual([
    { line: 1, commands: "one\ntwo", printed: ["out"], terminal: ["line"] },
    { line: 12, commands: "last", printed: [], terminal: [] },
  ])
})
