import type { Plugin } from "vite"
import { mutants } from "./all.ts"
import { mutated } from "./mutant.ts"

/** The mutant that the environment variable MUTANT names, if any. */
export function chosenMutant(): Plugin[] {
  return mutants.filter(({ name }) => name === process.env["MUTANT"]).map(mutated)
}
