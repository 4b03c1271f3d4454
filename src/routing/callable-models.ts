import type { Principal } from "../access/principal.ts"
import type { Catalogue } from "../models/catalogue.ts"
import { listModels } from "../models/lists/list.ts"
import type { Search } from "../models/lists/search.ts"
import { callerOf } from "../policy/call-policy.ts"
import { aliasModels } from "./alias-models.ts"

export type ModelListDeps = Parameters<typeof listModels>[0]

/** The models that a key can call, and the aliases of its workspace. */
export function modelsOf(deps: ModelListDeps, principal: Principal, query: Partial<Search>) {
  const { defaults, keyHash, guardrails } = callerOf(principal)
  const aliases = (catalogue: Catalogue) => aliasModels(defaults.aliases, keyHash, catalogue)
  return listModels(deps, query, { filters: guardrails?.routeFilters(), aliases })
}
