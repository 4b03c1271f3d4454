import { type ByokCredential, type ByokRoutes, credentialOrder, inDeclaredRegion } from "../byok/usable-credentials.ts"
import { GatewayError, type GuardrailRule } from "../errors/errors.ts"
import type { Catalogue, Endpoint, Model } from "../models/catalogue.ts"
import { servingProvider } from "../providers/cloud/access.ts"
import { findBuiltInProvider } from "../providers/table.ts"
import type { Provider } from "../providers/provider.ts"
import type { ProviderPreferences } from "../formats/provider-preferences.ts"
import { filtersOf } from "./filters.ts"
import { FREE, isNamed, type Filter, type RequestedAliases } from "../models/lists/endpoint-filter.ts"
import { anyOf, suggestNames } from "../support/text/suggest.ts"
import { findModel, type ResolvedModel, type Sort } from "./names.ts"
import { inOrder, type OrderInput } from "./order.ts"
import { isSibling, type Target } from "./target.ts"
import { FNV_SEED, fnv1a } from "../support/hash.ts"

/** The part of a request that routing reads: requested models, preferences and used parameters. */
export type Routable = {
  model?: string | undefined
  models?: readonly string[] | null | undefined
  provider?: ProviderPreferences | null | undefined
} & Readonly<Record<string, unknown>>

/** Required output of a model. `text`: a response in a conversation, of any modality. */
export const OUTPUTS = [
  "text",
  "embeddings",
  "image",
  "rerank",
  "decisions",
  "speech",
  "transcription",
  "video",
  "realtime",
] as const
export type Output = (typeof OUTPUTS)[number]

export type PlanInput = OrderInput & {
  output: Output
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  /** Routes of BYOK credentials; absent if there are none. */
  byok?: ByokRoutes | undefined
  /** The region that the call must stay in, or null. */
  region?: string | null
  /** Aliases that the request names instead of models: rules about models also apply to them. */
  aliases?: RequestedAliases | undefined
  /** Used if neither the request nor the model name selects a sort. */
  defaultSort?: Sort | undefined
  /** Applied last, so that an exclusion by the request itself is reported as the request's. */
  guardrails?: readonly Filter[]
}

/** The targets of a call, best first. Throws an error that names the filter which removed the last endpoint. */
export function plan(request: Routable, deps: PlanInput): Target[] {
  const preferences = request.provider ?? {}
  const requested = requestedModels(request).map((name) => findModel(name, deps.catalogue))
  const resolved = requested.filter((found) => found.model !== undefined)
  if (resolved.length === 0) throw unknownModel(requested, deps)

  const removed: Removal[] = []
  const filters = [...filtersOf(request, preferences, deps.region ?? null), ...(deps.guardrails ?? [])]
  const offers = resolved.map((modelName) => ({
    named: modelName,
    targets: offersOf(modelName, filters, deps, removed),
  }))
  const pool = offers.flatMap((offer) => offer.targets)
  const ordered = isOnePool(request)
    ? inOrder(pool, preferences, resolved[0]?.sort ?? deps.defaultSort ?? "price", deps)
    : offers.flatMap((offer) => inOrder(offer.targets, preferences, offer.named.sort ?? deps.defaultSort, deps))
  const targets = withoutFallbacks(ordered, preferences)
  if (targets.length > 0) return targets
  const names = resolved.map((found) => found.name).join(", ")
  throw rejectionFor(names, removed)
}

/** Why the last endpoints of a model were removed from the plan. */
type Removal = { reason: string; rule?: GuardrailRule | undefined; command?: string | undefined }

/** `forbidden` with the rules if a guardrail removed the endpoints, `not_found` otherwise. */
function rejectionFor(names: string, removed: readonly Removal[]): GatewayError {
  if (removed.length === 0) {
    return new GatewayError(
      "not_found",
      `No provider of provider.order offers ${names}, and provider.allow_fallbacks is false.`,
    )
  }
  const text = [...new Set(removed.map((one) => one.reason))].join("; ")
  const [command] = removed.flatMap((one) => one.command ?? [])
  const advice = command === undefined ? "" : ` The operator sets one, or 0: ${command}`
  const message = `No endpoint of ${names} can serve this request: ${text}.${advice}`
  const rejectedBy = removed.flatMap(({ rule }) => rule ?? [])
  if (rejectedBy.length === 0) return new GatewayError("not_found", message)
  const patterns = [...new Set(rejectedBy.map(({ field }) => field))]
  return new GatewayError("forbidden", message, { metadata: { reason: "guardrail", patterns }, rejectedBy })
}

function unknownModel(requested: readonly ResolvedModel[], { catalogue, output }: PlanInput): GatewayError {
  const names = requested.map((found) => found.name).join(", ")
  const missing = requested.map(({ name }) => missingKeyOf(name, catalogue)).find((hint) => hint !== undefined)
  if (missing !== undefined) return new GatewayError("not_found", missing)
  const offered = [...catalogue.models.values()].filter((model) => producesOutput(model, output)).map(({ id }) => id)
  const isOffered = offered.length > 0
  const similar = [...new Set(requested.flatMap(({ name }) => suggestNames(name, offered)))].slice(0, 3)
  const hint = similar.length > 0 ? ` Did you mean ${anyOf(similar)}?` : ""
  const text = isOffered
    ? `GET /models?output_modalities=${output} lists what can be called.`
    : `No provider that is configured on this gateway offers ${output}.`
  return new GatewayError("not_found", `There is no model ${names} here.${hint} ${text}`)
}

const MAX_NAMED_VARIABLES = 4

/** For a model of the catalogue without a usable provider: the variable to set, or the providers that were stopped. */
function missingKeyOf(name: string, { unconfigured, disabled }: Catalogue): string | undefined {
  if (!unconfigured) return undefined
  const lowerName = name.toLowerCase()
  const id = unconfigured.has(lowerName)
    ? lowerName
    : [...unconfigured.keys()].find((one) => one.slice(one.indexOf("/") + 1) === lowerName)
  const slugs = id === undefined ? [] : (unconfigured.get(id) ?? [])
  const stopped = slugs.filter((slug) => disabled?.has(slug))
  if (stopped.length > 0)
    return `The operator of this gateway has stopped the providers of ${id}: ${stopped.join(", ")}.`
  const secrets = slugs.flatMap((slug) => findBuiltInProvider(slug)?.secret ?? [])
  if (id === undefined || secrets.length === 0) return undefined
  const names = anyOf(secrets.slice(0, MAX_NAMED_VARIABLES))
  return `No provider of ${id} is configured. Set ${names} on the gateway, or add your own key with POST /byok.`
}

/** `partition: "none"` sorts the endpoints of all models together; `route: "sort"` is its older name. */
function isOnePool({ provider, route }: Routable): boolean {
  const sort = provider?.sort
  return route === "sort" || (typeof sort === "object" && sort?.partition === "none")
}

/** Without fallbacks: only the targets that `order` names, or the first one with all its keys. */
function withoutFallbacks(targets: Target[], { allow_fallbacks: allowed, order }: ProviderPreferences): Target[] {
  if (allowed !== false) return targets
  const [first] = targets
  if (!order?.length) return targets.filter((target) => target === first || (first && isSibling(first, target)))
  return targets.filter(({ endpoint, provider }) => order.some((name) => isNamed(name, endpoint, provider)))
}

function requestedModels(request: Routable): string[] {
  return [...new Set([...(request.model === undefined ? [] : [request.model]), ...(request.models ?? [])])]
}

function offersOf(
  { model, isFree }: ResolvedModel,
  filters: readonly Filter[],
  deps: PlanInput,
  removed: Removal[],
): Target[] {
  if (!model) return []
  if (!producesOutput(model, deps.output)) {
    const text = `${model.id} makes ${model.outputModalities.join(", ")}, which is not what is requested here`
    removed.push({ reason: text })
    return []
  }
  return narrow(model, isFree ? [...filters, FREE] : filters, deps, removed)
}

/** Output modalities of a conversation. */
const CONVERSED = ["text", "image", "audio"]

export function producesOutput({ outputModalities }: Pick<Model, "outputModalities">, output: Output): boolean {
  return outputModalities.some((modality) => (output === "text" ? CONVERSED.includes(modality) : modality === output))
}

function narrow(
  model: Model,
  filters: readonly Filter[],
  deps: Pick<PlanInput, "providers" | "byok" | "region" | "aliases">,
  removed: Removal[],
): Target[] {
  const { region = null, aliases } = deps
  let offers = model.endpoints.flatMap((endpoint) => offersAt(endpoint, model, deps))
  if (offers.length === 0) {
    const isKept = model.endpoints.some(({ provider }) => deps.providers.has(provider))
    removed.push({ reason: isKept ? NOT_WITH_OWN_KEYS : "no provider that offers it is configured" })
  }
  for (const filter of filters) {
    const before = offers
    offers = offers.filter(({ endpoint, provider }) => filter.keeps(endpoint, provider, region, aliases))
    if (before.length > 0 && offers.length === 0) {
      const names = new Set(before.map(({ endpoint }) => endpoint.provider))
      const reason = `${filter.name} (${[...names].join(", ")})`
      removed.push({ reason, rule: filter.rule, command: filter.command?.(model.id, [...names][0] ?? "") })
    }
  }
  return offers.flatMap(({ endpoint, ...offer }) =>
    endpoint.pricing ? [{ model, endpoint: { ...endpoint, pricing: endpoint.pricing }, ...offer }] : [],
  )
}

const NOT_WITH_OWN_KEYS =
  "the workspace's own keys for the providers that offer it are for other models, and the gateway's own key may not be used"

type Offer = Pick<Target, "provider" | "byok" | "keyNumber" | "sharesLoad"> & { endpoint: Endpoint }

/** Targets of one endpoint, one for each usable key, in the order of use. */
function offersAt(
  endpoint: Endpoint,
  { id }: Model,
  { providers, byok }: Pick<PlanInput, "providers" | "byok">,
): Offer[] {
  const serving = (from: ReadonlyMap<string, Provider> | undefined) => {
    const provider = from?.get(endpoint.provider)
    return provider && servingProvider(provider, endpoint.upstreamId)
  }
  const shared = serving(providers)
  const offer = shared ? withEachKey(shared).map((route) => ({ endpoint, ...route })) : []
  const provider = serving(byok?.providers)
  if (!byok || !provider) return offer
  const ways = credentialOrder(endpoint.provider, id, byok.keys)
  const owned = (key: ByokCredential): Offer => ({
    endpoint: key.declaredZdr === null ? endpoint : { ...endpoint, zeroRetention: key.declaredZdr },
    provider: inDeclaredRegion(provider, key),
    byok: key,
    ...(isShared(key, key.isFallback ? ways.last : ways.first) && { sharesLoad: true }),
  })
  return [...ways.first.map(owned), ...(ways.shared ? offer : []), ...ways.last.map(owned)]
}

const isShared = ({ id, sortOrder }: ByokCredential, others: readonly ByokCredential[]) =>
  others.some((other) => other.id !== id && other.sortOrder === sortOrder)

function withEachKey(provider: Provider): Pick<Offer, "provider" | "keyNumber" | "sharesLoad">[] {
  const { apiKeys } = provider
  if (!apiKeys) return [{ provider }]
  return apiKeys.map((apiKey, at) => ({ provider: { ...provider, apiKey }, keyNumber: at + 1, sharesLoad: true }))
}

/** A random number that is constant for a session and target, so that a session stays with its provider and caches. */
export function seededRandom(sessionId: string): (target: string) => number {
  const seed = fnv1a(FNV_SEED, `${sessionId} `)
  return (target) => {
    let hash = fnv1a(seed, target)
    // The high bits of FNV are weak: mix once more.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    return (((hash ^ (hash >>> 13)) >>> 0) + 1) / (2 ** 32 + 1)
  }
}
