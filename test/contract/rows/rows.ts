import type { NamedTest } from "../../documented-tests.ts"

/** A promise of the interface and the test that proves it. */
export type ContractRow = { section: string; promise: string; proof: NamedTest }

/** The promises of a section, under the test that proves them. */
export type Proven = [proof: NamedTest, ...promises: string[]]

export function rowsOf(section: string, ...proven: Proven[]): ContractRow[] {
  return proven.flatMap(([proof, ...promises]) => promises.map((promise) => ({ section, promise, proof })))
}

/** The tests of a file by their titles. */
export const testsIn =
  (file: string) =>
  (name: string): NamedTest => ({ file: `test/${file}`, name })
