import type { Env } from "../../config/env.ts"
import { loadReachableCatalogue } from "../compile.ts"
import { AUTO_MODEL, spellModels } from "../known-names.ts"

type Input = { over_budget_models?: string[] | null | undefined; allow_unknown?: boolean | undefined }

/**
 * The input with its `over_budget_models` in the spelling of the catalogue, without the flag that only applies to this
 * request.
 */
export async function withKnownModels<T extends Input>(env: Env, input: T): Promise<Omit<T, "allow_unknown">> {
  const { allow_unknown: allowsUnknown = false, ...rest } = input
  const { over_budget_models: models } = input
  if (allowsUnknown || !models || models.length === 0) return rest
  const fieldOf = (index: number) => `over_budget_models[${index}]`
  return { ...rest, over_budget_models: spellModels(models, fieldOf, { catalogue: await loadReachableCatalogue(env) }) }
}

const DEFAULT_MODELS = ["default_text_model", "default_image_model"] as const
type Defaults = Partial<Record<(typeof DEFAULT_MODELS)[number], string | null | undefined>>

/** The same, also for the default models of a workspace, which may be its aliases. */
export async function withKnownDefaults<T extends Input & Defaults>(
  env: Env,
  input: T,
  aliases: readonly string[],
): Promise<Omit<T, "allow_unknown">> {
  const checked = await withKnownModels(env, input)
  const namedModels = DEFAULT_MODELS.flatMap((field) => {
    const name = input[field]
    return name == null || AUTO_MODEL.test(name) ? [] : [{ field, name }]
  })
  if (input.allow_unknown === true || namedModels.length === 0) return checked
  const names = namedModels.map(({ name }) => name)
  const knownNames = { catalogue: await loadReachableCatalogue(env), aliases }
  const spelled = spellModels(names, (index) => namedModels[index]?.field ?? "", knownNames)
  return { ...checked, ...Object.fromEntries(namedModels.map(({ field }, index) => [field, spelled[index]])) }
}
