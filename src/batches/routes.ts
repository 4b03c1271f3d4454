import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { resourceScopeOf } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { findFile } from "../files/store.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, json, jsonBody, ok } from "../http/schema.ts"
import { cancelRequested, createBatch, newBatchId, requestedBatch, scopeOf } from "./common-routes.ts"
import { costsOf } from "./cost-store.ts"
import { toBatchRecord } from "./record.ts"
import {
  BatchesQuery,
  BatchPage,
  BatchPath,
  BatchQuery,
  BatchRecord,
  NewBatch,
  NoFields,
  WorkspaceQuery,
} from "./schemas.ts"
import { listBatches } from "./store.ts"
import type { BatchRow } from "./table.ts"

const MAX_BODY_BYTES = 65_536

const tags = ["Batches"]
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const create = createRoute({
  method: "post",
  path: "/batches",
  operationId: "createBatch",
  tags,
  summary: "Create a batch",
  description:
    'Runs the requests of a JSONL file in the background, with this key. Each line is `{custom_id, method: "POST", url, body}`; `url` equals `endpoint`. Each request is one call with its ' +
    "separate hold and charge. Responses are a file: `output_file_id`, at `GET /files/{file_id}/content`.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewBatch) },
  responses: {
    200: ok(BatchRecord, "The batch, before its validation."),
    ...FAILURES,
    ...failures("payload_too_large", "unsupported_media_type", "rate_limited"),
  },
})

const list = createRoute({
  method: "get",
  path: "/batches",
  operationId: "listBatches",
  tags,
  summary: "List batches",
  description: "Of a workspace, newest first.",
  request: { query: BatchesQuery },
  responses: { 200: ok(BatchPage), ...FAILURES },
})

const retrieve = createRoute({
  method: "get",
  path: "/batches/{batch_id}",
  operationId: "retrieveBatch",
  tags,
  summary: "Get a batch",
  request: { params: BatchPath, query: BatchQuery },
  responses: { 200: ok(BatchRecord), ...FAILURES },
})

const cancel = createRoute({
  method: "post",
  path: "/batches/{batch_id}/cancel",
  operationId: "cancelBatch",
  tags,
  summary: "Cancel a batch",
  description: "Starts no further request. Requests in flight finish, and the output has all results so far.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { params: BatchPath, query: WorkspaceQuery, body: { content: json(NoFields) } },
  responses: {
    200: ok(BatchRecord),
    ...FAILURES,
    ...failures("conflict", "payload_too_large", "unsupported_media_type"),
  },
})

export const batches = newRouter()
  .openapi(create, async (c) => {
    const { principal } = c.var
    const input = c.req.valid("json")
    const scope = { ...resourceScopeOf(principal), mayExport: principal.kind === "management" }
    const file = await findFile(c.env.DB, scope, input.input_file_id)
    if (!file) throw new GatewayError("not_found", "input_file_id: There is no file with this id in this workspace.")
    const { endpoint, metadata, provider, output_expires_after: expiry } = input
    const about = { endpoint, inputFileId: file.id, metadata, provider, outputExpiresAfterS: expiry?.seconds }
    const row = await createBatch(c, { id: newBatchId(), ...about })
    return c.json(toBatchRecord(row), 200)
  })
  .openapi(list, async (c) => {
    const { limit, after, status, workspace_id: workspaceFilter, include_cost: withCost } = c.req.valid("query")
    const rows = await listBatches(c.env.DB, await scopeOf(c, workspaceFilter), { after, status, limit })
    const data = await recordsOf(c, rows.slice(0, limit), withCost)
    const page = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: rows.length > limit }
    return c.json({ object: "list" as const, data, ...page }, 200)
  })
  .openapi(retrieve, async (c) => {
    const { batch_id: id } = c.req.valid("param")
    const { workspace_id: workspaceFilter, include_cost: withCost } = c.req.valid("query")
    const row = await requestedBatch(c, await scopeOf(c, workspaceFilter), id)
    const [record = toBatchRecord(row)] = await recordsOf(c, [row], withCost)
    return c.json(record, 200)
  })
  .openapi(cancel, async (c) => {
    const { batch_id: id } = c.req.valid("param")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const row = await cancelRequested(c, scope, id)
    return c.json(toBatchRecord(row), 200)
  })

async function recordsOf(c: Context<App>, rows: readonly BatchRow[], withCost: string | undefined) {
  if (withCost !== "true") return rows.map((row) => toBatchRecord(row))
  const costs = await costsOf(c.env.DB, c.var.principal.organizationId, rows)
  return rows.map((row) => toBatchRecord(row, costs.get(row.id) ?? 0))
}
