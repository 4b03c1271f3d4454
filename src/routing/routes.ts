import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { listModels } from "../models/routes.ts"
import { ModelList } from "../models/schemas.ts"
import { OutputModalities, Page } from "../models/search.ts"
import { callerOf } from "../policy/call-policy.ts"

const listForUser = createRoute({
  method: "get",
  path: "/models/user",
  operationId: "listModelsForUser",
  tags: ["Models"],
  summary: "List the models that the key may call",
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
  responses: { 200: ok(ModelList), ...failures("invalid_request", "unauthenticated", "internal") },
})

/** What the caller's key can call. */
export const keyedModels = newRouter()
  .openapi(listForUser, async (c) => c.json(await listModels(c, c.req.valid("query"), filtersOf(c)), 200))
  .openapi(listEmbeddings, async (c) => {
    const query = { ...c.req.valid("query"), output_modalities: ["embeddings"] }
    return c.json(await listModels(c, query, filtersOf(c)), 200)
  })

function filtersOf(c: Context<App>) {
  return callerOf(c.var.principal).guardrails?.routeFilters()
}
