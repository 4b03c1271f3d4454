import { inject } from "vitest"
import type { Properties } from "./depth.ts"

/** For properties with expensive or cheap runs: `factor` times the default number of runs, at every depth. */
export function runs(factor: number): number {
  const { numRuns }: Properties = inject("properties")
  return Math.max(1, Math.ceil(numRuns * factor))
}

/** With TEST_DEPTH=quick, each `nth` entry of a long table, starting with `first`; otherwise all entries. */
export function sampled<T>(table: readonly T[], nth: number, first = 0): readonly T[] {
  const { isQuick }: Properties = inject("properties")
  return isQuick ? table.filter((_, at) => at % nth === first % nth) : table
}
