import { createRoute } from "@hono/zod-openapi"
import { entryOf } from "../audit/actor.ts"
import { requireOperator } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { configuredProviders, reachableProviders } from "../providers/configured.ts"
import * as admin from "./admin.ts"
import { publishCatalogue } from "./compile.ts"
import { discover } from "./discovery/discover.ts"
import { OverrideBody } from "./schemas.ts"
import { Page, toPage } from "./lists/search.ts"
import {
  findSeedDate,
  listCatalogueRows,
  listDisabledProviders,
  overrideEndpoint,
  setProviderDisabled,
  upsertCatalogue,
} from "./store.ts"

/** All endpoints are one bound value, for which D1 allows 2 MB. */
const MAX_CATALOGUE_BYTES = 2_000_000
const MAX_OVERRIDE_BYTES = 10_000

const put = createRoute({
  method: "put",
  path: "/catalogue",
  operationId: "putCatalogue",
  tags: ["Catalogue"],
  summary: "Add models to the catalogue",
  middleware: [requireOperator, acceptJson(MAX_CATALOGUE_BYTES)] as const,
  request: { body: jsonBody(admin.CatalogueBody) },
  responses: {
    200: ok(admin.CatalogueWritten),
    ...failures("invalid_request", "unauthenticated", "forbidden", "payload_too_large", "internal"),
  },
})

const listRows = createRoute({
  method: "get",
  path: "/catalogue",
  operationId: "listCatalogue",
  tags: ["Catalogue"],
  summary: "List the stored catalogue",
  middleware: [requireOperator] as const,
  request: { query: Page },
  responses: {
    200: ok(admin.CatalogueRows, "Everything stored, also of providers that are not configured."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const override = createRoute({
  method: "patch",
  path: "/catalogue/endpoints",
  operationId: "overrideEndpoint",
  tags: ["Catalogue"],
  summary: "Override an endpoint",
  description: "Sets the operator's price, or disables the endpoint.",
  middleware: [requireOperator, acceptJson(MAX_OVERRIDE_BYTES)] as const,
  request: { body: jsonBody(OverrideBody) },
  responses: {
    200: ok(admin.OverrideResult),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const switchProvider = createRoute({
  method: "patch",
  path: "/catalogue/providers",
  operationId: "switchProvider",
  tags: ["Catalogue"],
  summary: "Stop or resume a provider",
  description:
    "A stopped provider gets no new calls: at once in this isolate, elsewhere within 10 seconds plus the delay of KV of up to a minute. Running calls continue.",
  middleware: [requireOperator, acceptJson(MAX_OVERRIDE_BYTES)] as const,
  request: { body: jsonBody(admin.ProviderSwitchBody) },
  responses: {
    200: ok(admin.ProviderSwitchResult),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const discoverRoute = createRoute({
  method: "post",
  path: "/catalogue/discover",
  operationId: "discoverModels",
  tags: ["Catalogue"],
  summary: "Discover models of providers",
  description:
    "Adds the models that they list to the catalogue. Calls `GET /models` of each configured provider, as the hourly schedule does. A model whose price is unknown is added without one and cannot be called until a price is set with `PATCH /catalogue/endpoints`.",
  middleware: [requireOperator, acceptJson(MAX_OVERRIDE_BYTES)] as const,
  request: { body: jsonBody(admin.DiscoverBody) },
  responses: {
    200: ok(admin.DiscoverResult, "One entry for each requested provider."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

/** Routes of the catalogue for the operator. */
export const catalogueAdmin = newRouter()
  .openapi(put, async (c) => {
    const body = c.req.valid("json")
    const models = admin.toCatalogueModels(body)
    const { source, date, complete } = body
    const changed = changesOf({ source, models: models.length, date }, ["source", "models", "date"])
    const entry = entryOf(c, { action: "catalogue.put", resourceId: source, workspaceId: null, changed })
    const data = await upsertCatalogue(c.env.DB, models, { source, date, isComplete: complete, now: Date.now(), entry })
    await publishCatalogue(c.env)
    return c.json({ data }, 200)
  })
  .openapi(listRows, async (c) => {
    const rows = await listCatalogueRows(c.env.DB)
    const { items } = toPage(rows, c.req.valid("query"), c.req.url)
    const providers = configuredProviders(c.env)
    return c.json(
      {
        data: items.map((row) => admin.toStoredModel(row, providers)),
        total_count: rows.length,
        disabled_providers: await listDisabledProviders(c.env.DB),
        seed_date: await findSeedDate(c.env.DB),
      },
      200,
    )
  })
  .openapi(override, async (c) => {
    const { model: id, provider, ...change } = c.req.valid("json")
    const changed = changesOf(change, ["pricing", "disabled"])
    const event = { resourceId: `${id} ${provider}`, workspaceId: null, changed }
    const entry = entryOf(c, { action: "catalogue_endpoint.override", ...event })
    const written = await overrideEndpoint(c.env.DB, { modelId: id, provider }, change, { now: Date.now(), entry })
    if (!written) {
      throw new GatewayError(
        "not_found",
        `The catalogue has no endpoint of ${id} at ${provider}. POST /catalogue/discover adds the models that the provider lists; PUT /catalogue adds any.`,
      )
    }
    await publishCatalogue(c.env)
    return c.json({ data: admin.toStoredOffer(written, configuredProviders(c.env)) }, 200)
  })

catalogueAdmin.openapi(switchProvider, async (c) => {
  const { provider, disabled: isDisabled } = c.req.valid("json")
  if (isDisabled && !reachableProviders(c.env).has(provider)) {
    const slugs = [...reachableProviders(c.env).keys()].toSorted().join(", ")
    throw new GatewayError("invalid_request", `provider: there is no provider ${provider}. Known providers: ${slugs}.`)
  }
  const changed = changesOf({ disabled: isDisabled }, ["disabled"])
  const entry = entryOf(c, { action: "provider.switch", resourceId: provider, workspaceId: null, changed })
  await setProviderDisabled(c.env.DB, { provider, isDisabled }, { now: Date.now(), entry })
  await publishCatalogue(c.env)
  const disabledProviders = await listDisabledProviders(c.env.DB)
  return c.json({ data: { provider, disabled: isDisabled, disabled_providers: disabledProviders } }, 200)
})

catalogueAdmin.openapi(discoverRoute, async (c) => {
  const { providers } = c.req.valid("json")
  const configured = configuredProviders(c.env)
  const unknown = providers?.filter((slug) => !configured.has(slug)) ?? []
  if (unknown.length > 0) {
    throw new GatewayError("invalid_request", `providers: ${unknown.join(", ")} is not configured. ${SET_A_KEY}`)
  }
  return c.json({ data: await discover(c.env, providers) }, 200)
})

const SET_A_KEY = "Set its key, such as OPENAI_API_KEY; GET /providers lists those that are configured."
