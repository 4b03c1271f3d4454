import { readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { mutants } from "./all.ts"

const root = path.join(import.meta.dirname, "../..")

test("every mutant changes one place of the source, and has a unique name", () => {
  for (const { name, file, from, to } of mutants) {
    expect(readFileSync(path.join(root, file), "utf8").split(from), name).toHaveLength(2)
    expect(to, name).not.toBe(from)
  }
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})
