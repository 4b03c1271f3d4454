import { readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { internMutants } from "./interns.ts"

const root = path.join(import.meta.dirname, "../..")

test("every mutant changes one place of the source, and has a unique name", () => {
  for (const { name, file, from, to } of internMutants) {
    expect(readFileSync(path.join(root, file), "utf8").split(from), name).toHaveLength(2)
    expect(to, name).not.toBe(from)
  }
  expect(new Set(internMutants.map(({ name }) => name)).size).toBe(internMutants.length)
})
