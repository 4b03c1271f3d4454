import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../../access/app.ts"
import { type ResourceScope, resourceScopeOf } from "../../access/principal.ts"
import { actorOf, entryOf } from "../../audit/actor.ts"
import { GatewayError } from "../../errors/errors.ts"
import { listFilesOfBatch } from "../../files/store.ts"
import { deleteStored } from "../../files/stored-file.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, json, jsonBody, ok } from "../../http/schema.ts"
import { isFinal, pathOfEndpoint } from "../batch.ts"
import { cancelRequested, createBatch, newBatchId, noSuchBatch, requestedBatch, scopeOf } from "../common-routes.ts"
import { MESSAGES_ENDPOINT, toMessageBatch } from "./message-batch.ts"
import { linesOfRequests, storeInput } from "./message-batch-input.ts"
import { resultsOf } from "./message-batch-results.ts"
import {
  DeletedMessageBatch,
  MessageBatch,
  MessageBatchesQuery,
  MessageBatchPage,
  MessageBatchPath,
  NewMessageBatch,
} from "./message-batch-schemas.ts"
import { NoFields, WorkspaceQuery } from "../schemas.ts"
import { deleteBatch, listBatches } from "../store.ts"
import type { BatchRow } from "../table.ts"

const MAX_BODY_BYTES = 16 * 1024 * 1024

const PATH = "/messages/batches"
const tags = ["Batches"]
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const one = { params: MessageBatchPath, query: WorkspaceQuery }

const create = createRoute({
  method: "post",
  path: PATH,
  operationId: "createMessageBatch",
  tags,
  summary: "Create a batch of messages",
  description:
    "The batch API of Anthropic's clients. Runs the requests in the background, with this key; each is one call with its separate hold and charge.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewMessageBatch) },
  responses: {
    200: ok(MessageBatch, "The batch, before it runs."),
    ...FAILURES,
    ...failures("payload_too_large", "unsupported_media_type", "rate_limited"),
  },
})

const list = createRoute({
  method: "get",
  path: PATH,
  operationId: "listMessageBatches",
  tags,
  summary: "List batches of messages",
  description: "Of a workspace, newest first, however they were created.",
  request: { query: MessageBatchesQuery },
  responses: { 200: ok(MessageBatchPage), ...FAILURES },
})

const retrieve = createRoute({
  method: "get",
  path: `${PATH}/{message_batch_id}`,
  operationId: "retrieveMessageBatch",
  tags,
  summary: "Get a batch of messages",
  request: one,
  responses: { 200: ok(MessageBatch), ...FAILURES },
})

const cancel = createRoute({
  method: "post",
  path: `${PATH}/{message_batch_id}/cancel`,
  operationId: "cancelMessageBatch",
  tags,
  summary: "Cancel a batch of messages",
  description: "Starts no further request. Requests in flight finish, and have a result.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { ...one, body: { content: json(NoFields) } },
  responses: {
    200: ok(MessageBatch),
    ...FAILURES,
    ...failures("conflict", "payload_too_large", "unsupported_media_type"),
  },
})

const remove = createRoute({
  method: "delete",
  path: `${PATH}/{message_batch_id}`,
  operationId: "deleteMessageBatch",
  tags,
  summary: "Delete a batch of messages",
  description: "Deletes a batch that has ended, with its results. The records of its calls stay.",
  request: one,
  responses: { 200: ok(DeletedMessageBatch), ...FAILURES, ...failures("conflict") },
})

const results = createRoute({
  method: "get",
  path: `${PATH}/{message_batch_id}/results`,
  operationId: "retrieveMessageBatchResults",
  tags,
  summary: "Download the results of a batch of messages",
  description: "One line of JSON a request, `{custom_id, result}`, in any order.",
  request: one,
  responses: {
    200: { description: "The results.", content: { "application/octet-stream": { schema: z.unknown() } } },
    ...FAILURES,
    ...failures("conflict", "unavailable"),
  },
})

export const messageBatches = newRouter({ relaysText: true })
  .openapi(create, async (c) => {
    const { requests, provider } = c.req.valid("json")
    const lines = linesOfRequests(requests)
    const id = newBatchId()
    const { principal } = c.var
    const file = await storeInput(c.env, { lines, batchId: id, owner: principal, actor: actorOf(c) })
    const input = { id, endpoint: MESSAGES_ENDPOINT, inputFileId: file.id, total: lines.length, provider }
    const row = await createBatch(c, input).catch(async (thrown: unknown) => {
      await removeFile(c, resourceScopeOf(principal), file.id)
      throw thrown
    })
    return c.json(toMessageBatch(row, collectionUrl(c)), 200)
  })
  .openapi(list, async (c) => {
    const { limit, after_id: after, before_id: before, workspace_id: filter } = c.req.valid("query")
    if (after !== undefined && before !== undefined) {
      throw new GatewayError("invalid_request", "Send after_id or before_id, not both.")
    }
    const scope = await scopeOf(c, filter)
    const rows = await listBatches(c.env.DB, scope, { after, before, limit, path: pathOfEndpoint(MESSAGES_ENDPOINT) })
    const page = before === undefined ? rows.slice(0, limit) : rows.slice(-limit)
    const data = page.map((row) => toMessageBatch(row, collectionUrl(c)))
    const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
    return c.json({ data, first_id: first, last_id: last, has_more: rows.length > limit }, 200)
  })
  .openapi(retrieve, async (c) => {
    const { row } = await requireMessageBatch(c, c.req.valid("param"), c.req.valid("query"))
    return c.json(toMessageBatch(row, collectionUrl(c)), 200)
  })
  .openapi(cancel, async (c) => {
    const { scope, row } = await requireMessageBatch(c, c.req.valid("param"), c.req.valid("query"))
    return c.json(toMessageBatch(await cancelRequested(c, scope, row.id), collectionUrl(c)), 200)
  })
  .openapi(remove, async (c) => {
    const { scope, row } = await requireMessageBatch(c, c.req.valid("param"), c.req.valid("query"))
    if (!isFinal(row.status)) throw notEndedError("deleted")
    const { id } = row
    for (const file of await listFilesOfBatch(c.env.DB, scope, id)) await removeFile(c, scope, file)
    const entry = entryOf(c, { action: "batch.delete", resourceId: id, workspaceId: scope.workspaceId })
    if (!(await deleteBatch(c.env.DB, { scope, id, entry }))) throw noSuchBatch()
    return c.json({ id, type: "message_batch_deleted" as const }, 200)
  })
  .openapi(results, async (c) => {
    const { row } = await requireMessageBatch(c, c.req.valid("param"), c.req.valid("query"))
    if (!isFinal(row.status)) throw notEndedError("read")
    const headers = { "content-type": "application/octet-stream", "cache-control": "no-store" }
    return new Response(await resultsOf(row, c.env), { headers: { ...headers, "x-content-type-options": "nosniff" } })
  })

/** The absolute URL of `/messages/batches`, with the prefix of the request. */
function collectionUrl(c: Context<App>): string {
  const { origin, pathname } = new URL(c.req.url)
  return origin + pathname.slice(0, pathname.indexOf(PATH) + PATH.length)
}

/** A batch of messages. Throws 404 for an unknown one, and for a batch of another endpoint. */
async function requireMessageBatch(
  c: Context<App>,
  { message_batch_id: id }: z.infer<typeof MessageBatchPath>,
  { workspace_id: filter }: z.infer<typeof WorkspaceQuery>,
): Promise<{ scope: ResourceScope; row: BatchRow }> {
  const scope = await scopeOf(c, filter)
  const row = await requestedBatch(c, scope, id)
  if (pathOfEndpoint(row.endpoint) !== pathOfEndpoint(MESSAGES_ENDPOINT)) throw noSuchBatch()
  return { scope, row }
}

function notEndedError(what: string): GatewayError {
  return new GatewayError("conflict", `The batch has not ended: cancel it or wait before it is ${what}.`)
}

async function removeFile(c: Context<App>, owner: ResourceScope, id: string): Promise<void> {
  const scope = { ...owner, mayExport: false }
  const entry = entryOf(c, { action: "file.delete", resourceId: id, workspaceId: owner.workspaceId })
  await deleteStored(c.env, { scope, id, now: Date.now(), entry })
}
