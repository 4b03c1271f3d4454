declare module "vitest" {
  interface ProvidedContext {
    properties: Properties
  }
}

/** How often a property is checked, and with which random values. `isQuick`: long tables are sampled too. */
export type Properties = { numRuns: number; seed: number; isQuick: boolean }

/** Fixed, so that two runs of a commit have the same result. */
const SEED = 20_261_122
const RUNS = 25
/** `mutants`: for `npm run test:mutants`, where most tests fail early. */
const DEPTHS: Readonly<Record<string, number>> = { quick: 0.4, ci: 0.64, mutants: 4, deep: 40 }
/** Ends tests that hang. Far longer than a test takes on a machine of a third of the usual speed. */
export const HANG_MS = 300_000

export type Depth = { properties: Properties; timeoutMs: number }

/** TEST_DEPTH is quick (default), ci, mutants or deep; deep takes a random seed. TEST_SEED repeats the run of a failure. */
export function depthFrom(env: Readonly<Record<string, string | undefined>>): Depth {
  const depth = env["TEST_DEPTH"] ?? "quick"
  const factor = DEPTHS[depth]
  if (factor === undefined) throw new Error(`TEST_DEPTH must be one of ${Object.keys(DEPTHS).join(", ")}.`)
  const fallback = depth === "deep" ? Math.floor(Math.random() * 2 ** 31) : SEED
  const seed = Number(env["TEST_SEED"] ?? fallback)
  if (depth === "deep") console.log(`Seed of the property tests: ${seed} (TEST_SEED repeats it)`)
  return {
    properties: { numRuns: RUNS * factor, seed, isQuick: depth === "quick" },
    timeoutMs: HANG_MS * Math.max(1, factor),
  }
}
