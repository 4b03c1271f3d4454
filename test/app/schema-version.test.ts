import { readdirSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { LATEST_MIGRATION } from "../../src/app/schema-version.ts"

test("LATEST_MIGRATION is the newest migration", () => {
  const files = readdirSync(path.join(import.meta.dirname, "../../d1-migrations")).sort()
  expect(LATEST_MIGRATION).toBe(files.at(-1))
})
