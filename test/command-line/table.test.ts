import { expect, test } from "vitest"
import { table } from "../../src/dev/commands/command.ts"

test("a name of an earlier release cannot write over others in a table", () => {
  const shown = table(["name"], [["ci\u001b[2K\u202eyek"], ["two\nlines"]])
  expect(shown.split("\n")).toEqual(["name", "ci\ufffd[2K\ufffdyek", "two\ufffdlines"])
})
