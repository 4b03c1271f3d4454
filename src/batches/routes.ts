import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { actorOf, entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { usableCredentials } from "../byok/usable-credentials.ts"
import { configuredProviders, reachableProviders } from "../providers/configured.ts"
import { type Caller, callerOf } from "../policy/call-policy.ts"
import type { App } from "../access/app.ts"
import { GatewayError } from "../errors/errors.ts"
import { findFile } from "../files/store.ts"
import { regionOf } from "../http/region.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, json, jsonBody, ok } from "../http/schema.ts"
import { newId } from "../support/ids.ts"
import { logError } from "../support/log.ts"
import { workspaceNotFound, workspaceOf } from "../workspaces/requested.ts"
import { findWorkspace } from "../workspaces/store.ts"
import { type BatchOrigin, COMPLETION_WINDOW_MS, isFinal, MAX_UNFINISHED } from "./batch.ts"
import { wakeBatch } from "./open-batch.ts"
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
import { costsOf } from "./cost-store.ts"
import { type BatchScope, cancelBatch, findBatch, insertBatch, listBatches } from "./store.ts"
import type { BatchRow } from "./table.ts"

const MAX_BODY_BYTES = 65_536
const AUDITED_FIELDS = ["input_file_id", "endpoint", "completion_window", "metadata", "provider"]

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
    const { organizationId, workspaceId, keyHash, internId, kind } = c.var.principal
    const input = c.req.valid("json")
    const scope = { organizationId, workspaceId, internId }
    const file = await findFile(c.env.DB, { ...scope, mayExport: kind === "management" }, input.input_file_id)
    if (!file) throw new GatewayError("not_found", "input_file_id: There is no file with this id in this workspace.")
    if (input.provider != null) requireBatches(c.env, callerOf(c.var.principal), input.provider)
    const now = Date.now()
    const row: BatchRow = {
      ...scope,
      id: `batch_${newId()}`,
      keyHash,
      status: "validating",
      endpoint: input.endpoint,
      inputFileId: file.id,
      outputFileId: null,
      errorFileId: null,
      metadata: input.metadata ?? null,
      origin: { ...originOf(c), ...(input.provider != null && { provider: input.provider }) },
      errors: [],
      progress: {},
      reached: {},
      createdAt: now,
      updatedAt: now,
      expiresAt: now + COMPLETION_WINDOW_MS,
    }
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "batch.create", resourceId: row.id, workspaceId, changed })
    if (!(await insertBatch(c.env.DB, row, entry))) {
      throw (await findWorkspace(c.env.DB, organizationId, workspaceId)) ? tooMany() : workspaceNotFound()
    }
    await wake(c, row.id)
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
    const row = await find(c, await scopeOf(c, workspaceFilter), id)
    const [record = toBatchRecord(row)] = await recordsOf(c, [row], withCost)
    return c.json(record, 200)
  })
  .openapi(cancel, async (c) => {
    const { batch_id: id } = c.req.valid("param")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const entry = entryOf(c, { action: "batch.cancel", resourceId: id, workspaceId: scope.workspaceId })
    const cancelled = await cancelBatch(c.env.DB, { scope, id, now: Date.now(), entry })
    if (cancelled) await wake(c, id)
    const row = cancelled ?? (await find(c, scope, id))
    if (isFinal(row.status) || row.status === "finalizing") {
      throw new GatewayError("conflict", `The batch is ${row.status}: only a running batch can be cancelled.`)
    }
    return c.json(toBatchRecord(row), 200)
  })

/** Checks the gateway's providers, and those that a credential of the workspace gives this key access to. */
function requireBatches(env: Env, caller: Caller, slug: string): void {
  const credentialed = new Set(usableCredentials(caller).map(({ provider }) => provider))
  const available = [...reachableProviders(env).values()].filter((provider) => credentialed.has(provider.slug))
  const all = new Set([...configuredProviders(env).values(), ...available])
  const providers = [...all].filter(({ batches: found }) => found)
  if (providers.some((provider) => provider.slug === slug)) return
  const slugs = providers.map((provider) => provider.slug).join(", ")
  const text = slugs === "" ? "No configured provider has batches." : `Providers with batches: ${slugs}.`
  throw new GatewayError("invalid_request", `provider: ${slug} has no batches here. ${text}`)
}

async function scopeOf(c: Context<App>, workspaceFilter: string | undefined): Promise<BatchScope> {
  const { organizationId, internId } = c.var.principal
  return { organizationId, workspaceId: await workspaceOf(c.env.DB, c.var.principal, workspaceFilter), internId }
}

async function recordsOf(c: Context<App>, rows: readonly BatchRow[], withCost: string | undefined) {
  if (withCost !== "true") return rows.map((row) => toBatchRecord(row))
  const costs = await costsOf(c.env.DB, c.var.principal.organizationId, rows)
  return rows.map((row) => toBatchRecord(row, costs.get(row.id) ?? 0))
}

async function find(c: Context<App>, scope: BatchScope, id: string): Promise<BatchRow> {
  const row = await findBatch(c.env.DB, scope, id)
  if (!row) throw new GatewayError("not_found", "There is no batch with this id in this workspace.")
  return row
}

/** The row is written: if the object cannot be reached now, the cron trigger wakes it. */
async function wake(c: Context<App>, id: string): Promise<void> {
  await wakeBatch(c.env, id).catch((cause: unknown) => logError("batch was not woken", { batch: id }, cause))
}

/** Headers that are recorded with every call of the batch, or that change the meaning of its requests. */
const RECORDED_HEADERS = ["http-referer", "referer", "x-title", "user-agent", "anthropic-beta"]
const MAX_HEADER_LENGTH = 512

function originOf(c: Context<App>): BatchOrigin {
  const { headers, url } = c.req.raw
  const recorded = RECORDED_HEADERS.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value.slice(0, MAX_HEADER_LENGTH)] as const]
  })
  const { label, creatorUserId, requestId } = actorOf(c)
  return {
    host: new URL(url).hostname,
    region: regionOf(c.req.raw, c.env),
    headers: Object.fromEntries(recorded),
    actor: { label, creatorUserId, requestId },
  }
}

function tooMany(): GatewayError {
  const message = `This workspace has ${MAX_UNFINISHED} unfinished batches, the maximum. Wait for one, or cancel one.`
  return new GatewayError("rate_limited", message, { metadata: { reason: "batch_limit", retryable: true } })
}
