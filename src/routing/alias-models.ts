import type { Catalogue, Model } from "../models/catalogue.ts"
import type { Aliases } from "../workspaces/alias.ts"
import { findModel } from "./names.ts"

/** Aliases of a workspace for a list of models, each with the data of the model that receives most of its calls. */
export function aliasModels(aliases: Aliases | null, keyHash: string, catalogue: Catalogue): Model[] {
  return Object.entries(aliases ?? {}).flatMap(([name, { description, arms }]) => {
    const open = arms.filter(({ key_hashes: keys }) => keys?.includes(keyHash) ?? true)
    const [found] = open
      .toSorted((a, b) => b.weight - a.weight)
      .flatMap(({ model }) => findModel(model.replace(/@preset\/.*$/, ""), catalogue).model ?? [])
    if (!found) return []
    const text = description ?? `Alias of ${open.map(({ model }) => model).join(", ")}.`
    return [{ ...found, id: name, aliasOf: found.id, name, description: text }]
  })
}
