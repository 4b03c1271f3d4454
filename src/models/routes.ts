import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { entryOf } from "../audit/actor.ts"
import { requireOperator } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { configuredProviders } from "../providers/configured.ts"
import * as admin from "./admin.ts"
import type { Model } from "./catalogue.ts"
import { loadCatalogue, publishCatalogue } from "./compile.ts"
import { discover } from "./discover.ts"
import { listModels } from "./list.ts"
import * as model from "./model.ts"
import * as schemas from "./schemas.ts"
import { OutputModalities, Page, search, Search, toPage } from "./search.ts"
import { listCatalogueRows, overrideEndpoint, upsertCatalogue } from "./store.ts"

const list = createRoute({
  method: "get",
  path: "/models",
  operationId: "listModels",
  tags: ["Models"],
  summary: "List models",
  request: { query: Search },
  responses: { 200: ok(schemas.ModelList), ...failures("invalid_request", "internal") },
})

const count = createRoute({
  method: "get",
  path: "/models/count",
  operationId: "countModels",
  tags: ["Models"],
  summary: "Count models",
  request: { query: OutputModalities },
  responses: { 200: ok(schemas.ModelCount), ...failures("invalid_request", "internal") },
})

const get = createRoute({
  method: "get",
  path: "/model/{author}/{slug}",
  operationId: "getModel",
  tags: ["Models"],
  summary: "Get a model",
  request: { params: schemas.ModelPath },
  responses: { 200: ok(schemas.ModelDetail), ...failures("not_found", "internal") },
})

const retrieve = createRoute({
  method: "get",
  path: "/models/{author}/{slug}",
  operationId: "retrieveModel",
  tags: ["Models"],
  summary: "Retrieve a model in OpenAI's form",
  description: "Without an envelope. The form that OpenAI's clients read. The slash of the id may be encoded.",
  request: { params: schemas.ModelPath },
  responses: { 200: ok(schemas.Model), ...failures("not_found", "internal") },
})

const listEndpoints = createRoute({
  method: "get",
  path: "/models/{author}/{slug}/endpoints",
  operationId: "listModelEndpoints",
  tags: ["Models"],
  summary: "List the endpoints of a model",
  request: { params: schemas.ModelPath },
  responses: { 200: ok(schemas.ModelEndpoints), ...failures("not_found", "internal") },
})

const listZeroRetention = createRoute({
  method: "get",
  path: "/endpoints/zdr",
  operationId: "listZeroRetentionEndpoints",
  tags: ["Models"],
  summary: "List endpoints that retain nothing",
  responses: { 200: ok(schemas.EndpointList), ...failures("internal") },
})

const listProviders = createRoute({
  method: "get",
  path: "/providers",
  operationId: "listProviders",
  tags: ["Models"],
  summary: "List providers",
  responses: { 200: ok(schemas.ProviderList, "The providers this deployment can reach."), ...failures("internal") },
})

type Read<Input extends { in: object; out: object }> = Context<App, string, Input>
type AtPath = { in: { param: schemas.ModelPath }; out: { param: schemas.ModelPath } }

async function answerModel(c: Read<AtPath>) {
  const { id, found } = await findModel(c)
  return c.json({ data: model.toModel(found) ?? refuseUnpriced(id) }, 200)
}

async function answerRetrieved(c: Read<AtPath>) {
  const { id, found } = await findModel(c)
  return c.json(model.toModel(found) ?? refuseUnpriced(id), 200)
}

async function answerEndpoints(c: Read<AtPath>) {
  const { found } = await findModel(c)
  return c.json({ data: model.toModelEndpoints(found, configuredProviders(c.env)) }, 200)
}

/** The same routes for ids with more slashes, as models of a custom provider may have. */
const getDeep = createRoute({ ...get, path: "/model/{author}/{slug{.+}}", hide: true })
const listDeepEndpoints = createRoute({ ...listEndpoints, path: "/models/{author}/{slug{.+}}/endpoints", hide: true })
const retrieveDeep = createRoute({ ...retrieve, path: "/models/{author}/{slug{.+}}", hide: true })
/** What can be called, for anyone to see. */
export const publicModels = newRouter()
  .openapi(list, async (c) =>
    c.json(await listModels({ env: c.env, url: c.req.url, region: null }, c.req.valid("query")), 200),
  )
  .openapi(count, async (c) => {
    const { models } = await loadCatalogue(c.env)
    const found = search(models.values(), c.req.valid("query"), configuredProviders(c.env), Date.now())
    return c.json({ data: { count: found.length } }, 200)
  })
  .openapi(get, answerModel)
  .openapi(getDeep, answerModel)
  .openapi(listEndpoints, answerEndpoints)
  .openapi(listDeepEndpoints, answerEndpoints)
  .openapi(retrieve, answerRetrieved)
  .openapi(retrieveDeep, answerRetrieved)
  .openapi(listZeroRetention, async (c) => {
    const { models } = await loadCatalogue(c.env)
    const providers = configuredProviders(c.env)
    const data = [...models.values()].flatMap((found) =>
      model
        .pricedEndpoints(found)
        .filter(({ zeroRetention }) => zeroRetention)
        .map((endpoint) => model.toPublicEndpoint(found, endpoint, providers)),
    )
    return c.json({ data }, 200)
  })
  .openapi(listProviders, (c) => {
    const data = [...configuredProviders(c.env).values()].map(model.toProviderListing)
    return c.json({ data }, 200)
  })

/** D1 takes 2 MB in one bound value, and all endpoints are one. */
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
  description: "The operator's own price, or a switch.",
  middleware: [requireOperator, acceptJson(MAX_OVERRIDE_BYTES)] as const,
  request: { body: jsonBody(admin.OverrideBody) },
  responses: {
    200: ok(admin.OverrideResult),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const discoverRoute = createRoute({
  method: "post",
  path: "/catalogue/discover",
  operationId: "discoverModels",
  tags: ["Catalogue"],
  summary: "Discover models of providers",
  description:
    "Adds what they list to the catalogue. Calls `GET /models` of each configured provider, as the hourly schedule does. A model whose price is unknown is added without one and cannot be called until a price is set with `PATCH /catalogue/endpoints`.",
  middleware: [requireOperator, acceptJson(MAX_OVERRIDE_BYTES)] as const,
  request: { body: jsonBody(admin.DiscoverBody) },
  responses: {
    200: ok(admin.DiscoverResult, "One entry for each provider that was asked."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

/** The catalogue itself, for the operator. */
export const catalogueAdmin = newRouter()
  .openapi(put, async (c) => {
    const body = c.req.valid("json")
    const models = admin.toCatalogueModels(body)
    const changed = changesOf({ source: body.source, models: models.length }, ["source", "models"])
    const entry = entryOf(c, { action: "catalogue.put", resourceId: body.source, workspaceId: null, changed })
    const data = await upsertCatalogue(c.env.DB, models, { source: body.source, now: Date.now(), entry })
    await publishCatalogue(c.env)
    return c.json({ data }, 200)
  })
  .openapi(listRows, async (c) => {
    const rows = await listCatalogueRows(c.env.DB)
    const { items } = toPage(rows, c.req.valid("query"), c.req.url)
    const providers = configuredProviders(c.env)
    return c.json({ data: items.map((row) => admin.toStoredModel(row, providers)), total_count: rows.length }, 200)
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
        `The catalogue has no endpoint of ${id} at ${provider}. PUT /catalogue adds one.`,
      )
    }
    await publishCatalogue(c.env)
    return c.json({ data: admin.toStoredOffer(written, configuredProviders(c.env)) }, 200)
  })

catalogueAdmin.openapi(discoverRoute, async (c) => {
  const { providers } = c.req.valid("json")
  const known = configuredProviders(c.env)
  const unknown = providers?.filter((slug) => !known.has(slug)) ?? []
  if (unknown.length > 0) {
    throw new GatewayError("invalid_request", `providers: ${unknown.join(", ")} is not configured. ${SET_A_KEY}`)
  }
  return c.json({ data: await discover(c.env, providers) }, 200)
})

const SET_A_KEY = "Set its key, such as OPENAI_API_KEY; GET /providers lists those that are configured."

async function findModel(c: Read<AtPath>): Promise<{ id: string; found: Model }> {
  const { author, slug } = c.req.valid("param")
  const id = `${author}/${slug}`
  const found = (await loadCatalogue(c.env)).models.get(id)
  if (!found) throw new GatewayError("not_found", `There is no model ${id}. GET /models lists what can be called.`)
  return { id, found }
}

function refuseUnpriced(id: string): never {
  throw new GatewayError("not_found", `${id} has no price, so it cannot be called. The operator can set one.`)
}
