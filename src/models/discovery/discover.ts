import type { Env } from "../../config/env.ts"
import { configuredProviders, customProviders } from "../../providers/configured.ts"
import type { Provider } from "../../providers/provider.ts"
import { findBuiltInProvider } from "../../providers/table.ts"
import { logWarning } from "../../support/log.ts"
import { publishCatalogue } from "../compile.ts"
import { listProviderModels, toDiscoveredModels } from "./discovery.ts"
import type { ListedModel } from "./listed-model.ts"
import { mergeDiscovered } from "./discovery-store.ts"

/** Result of the discovery at one provider. */
export type Discovery = {
  provider: string
  /** Models that it lists. */
  models: number
  /** Listed models that were not in the catalogue. */
  added: number
  /** Removed models, which the provider no longer lists. */
  removed: number
  /** Its endpoints without a price, which cannot be called. */
  unpriced: number
  /** Why its models could not be listed. */
  error: string | null
  /** Numbers of the keys that the provider rejected. */
  key_errors: string[]
}

/** Lists the models of providers and publishes them. `slugs`: only these; by default all configured ones. */
export async function discover(env: Env, slugs?: readonly string[]): Promise<Discovery[]> {
  const listed = new Set(customProviders(env).flatMap(({ slug, models }) => (models.length > 0 ? [slug] : [])))
  const wanted = [...configuredProviders(env).values()].filter(
    ({ slug, embedded }) => !embedded && (slugs ? slugs.includes(slug) : !listed.has(slug)),
  )
  const found = await Promise.all(wanted.map((provider) => discoverOne(env, provider)))
  if (found.some(({ added, removed }) => added + removed > 0)) await publishCatalogue(env)
  return found
}

async function discoverOne(env: Env, provider: Provider): Promise<Discovery> {
  const { slug } = provider
  try {
    const isFree = findBuiltInProvider(slug)?.keyless ?? false
    const { listed, keyErrors } = await listWithEachKey(provider)
    const models = toDiscoveredModels(provider, listed, isFree)
    const merged = await mergeDiscovered(env.DB, slug, models, Date.now())
    return { provider: slug, models: models.length, ...merged, error: null, key_errors: keyErrors }
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    return { provider: slug, models: 0, added: 0, removed: 0, unpriced: 0, error, key_errors: [] }
  }
}

/** The list with the first key that works; every key is tried. Throws if none works. */
async function listWithEachKey(provider: Provider): Promise<{ listed: ListedModel[]; keyErrors: string[] }> {
  const { apiKeys } = provider
  if (!apiKeys) return { listed: await listProviderModels(provider), keyErrors: [] }
  const results = await Promise.allSettled(apiKeys.map((apiKey) => listProviderModels({ ...provider, apiKey })))
  const listed = results.find((result) => result.status === "fulfilled")
  if (!listed) throw new Error(`none of ${apiKeys.length} keys works: ${errorsOf(results).join(" ")}`)
  return { listed: listed.value, keyErrors: errorsOf(results) }
}

function errorsOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result, at) =>
    result.status === "rejected" ? [`key ${at + 1} of ${results.length}: ${String(result.reason?.message)}`] : [],
  )
}

/** The hourly job: if the list of a provider fails, it is logged and its models stay. */
export async function refreshDiscovered(env: Env): Promise<void> {
  for (const { provider, error } of await discover(env)) {
    if (error !== null) logWarning("models of a provider were not listed", { provider, error })
  }
}
