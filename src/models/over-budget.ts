import type { Env } from "../config/env.ts"
import { loadReachableCatalogue } from "./compile.ts"
import { spellModels } from "./known-names.ts"

type Input = { over_budget_models?: string[] | null | undefined; allow_unknown?: boolean | undefined }

/** An input with its `over_budget_models` as the catalogue spells them, without the flag that is of this request only. */
export async function withKnownModels<T extends Input>(env: Env, input: T): Promise<Omit<T, "allow_unknown">> {
  const { allow_unknown: allowsUnknown = false, ...kept } = input
  const { over_budget_models: models } = input
  if (allowsUnknown || !models || models.length === 0) return kept
  const fieldOf = (index: number) => `over_budget_models[${index}]`
  return { ...kept, over_budget_models: spellModels(models, fieldOf, await loadReachableCatalogue(env)) }
}
