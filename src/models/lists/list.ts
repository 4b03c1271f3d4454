import type { Env } from "../../config/env.ts"
import { configuredProviders } from "../../providers/configured.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Catalogue, Model } from "../catalogue.ts"
import { loadCatalogue } from "../compile.ts"
import type { Filter as EndpointFilter } from "./endpoint-filter.ts"
import { toModel } from "../model.ts"
import { search, type Search, toPage } from "./search.ts"

type Offer = {
  /** From the principal's guardrails. */
  filters?: readonly EndpointFilter[] | undefined
  /** Listed with the models; an alias with the name of a model replaces it. */
  aliases?: (catalogue: Catalogue) => readonly Model[]
}

/** `url`: of the request, for the path of the next page. `region`: the one that calls must stay in, or null. */
type Request = { env: Env; url: string; region: string | null }

/** The models that match `query`, with the endpoints that pass the filters. */
export async function listModels(
  { env, url, region }: Request,
  query: Partial<Search>,
  { filters = [], aliases = () => [] }: Offer = {},
) {
  const catalogue = await loadCatalogue(env)
  const providers = configuredProviders(env)
  const models = new Map([...catalogue.models.values(), ...aliases(catalogue)].map((one) => [one.id, one]))
  const offered =
    filters.length === 0 ? models.values() : [...models.values()].map((one) => within(one, filters, providers, region))
  const found = search(offered, query, providers, Date.now())
  const { items, next } = toPage(found, query, url)
  const data = items.flatMap((item) => toModel(item) ?? [])
  return { object: "list" as const, data, links: { next }, total_count: found.length }
}

/** The model with the endpoints that the guardrails allow. */
function within(
  found: Model,
  filters: readonly EndpointFilter[],
  providers: ReadonlyMap<string, Provider>,
  region: string | null,
): Model {
  const aliases = found.aliasOf === undefined ? undefined : { names: [found.id], coverAllModels: true }
  const endpoints = found.endpoints.filter((endpoint) => {
    const provider = providers.get(endpoint.provider)
    return provider !== undefined && filters.every((filter) => filter.keeps(endpoint, provider, region, aliases))
  })
  return { ...found, endpoints }
}
