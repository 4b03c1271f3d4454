import { readFileSync } from "node:fs"
import path from "node:path"

const root = path.join(import.meta.dirname, "..")

/** A test named by a document or a table: `name` as written in the file, with its placeholders. */
export type NamedTest = { file: string; name: string }

/** The named tests that do not exist in their files. */
export function missingTests(tests: readonly NamedTest[]): string[] {
  return tests.filter((test) => !hasTest(test)).map(({ file, name }) => `${file}: ${name}`)
}

function hasTest({ file, name }: NamedTest): boolean {
  const text = read(file)
  return (
    name !== "" &&
    ['"', "'", "`"].some(
      (quote) => text.includes(`(${quote}${name}${quote}`) || text.includes(`${quote}${name}${quote},`),
    )
  )
}

function read(file: string): string {
  try {
    return readFileSync(path.join(root, file), "utf8")
  } catch {
    return ""
  }
}
