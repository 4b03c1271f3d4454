import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { configuredProviders } from "../providers/configured.ts"
import type { Model } from "./catalogue.ts"
import { loadCatalogue } from "./compile.ts"
import { listModels } from "./lists/list.ts"
import { speaksGemini, toGeminiList, toGeminiModel } from "./lists/gemini-models.ts"
import { MESSAGES_HEADER, toMessagesList, toMessagesModel } from "./lists/messages-models.ts"
import * as model from "./model.ts"
import * as schemas from "./schemas.ts"
import { OutputModalities, search, Search } from "./lists/search.ts"

const list = createRoute({
  method: "get",
  security: [],
  path: "/models",
  operationId: "listModels",
  tags: ["Models"],
  summary: "List models",
  description:
    "With the header `anthropic-version`, models have the fields of Anthropic's API too. With `x-goog-api-key`, the response has the format of Google's API.",
  request: { query: Search },
  responses: {
    200: ok(z.union([schemas.ModelList, schemas.MessagesModelList, schemas.GeminiModelList])),
    ...failures("invalid_request", "internal"),
  },
})

const count = createRoute({
  method: "get",
  security: [],
  path: "/models/count",
  operationId: "countModels",
  tags: ["Models"],
  summary: "Count models",
  request: { query: OutputModalities },
  responses: { 200: ok(schemas.ModelCount), ...failures("invalid_request", "internal") },
})

const get = createRoute({
  method: "get",
  security: [],
  path: "/model/{author}/{slug}",
  operationId: "getModel",
  tags: ["Models"],
  summary: "Get a model",
  request: { params: schemas.ModelPath },
  responses: { 200: ok(schemas.ModelDetail), ...failures("not_found", "internal") },
})

const retrieve = createRoute({
  method: "get",
  security: [],
  path: "/models/{author}/{slug}",
  operationId: "retrieveModel",
  tags: ["Models"],
  summary: "Retrieve a model in OpenAI's format",
  description:
    "Without an envelope, as OpenAI's clients expect. The slash of the id may be encoded. With the header `anthropic-version`, the model has the fields of Anthropic's API too. With `x-goog-api-key`, it has the format of Google's API.",
  request: { params: schemas.ModelPath },
  responses: {
    200: ok(z.union([schemas.Model, schemas.MessagesModel, schemas.GeminiModel])),
    ...failures("not_found", "internal"),
  },
})

const listEndpoints = createRoute({
  method: "get",
  security: [],
  path: "/models/{author}/{slug}/endpoints",
  operationId: "listModelEndpoints",
  tags: ["Models"],
  summary: "List the endpoints of a model",
  request: { params: schemas.ModelPath },
  responses: { 200: ok(schemas.ModelEndpoints), ...failures("not_found", "internal") },
})

const listZeroRetention = createRoute({
  method: "get",
  security: [],
  path: "/endpoints/zdr",
  operationId: "listZeroRetentionEndpoints",
  tags: ["Models"],
  summary: "List endpoints with zero data retention",
  responses: { 200: ok(schemas.EndpointList), ...failures("internal") },
})

const listProviders = createRoute({
  method: "get",
  security: [],
  path: "/providers",
  operationId: "listProviders",
  tags: ["Models"],
  summary: "List providers",
  responses: { 200: ok(schemas.ProviderList, "The providers this deployment can reach."), ...failures("internal") },
})

type Read<Input extends { in: object; out: object }> = Context<App, string, Input>
type AtPath = { in: { param: schemas.ModelPath }; out: { param: schemas.ModelPath } }

async function getModel(c: Read<AtPath>) {
  const { id, found } = await findModel(c)
  return c.json({ data: model.toModel(found) ?? rejectUnpriced(id) }, 200)
}

async function retrieveModel(c: Read<AtPath>) {
  const { id, found } = await findModel(c)
  const shown = model.toModel(found) ?? rejectUnpriced(id)
  if (speaksGemini(c.req.raw)) return c.json(toGeminiModel(shown), 200)
  return c.json(c.req.header(MESSAGES_HEADER) === undefined ? shown : toMessagesModel(shown), 200)
}

async function getEndpoints(c: Read<AtPath>) {
  const { found } = await findModel(c)
  return c.json({ data: model.toModelEndpoints(found, configuredProviders(c.env)) }, 200)
}

/** The same routes for ids with more slashes, which models of a custom provider may have. */
const getDeep = createRoute({ ...get, path: "/model/{author}/{slug{.+}}", hide: true })
const listDeepEndpoints = createRoute({ ...listEndpoints, path: "/models/{author}/{slug{.+}}/endpoints", hide: true })
const retrieveDeep = createRoute({ ...retrieve, path: "/models/{author}/{slug{.+}}", hide: true })
/** Callable models, without authentication. */
export const publicModels = newRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const request = { env: c.env, url: c.req.url, region: null }
    if (speaksGemini(c.req.raw)) {
      const { data } = await listModels(request, { output_modalities: ["all"] })
      return c.json(toGeminiList(data, query), 200)
    }
    if (c.req.header(MESSAGES_HEADER) === undefined) return c.json(await listModels(request, query), 200)
    const all = await listModels(request, { ...query, limit: undefined, offset: undefined })
    return c.json(toMessagesList(all, query), 200)
  })
  .openapi(count, async (c) => {
    const { models } = await loadCatalogue(c.env)
    const found = search(models.values(), c.req.valid("query"), configuredProviders(c.env), Date.now())
    return c.json({ data: { count: found.length } }, 200)
  })
  .openapi(get, getModel)
  .openapi(getDeep, getModel)
  .openapi(listEndpoints, getEndpoints)
  .openapi(listDeepEndpoints, getEndpoints)
  .openapi(retrieve, retrieveModel)
  .openapi(retrieveDeep, retrieveModel)
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
  .openapi(listProviders, async (c) => {
    const { disabled } = await loadCatalogue(c.env)
    const providers = [...configuredProviders(c.env).values()]
    const data = providers.map((one) => model.toProviderListing(one, disabled?.has(one.slug) ?? false))
    return c.json({ data }, 200)
  })

async function findModel(c: Read<AtPath>): Promise<{ id: string; found: Model }> {
  const { author, slug } = c.req.valid("param")
  const id = `${author}/${slug}`
  const found = (await loadCatalogue(c.env)).models.get(id)
  if (!found) throw new GatewayError("not_found", `There is no model ${id}. GET /models lists callable models.`)
  return { id, found }
}

function rejectUnpriced(id: string): never {
  throw new GatewayError("not_found", `${id} has no price, so it cannot be called. The operator can set one.`)
}
