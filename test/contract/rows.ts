import type { NamedTest } from "../documented-tests.ts"

/** A promise of the interface and the test that proves it, or the reason why no test does. */
export type ContractRow = { section: string; promise: string } & (
  | { proof: NamedTest }
  | { proof: null; reason: string }
)
