import { guardrailMutants } from "./guardrails.ts"
import { fileMutants } from "./files.ts"
import { internMutants } from "./interns.ts"
import type { Mutant } from "./mutant.ts"
import { policyMutants } from "./policy.ts"
import { priceMutants } from "./prices.ts"

export const mutants: readonly Mutant[] = [
  ...fileMutants,
  ...guardrailMutants,
  ...internMutants,
  ...policyMutants,
  ...priceMutants,
]
