import { priceToPico } from "../credits/money.ts"
import { GatewayError } from "../edge/errors.ts"
import type { Catalogue, Endpoint, Model, Pricing } from "../models/catalogue.ts"
import type { Provider } from "../providers/provider.ts"
import type { ProviderPreferences } from "./schemas.ts"

/** One place a call can go, with all that is needed to go there. */
export type Target = { model: Model; endpoint: Endpoint & { pricing: Pricing }; provider: Provider }

/** What routing reads of a request: the models asked for, the preferences, and which parameters are used. */
export type Routable = {
  model?: string | undefined
  models?: readonly string[] | null | undefined
  provider?: ProviderPreferences | null | undefined
} & Readonly<Record<string, unknown>>

export function targetKey(target: Target): string {
  return `${target.endpoint.model} ${target.endpoint.provider}`
}

export type PlanWorld = {
  /** What the model must make. */
  output: "text" | "embeddings"
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  isCooling: (target: string) => boolean
  /** From just above 0 to 1: decides between endpoints where nothing else does. */
  chance: (target: string) => number
}

type Filter = { name: string; keeps: (endpoint: Endpoint, provider: Provider) => boolean }

/** Where a call may go, best first; or a refusal that names the filter which removed the last endpoint. */
export function plan(request: Routable, world: PlanWorld): Target[] {
  const preferences = request.provider ?? {}
  const asked = askedModels(request).map((name) => findModel(name, world.catalogue))
  const known = asked.filter((found) => found.model !== undefined)
  if (known.length === 0) {
    const names = asked.map((found) => found.name).join(", ")
    throw new GatewayError("not_found", `There is no model ${names} here. GET /models lists what can be called.`)
  }

  const removed: string[] = []
  const targets: Target[] = []
  for (const { model, sort } of known) {
    if (!model) continue
    if (makesEmbeddings(model) !== (world.output === "embeddings")) {
      removed.push(`${model.id} makes ${model.outputModalities.join(", ")}, which is not what is asked here`)
      continue
    }
    const offers = narrow(model, filtersOf(request, preferences), world.providers, removed)
    targets.push(...inOrder(offers, preferences, sort, world))
  }
  if (targets.length === 0) {
    const names = known.map((found) => found.name).join(", ")
    throw new GatewayError(
      "not_found",
      `No endpoint of ${names} can take this request: ${[...new Set(removed)].join("; ")}.`,
    )
  }
  return preferences.allow_fallbacks === false ? targets.slice(0, 1) : targets
}

/** Any other model may have text to say, beside what else it makes. */
function makesEmbeddings({ outputModalities }: Model): boolean {
  return outputModalities.length === 1 && outputModalities[0] === "embeddings"
}

function askedModels(request: Routable): string[] {
  return [...new Set([...(request.model === undefined ? [] : [request.model]), ...(request.models ?? [])])]
}

/** Variants that are a way to choose, not a model of their own. */
const SORT_VARIANTS: Record<string, "price" | "throughput"> = { floor: "price", nitro: "throughput" }

function findModel(name: string, catalogue: Catalogue): { name: string; model: Model | undefined; sort?: string } {
  const exact = catalogue.models.get(name)
  if (exact) return { name, model: exact }
  const colon = name.lastIndexOf(":")
  const sort = colon === -1 ? undefined : SORT_VARIANTS[name.slice(colon + 1)]
  return sort === undefined
    ? { name, model: undefined }
    : { name, model: catalogue.models.get(name.slice(0, colon)), sort }
}

function narrow(
  model: Model,
  filters: readonly Filter[],
  providers: ReadonlyMap<string, Provider>,
  removed: string[],
): Target[] {
  let offers = model.endpoints.flatMap((endpoint) => {
    const provider = providers.get(endpoint.provider)
    return provider ? [{ endpoint, provider }] : []
  })
  if (offers.length === 0) removed.push("no provider that offers it is configured")
  for (const filter of filters) {
    const before = offers
    offers = offers.filter(({ endpoint, provider }) => filter.keeps(endpoint, provider))
    if (before.length > 0 && offers.length === 0) {
      removed.push(`${filter.name} (${before.map(({ endpoint }) => endpoint.provider).join(", ")})`)
    }
  }
  return offers.flatMap(({ endpoint, provider }) =>
    endpoint.pricing ? [{ model, endpoint: { ...endpoint, pricing: endpoint.pricing }, provider }] : [],
  )
}

function filtersOf(request: Routable, preferences: ProviderPreferences): Filter[] {
  const named = (slugs: readonly string[]) => {
    const wanted = new Set(slugs.map((slug) => slug.toLowerCase()))
    return (provider: Provider) => wanted.has(provider.slug) || wanted.has(provider.name.toLowerCase())
  }
  const filters: Filter[] = [{ name: "no price is known", keeps: (endpoint) => endpoint.pricing !== null }]
  const { only, ignore, quantizations, max_price: maxPrice } = preferences
  if (only?.length) {
    const isWanted = named(only)
    filters.push({ name: "provider.only excludes them", keeps: (_, provider) => isWanted(provider) })
  }
  if (ignore?.length) {
    const isIgnored = named(ignore)
    filters.push({ name: "provider.ignore excludes them", keeps: (_, provider) => !isIgnored(provider) })
  }
  if (quantizations?.length) {
    filters.push({
      name: "provider.quantizations excludes them",
      keeps: (endpoint) => quantizations.includes(endpoint.quantization ?? "unknown"),
    })
  }
  if (preferences.zdr) {
    filters.push({ name: "provider.zdr: not known to keep nothing", keeps: (endpoint) => endpoint.zeroRetention })
  }
  if (preferences.data_collection === "deny") {
    filters.push({ name: "provider.data_collection: may keep data", keeps: (endpoint) => !endpoint.collectsData })
  }
  if (maxPrice)
    filters.push({ name: "provider.max_price is lower", keeps: (endpoint) => isWithin(endpoint.pricing, maxPrice) })
  if (preferences.require_parameters) {
    const used = PARAMETERS.filter((name) => request[name] != null)
    filters.push({
      name: `provider.require_parameters: not all of ${used.join(", ")} are supported`,
      keeps: (endpoint) => used.every((name) => supports(endpoint, name)),
    })
  }
  return filters
}

/** Request fields that a model's `supported_parameters` speaks of. */
const PARAMETERS =
  "temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format stop tools tool_choice parallel_tool_calls reasoning reasoning_effort".split(
    " ",
  )

const EQUIVALENT: Record<string, string> = { max_completion_tokens: "max_tokens", reasoning_effort: "reasoning" }

function supports(endpoint: Endpoint, parameter: string): boolean {
  const { supportedParameters: supported } = endpoint
  return supported.includes(parameter) || supported.includes(EQUIVALENT[parameter] ?? parameter)
}

/** `max_price` speaks of USD a million tokens. */
function isWithin(pricing: Pricing | null, maxPrice: NonNullable<ProviderPreferences["max_price"]>): boolean {
  if (!pricing) return false
  const fits = (price: string, most: string | number | undefined, per: bigint) =>
    most === undefined || priceToPico(price) * per <= priceToPico(typeof most === "number" ? most.toFixed(12) : most)
  return (
    fits(pricing.prompt, maxPrice.prompt, 1_000_000n) &&
    fits(pricing.completion, maxPrice.completion, 1_000_000n) &&
    fits(pricing.request ?? "0", maxPrice.request, 1n)
  )
}

/**
 * `order` is a wish, not a filter: what it names comes first, the rest stands behind as fallbacks. Endpoints that failed
 * lately come last. Between equals the cheaper one is likelier, as the inverse square of its price, unless a sort is asked.
 */
function inOrder(
  targets: Target[],
  preferences: ProviderPreferences,
  variantSort: string | undefined,
  world: PlanWorld,
): Target[] {
  const order = (preferences.order ?? []).map((slug) => slug.toLowerCase())
  const sort = (typeof preferences.sort === "object" ? preferences.sort?.by : preferences.sort) ?? variantSort
  const rank = ({ provider }: Target) => {
    const place = order.findIndex((name) => name === provider.slug || name === provider.name.toLowerCase())
    return place === -1 ? order.length : place
  }
  return targets
    .map((target) => {
      const price = Number(
        priceToPico(target.endpoint.pricing.prompt) + priceToPico(target.endpoint.pricing.completion),
      )
      const key = targetKey(target)
      // An exponential race: the first of such times is each target's with a chance in proportion to its weight.
      const place = sort === undefined && order.length === 0 ? -Math.log(world.chance(key)) * price ** 2 : price
      return { target, place, cooling: world.isCooling(key), rank: rank(target) }
    })
    .sort((a, b) => Number(a.cooling) - Number(b.cooling) || a.rank - b.rank || a.place - b.place)
    .map(({ target }) => target)
}

/** A chance that is always the same for this session and target: a session stays with its provider, and its caches. */
export function chanceFor(sessionId: string): (target: string) => number {
  return (target) => {
    let hash = 0x811c9dc5
    for (const char of `${sessionId} ${target}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
    // FNV's low bits are good, its high bits less so: one more mix.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    return (((hash ^ (hash >>> 13)) >>> 0) + 1) / (2 ** 32 + 1)
  }
}
