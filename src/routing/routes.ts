import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { regionOf } from "../http/request/region.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { listModels } from "../models/lists/list.ts"
import { EmbeddingsModelList, ModelList } from "../models/schemas.ts"
import { OutputModalities, Page } from "../models/lists/search.ts"
import { callerOf } from "../policy/call-policy.ts"
import { type ModelListDeps, modelsOf } from "./callable-models.ts"

const listForUser = createRoute({
  method: "get",
  path: "/models/user",
  operationId: "listModelsForUser",
  tags: ["Models"],
  summary: "List the models of the key",
  description: "Also lists the aliases of its workspace.",
  request: { query: Page.extend(OutputModalities.shape) },
  responses: { 200: ok(ModelList), ...failures("invalid_request", "unauthenticated", "internal") },
})

const listEmbeddings = createRoute({
  method: "get",
  path: "/embeddings/models",
  operationId: "listEmbeddingsModels",
  tags: ["Embeddings"],
  summary: "List embedding models",
  request: { query: Page },
  responses: { 200: ok(EmbeddingsModelList), ...failures("invalid_request", "unauthenticated", "internal") },
})

/** Models that the principal's key can call. */
export const keyedModels = newRouter()
  .openapi(listForUser, async (c) => {
    return c.json(await modelsOf(modelListDepsOf(c), c.var.principal, c.req.valid("query")), 200)
  })
  .openapi(listEmbeddings, async (c) => {
    const query = { ...c.req.valid("query"), output_modalities: ["embeddings"] }
    const filters = callerOf(c.var.principal).guardrails?.routeFilters()
    const page = await listModels(modelListDepsOf(c), query, { filters })
    const data = page.data.map((model) => ({ ...model, context_length: model.context_length ?? 0 }))
    return c.json({ ...page, data }, 200)
  })

function modelListDepsOf(c: Context<App>): ModelListDeps {
  return { env: c.env, url: c.req.url, region: regionOf(c.req.raw, c.env) }
}
