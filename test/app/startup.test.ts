import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const root = path.join(import.meta.dirname, "../..")

/** Modules that are evaluated before the first request: those that static imports lead to. */
function loadedAtStart(entry: string): { files: Set<string>; packages: Set<string> } {
  const [files, packages] = [new Set<string>(), new Set<string>()]
  const visit = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    const source = readFileSync(path.join(root, file), "utf8")
    for (const [, clause = "", from = ""] of source.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)"$/gm)) {
      if (clause.startsWith("type ")) continue
      if (!from.startsWith(".")) packages.add(from)
      else if (from.endsWith(".ts")) visit(path.join(path.dirname(file), from))
    }
  }
  visit(entry)
  return { files, packages }
}

test("PDF, shell, git and patches are loaded on first use, not at the start of an isolate", () => {
  const { files, packages } = loadedAtStart("src/index.ts")
  expect(files.size).toBeGreaterThan(500)
  for (const file of files) expect(existsSync(path.join(root, file))).toBe(true)
  expect(packages).toContain("hono")
  for (const name of ["unpdf", "just-bash", "just-bash/browser", "isomorphic-git", "diff"]) {
    expect([...packages]).not.toContain(name)
  }
})
