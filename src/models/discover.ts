import type { Env } from "../config/env.ts"
import { configuredProviders, customProviders } from "../providers/configured.ts"
import type { Provider } from "../providers/provider.ts"
import { findBuiltInProvider } from "../providers/table.ts"
import { logWarning } from "../support/log.ts"
import { publishCatalogue } from "./compile.ts"
import { listProviderModels, toDiscoveredModels } from "./discovery.ts"
import { mergeDiscovered } from "./discovery-store.ts"

/** What one provider listed, and what the catalogue made of it. */
export type Discovery = {
  provider: string
  /** Models that it lists. */
  models: number
  /** Of those, the ones that the catalogue did not have. */
  added: number
  /** Models it lists no longer, which were removed. */
  removed: number
  /** Endpoints of it that cannot be called because no price is known. */
  unpriced: number
  /** Why its models could not be listed. */
  error: string | null
}

/** Lists the models of the providers and publishes what they list. `slugs`: these alone; all that are configured. */
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
    const models = toDiscoveredModels(provider, await listProviderModels(provider), isFree)
    const merged = await mergeDiscovered(env.DB, slug, models, Date.now())
    return { provider: slug, models: models.length, ...merged, error: null }
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    return { provider: slug, models: 0, added: 0, removed: 0, unpriced: 0, error }
  }
}

/** The hourly job: a provider whose list fails is logged, and its models stay. */
export async function refreshDiscovered(env: Env): Promise<void> {
  for (const { provider, error } of await discover(env)) {
    if (error !== null) logWarning("models of a provider not listed", { provider, error })
  }
}
