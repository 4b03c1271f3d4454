import type { NamedTest } from "../documented-tests.ts"

/** A promise of the interface and the test that proves it. */
export type ContractRow = { section: string; promise: string; proof: NamedTest }
