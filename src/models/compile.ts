import { isObject, parseJson, parseStored } from "../support/text/json.ts"
import type { Env } from "../config/env.ts"
import { configuredProviders, customProviders, reachableProviders } from "../providers/configured.ts"
import type { Provider } from "../providers/provider.ts"
import { logWarning } from "../support/log.ts"
import type { Catalogue, Endpoint, Model } from "./catalogue.ts"
import { toCustomModels } from "./custom-models.ts"
import { approximatePrice } from "../money/pricing.ts"
import { listCatalogueRows, listDisabledProviders, type StoredModel } from "./store.ts"

export const CATALOGUE_KEY = "catalogue:v2"
/** How long an isolate uses its copy; elsewhere, KV's edge caches add up to a minute. */
export const CATALOGUE_CACHE_MS = 10_000
/** How long one request may take to refresh the copy before the next one tries. */
const REFRESH_MS = 2_000
/** KV's copy expires, so that one compiled from deleted rows does not stay. */
const COMPILED_TTL_SECONDS = 3_600

type Providers = ReadonlyMap<string, Provider>

/** JSON value in KV. */
type Compiled = { models: readonly Model[]; disabledProviders: readonly string[] }

type Copy = { catalogue: Catalogue; reachable?: Catalogue; compiled: string; until: number }
const copies = new WeakMap<Env, Copy>()

/**
 * The current catalogue. While one request refreshes the copy, others use the old one: they do not wait, because a
 * promise of a request whose client disconnected may never settle.
 */
export async function loadCatalogue(env: Env, now: number = Date.now()): Promise<Catalogue> {
  const copy = copies.get(env)
  // A copy from before the clock was set back must not be used for longer than others.
  if (copy && copy.until > now && copy.until <= now + CATALOGUE_CACHE_MS) return copy.catalogue
  if (!copy) return keep(env, await readCompiled(env).catch((error: unknown) => compileWithout(env, error)), now)
  copy.until = now + REFRESH_MS
  const compiled = await readCompiled(env, copy.compiled).catch((error: unknown) => {
    warn("catalogue not refreshed; the last copy stays in use", error)
    return copy.compiled
  })
  // A newer copy was published concurrently.
  const copyOfEnv = copies.get(env)
  if (copyOfEnv && copyOfEnv !== copy) return copyOfEnv.catalogue
  // Most refreshes find no change: comparing the text is cheaper than parsing it.
  if (compiled !== copy.compiled) return keep(env, compiled, now)
  copy.until = now + CATALOGUE_CACHE_MS
  return copy.catalogue
}

/** The catalogue with the endpoints that BYOK credentials can reach, compiled on the first such request. */
export async function loadReachableCatalogue(env: Env, now: number = Date.now()): Promise<Catalogue> {
  const catalogue = await loadCatalogue(env, now)
  const copy = copies.get(env)
  if (!copy) return catalogue
  copy.reachable ??= await toCatalogue(parseStored<Compiled>(copy.compiled), env, reachableProviders(env))
  return copy.reachable
}

/** After a write to the catalogue's tables: compiles and publishes it, in this isolate at once. */
export async function publishCatalogue(env: Env, now: number = Date.now()): Promise<void> {
  const compiled = JSON.stringify(await compileRows(env.DB))
  await env.CATALOG.put(CATALOGUE_KEY, compiled, { expirationTtl: COMPILED_TTL_SECONDS })
  await keep(env, compiled, now)
}

async function keep(env: Env, compiled: string, now: number): Promise<Catalogue> {
  const catalogue = await toCatalogue(parseStored<Compiled>(compiled), env)
  copies.set(env, { catalogue, compiled, until: now + CATALOGUE_CACHE_MS })
  return catalogue
}

/** The value in KV or, if that is unusable, the rows compiled again. `knownVersion`: the value read before. */
async function readCompiled(env: Env, knownVersion?: string): Promise<string> {
  const stored = await env.CATALOG.get(CATALOGUE_KEY)
  if (stored !== null && (stored === knownVersion || isCompiled(parseJson(stored)))) return stored
  if (stored !== null) warn("compiled catalogue in KV is not valid; compiling it again", stored)
  const rows = await compileRows(env.DB)
  const compiled = JSON.stringify(rows)
  // An empty catalogue is not stored: rows may be written directly to D1, without a publication.
  if (rows.models.length === 0 && rows.disabledProviders.length === 0) return compiled
  // KV accepts one write per second and key, and many isolates may start at once.
  await env.CATALOG.put(CATALOGUE_KEY, compiled, { expirationTtl: COMPILED_TTL_SECONDS }).catch((error: unknown) => {
    warn("compiled catalogue not cached", error)
  })
  return compiled
}

/** For an isolate without a copy while KV fails. */
async function compileWithout(env: Env, error: unknown): Promise<string> {
  warn("compiled catalogue not read from KV; compiling it from the database", error)
  return JSON.stringify(await compileRows(env.DB))
}

async function compileRows(db: D1Database): Promise<Compiled> {
  const [rows, disabledProviders] = await Promise.all([listCatalogueRows(db), listDisabledProviders(db)])
  return { models: compile(rows), disabledProviders }
}

/** Whether a value has the shape of a compiled catalogue. Its fields are trusted: only the gateway writes it. */
function isCompiled(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value["models"]) || !Array.isArray(value["disabledProviders"])) return false
  return value["models"].every((model) => isObject(model) && isString(model["id"]) && hasEndpoints(model))
}

function hasEndpoints({ endpoints }: Record<string, unknown>): boolean {
  if (!Array.isArray(endpoints)) return false
  return endpoints.every((one) => isObject(one) && isString(one["provider"]) && isObject(one["pricing"] ?? {}))
}

function isString(value: unknown): boolean {
  return typeof value === "string"
}

function warn(message: string, error: unknown): void {
  logWarning(message, { cause: String(error).slice(0, 200) })
}

/** Models from rows: with the operator's prices, without disabled endpoints. */
export function compile(rows: readonly StoredModel[]): Model[] {
  return rows.flatMap(({ id, facts, endpoints }) => {
    const offered = endpoints
      .filter(({ disabled }) => !disabled)
      .map((endpoint): Endpoint => ({
        ...endpoint.facts,
        model: id,
        provider: endpoint.provider,
        pricing: endpoint.priceOverride ?? endpoint.facts.pricing,
      }))
    return offered.length > 0 ? [{ ...facts, id, endpoints: offered }] : []
  })
}

async function toCatalogue(
  { models, disabledProviders }: Compiled,
  env: Env,
  providers: Providers = configuredProviders(env),
): Promise<Catalogue> {
  const local = [...customProviders(env).flatMap(toCustomModels), ...(await embeddedModels(env))]
  const disabled = new Set(disabledProviders)
  const usable = new Set([...providers.keys()].filter((slug) => !disabled.has(slug)))
  return { ...offer([...models, ...local], usable), disabled }
}

const embedded = new WeakMap<Env, readonly Model[]>()

/** The models that the embedded upstream serves; none if it is not bound. */
async function embeddedModels(env: Env): Promise<readonly Model[]> {
  if (!env.EMBEDDED) return []
  const cached = embedded.get(env)
  if (cached) return cached
  const models = await (await env.EMBEDDED.fetch("https://embedded.invalid/catalogue")).json<Model[]>()
  embedded.set(env, models)
  return models
}

/** The models of these providers, each with its endpoints cheapest first and those without a price last. */
export function offer(models: readonly Model[], providers: ReadonlySet<string>): Catalogue {
  const offered = new Map<string, Model>()
  for (const model of models) {
    const existing = offered.get(model.id)
    // Stored endpoints take precedence over configured ones of the same provider.
    const takenProviders = new Set(existing?.endpoints.map(({ provider }) => provider))
    const added = model.endpoints.filter(({ provider }) => providers.has(provider) && !takenProviders.has(provider))
    const endpoints = [...(existing?.endpoints ?? []), ...added].sort(byPrice)
    if (endpoints.length > 0) offered.set(model.id, { ...(existing ?? model), endpoints })
  }
  const unconfigured = new Map<string, string[]>()
  for (const { id, endpoints } of models) {
    if (offered.has(id)) continue
    const name = id.toLowerCase()
    const slugs = [...(unconfigured.get(name) ?? []), ...endpoints.map(({ provider }) => provider)]
    unconfigured.set(name, [...new Set(slugs)])
  }
  return { models: offered, unconfigured }
}

function byPrice(a: Endpoint, b: Endpoint): number {
  if (!a.pricing || !b.pricing) return Number(!a.pricing) - Number(!b.pricing)
  return approximatePrice(a.pricing) - approximatePrice(b.pricing)
}
