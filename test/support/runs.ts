import { inject } from "vitest"
import type { Properties } from "./depth.ts"

/** For a property whose runs cost more or less than most: `factor` times the usual number, at every depth. */
export function runs(factor: number): number {
  const { numRuns }: Properties = inject("properties")
  return Math.max(1, Math.ceil(numRuns * factor))
}
