import { readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { missingTests } from "./documented-tests.ts"

const page = readFileSync(path.join(import.meta.dirname, "../docs/security.md"), "utf8")

test("every attack in docs/security.md names a test that exists", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !/^\| (attack|-)/.test(line))
  expect(rows.length).toBeGreaterThan(40)
  const named = rows.map((row) => {
    const [, , , last = ""] = row.split(" | ").length >= 3 ? ["", ...row.split(" | ")] : []
    const [, file = "", name = ""] = /`(test\/[^`]+)`: (.*?)\s*\|$/.exec(last) ?? []
    return { file, name }
  })
  expect(missingTests(named)).toEqual([])
})
