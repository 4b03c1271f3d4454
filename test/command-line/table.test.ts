import { expect, test } from "vitest"
import { table } from "../../src/dev/commands/command.ts"

test("control characters in a stored name cannot overwrite other rows of a table", () => {
  const shown = table(["name"], [["ci\u001b[2K\u202eyek"], ["two\nlines"]])
  expect(shown.split("\n")).toEqual(["name", "ci\ufffd[2K\ufffdyek", "two\ufffdlines"])
})
