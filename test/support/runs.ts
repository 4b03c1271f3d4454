import { inject } from "vitest"
import type { Properties } from "./depth.ts"

/** For properties with expensive or cheap runs: `factor` times the default number of runs, at every depth. */
export function runs(factor: number): number {
  const { numRuns }: Properties = inject("properties")
  return Math.max(1, Math.ceil(numRuns * factor))
}
