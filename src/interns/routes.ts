import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { invalidateKey } from "../access/key-cache.ts"
import { resourceScopeOf } from "../access/principal.ts"
import { entryOf } from "../audit/actor.ts"
import { changesOf, type AuditEvent } from "../audit/entry.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, json, jsonBody, ok, uuidParam } from "../http/schema.ts"
import { revokesChildren } from "../keys/lineage.ts"
import { principalByHash } from "../policy/authenticate.ts"
import type { App } from "../access/app.ts"
import { hasWorkingKey, rejectInternKey, requireInternsAccess, visibleIntern } from "./access/access.ts"
import { forbidInternKeys } from "./access/authority.ts"
import { createIntern, nameConflict, renewInternKey } from "./lifecycle/create.ts"
import { readCursor, toCursor } from "./cursor.ts"
import { storeInitialContent } from "./initial-content.ts"
import { MAX_INTERN_BODY_BYTES, addErrorReasons, lifecycleTimeout } from "./access/guards.ts"
import type { KeyTerms } from "./access/key-store.ts"
import { requireTermsRight, requireToolsRight, TERM_FIELDS, toColumns, toTerms } from "./access/key-terms.ts"
import { type InternStatus } from "./kinds.ts"
import { openIntern, identityOf } from "./lifecycle/open-intern.ts"
import { internError } from "./lifecycle/reasons.ts"
import { toRecord, toRecords } from "./record.ts"
import { newAccessNonce } from "./access/tokens.ts"
import { Intern, InternChange, InternDeletion, InternList, InternQuery, NewIntern, NoFields } from "./schemas.ts"
import { changeIntern, type InternColumns, listInterns } from "./store.ts"
import type { InternRow } from "./table.ts"
import { isUniqueViolation } from "../support/rows.ts"

const tags = ["Interns"]
export const internParams = z.object({ internId: uuidParam("an intern") })
const guards = [addErrorReasons("invalid_body"), lifecycleTimeout, requireInternsAccess] as const
const body = acceptJson(MAX_INTERN_BODY_BYTES)
const common = ["unauthenticated", "forbidden", "not_found", "timeout", "internal"] as const
const written = [...common, "invalid_request", "conflict", "payload_too_large", "unsupported_media_type"] as const
const optionalBody = <T extends z.ZodType>(schema: T) => ({ content: json(schema), required: false as const })

const create = createRoute({
  method: "post",
  path: "/interns",
  operationId: "createIntern",
  tags,
  summary: "Create an intern",
  description:
    "Also creates its vault and its key. A repeated request returns the existing intern. `clone_of` copies another intern.",
  middleware: [...guards, rejectInternKey, body] as const,
  request: {
    headers: z.object({
      "idempotency-key": z
        .string()
        .optional()
        .meta({ description: "1 to 255 characters.", minLength: 1, maxLength: 255 }),
    }),
    body: jsonBody(NewIntern),
  },
  responses: {
    200: ok(Intern, "The intern existed already."),
    201: ok(Intern, "The intern was created."),
    ...failures(...written),
  },
})

const list = createRoute({
  method: "get",
  path: "/interns",
  operationId: "listInterns",
  tags,
  summary: "List interns",
  description:
    "Of the key's workspace, newest first. A key of an app or of the free tier sees only those that it created.",
  middleware: [...guards, rejectInternKey] as const,
  request: { query: InternQuery },
  responses: { 200: ok(InternList), ...failures(...common, "invalid_request") },
})

const get = createRoute({
  method: "get",
  path: "/interns/{internId}",
  operationId: "getIntern",
  summary: "Get an intern",
  tags,
  middleware: [...guards] as const,
  request: { params: internParams },
  responses: { 200: ok(Intern), ...failures(...common, "invalid_request") },
})

const update = createRoute({
  method: "patch",
  path: "/interns/{internId}",
  operationId: "updateIntern",
  tags,
  summary: "Update an intern",
  description: "A new model or new instructions take effect at the next provision, a budget at once.",
  middleware: [...guards, body] as const,
  request: { params: internParams, body: optionalBody(InternChange) },
  responses: { 200: ok(Intern), ...failures(...written) },
})

const remove = createRoute({
  method: "delete",
  path: "/interns/{internId}",
  operationId: "deleteIntern",
  tags,
  summary: "Delete an intern",
  description: "Also deletes its disk, its vault and its key.",
  middleware: [...guards, body] as const,
  request: { params: internParams, body: optionalBody(InternDeletion) },
  responses: { 202: ok(z.object({ deleting: z.literal(true) })), ...failures(...written) },
})

const provision = createRoute({
  method: "post",
  path: "/interns/{internId}/provision",
  operationId: "provisionIntern",
  tags,
  summary: "Provision an intern",
  description: "Starts the intern: for the first time, after suspension, or with a changed configuration.",
  middleware: [...guards, body] as const,
  request: { params: internParams, body: optionalBody(NoFields) },
  responses: { 202: ok(z.object({ provisioning: z.literal(true) })), ...failures(...written) },
})

const suspend = createRoute({
  method: "post",
  path: "/interns/{internId}/suspend",
  operationId: "suspendIntern",
  tags,
  summary: "Suspend an intern",
  description: "Cancels its runs. Its disk and its configuration stay.",
  middleware: [...guards, body] as const,
  request: { params: internParams, body: optionalBody(NoFields) },
  responses: { 200: ok(z.object({ suspended: z.literal(true) })), ...failures(...written) },
})

const PROVISIONABLE: readonly InternStatus[] = ["queued", "provisioning", "running", "failed", "stopped"]
/** Statuses in which a repeated creation resumes provisioning. */
const UNFINISHED: readonly InternStatus[] = ["queued", "failed"]
const SUSPENDABLE: readonly InternStatus[] = ["provisioning", "running", "failed", "stopped"]
const DELETABLE: readonly InternStatus[] = [...PROVISIONABLE, "awaiting_vendor_install", "destroying", "destroy_failed"]

export const interns = newRouter()
  .openapi(create, async (c) => {
    const input = c.req.valid("json")
    const { row, isNew } = await createIntern(c, input)
    if (row.status === "queued") await storeInitialContent(readerOf(c), identityOf(c, row), input)
    const shouldStart = input.provision && UNFINISHED.includes(row.status)
    const result = shouldStart ? await startProvisioning(c, row) : row
    const record = await toRecord(readerOf(c), result)
    return isNew ? c.json(record, 201) : c.json(record, 200)
  })
  .openapi(list, async (c) => {
    const { principal } = c.var
    const query = c.req.valid("query")
    if (query.workspace_id !== undefined && query.workspace_id !== principal.workspaceId) {
      throw internError("not_found", "workspace_id: must be the workspace of this key.")
    }
    const after = query.starting_after === undefined ? undefined : readCursor(query.starting_after)
    const { rows, total } = await listInterns(c.env.DB, principal, {
      statuses: query.status,
      q: query.q,
      onlyKey: resourceScopeOf(principal).onlyKey,
      limit: query.limit,
      after,
    })
    const page = rows.slice(0, query.limit)
    const last = page.at(-1)
    const hasMore = rows.length > page.length
    const next = hasMore && last ? { next_cursor: toCursor(last) } : {}
    return c.json({ data: await toRecords(readerOf(c), page), has_more: hasMore, total_count: total, ...next }, 200)
  })
  .openapi(get, async (c) =>
    c.json(await toRecord(readerOf(c), await visibleIntern(c, c.req.valid("param").internId)), 200),
  )
  .openapi(update, async (c) => {
    const row = await changeableIntern(c, c.req.valid("param").internId)
    const input = (c.req.valid("json") as InternChange | undefined) ?? {}
    const terms = toTerms(input)
    requireTermsRight(c.var.principal, row, terms)
    if (terms.mcpTools) requireToolsRight(c.var.principal, await creatorKeyOf(c, row), terms.mcpTools)
    const changed = changesOf(input, ["name", "description", "model", ...TERM_FIELDS])
    const columns = toColumns(input)
    const after = await change(c, { row, columns, terms, from: DELETABLE, event: { action: "intern.update", changed } })
    invalidateKey(after.keyHash)
    return c.json(await toRecord(readerOf(c), after), 200)
  })
  .openapi(remove, async (c) => {
    const row = await changeableIntern(c, c.req.valid("param").internId)
    const deletion = c.req.valid("json") as z.infer<typeof InternDeletion> | undefined
    const isAcknowledged = deletion?.acknowledge_workspace_loss ?? false
    const next = { status: "destroying", progress: null } as const
    const going = await change(c, { row, columns: next, from: DELETABLE, event: { action: "intern.delete" } })
    await openIntern(c.env, row.id).destroy(identityOf(c, going), isAcknowledged)
    return c.json({ deleting: true } as const, 202)
  })
  .openapi(provision, async (c) => {
    await startProvisioning(c, await changeableIntern(c, c.req.valid("param").internId))
    return c.json({ provisioning: true } as const, 202)
  })
  .openapi(suspend, async (c) => {
    const row = await changeableIntern(c, c.req.valid("param").internId)
    await change(c, {
      row,
      columns: { status: "stopped", progress: null },
      from: SUSPENDABLE,
      event: { action: "intern.suspend" },
    })
    await openIntern(c.env, row.id).suspend()
    return c.json({ suspended: true } as const, 200)
  })

const readerOf = (c: Context<App>) => ({ env: c.env, principal: c.var.principal })

/** An intern that the principal can see and may change. */
async function changeableIntern(c: Context<App>, id: string): Promise<InternRow> {
  const row = await visibleIntern(c, id)
  forbidInternKeys(c.var.principal)
  return row
}

/** Starts an intern, with a new key if its own no longer works. */
export async function startProvisioning(c: Context<App>, found: InternRow): Promise<InternRow> {
  const row = (await hasWorkingKey(c.env, found)) ? found : await renewInternKey(c, found)
  const next = {
    status: "provisioning",
    lastFailureMessage: null,
    accessNonce: newAccessNonce(),
  } satisfies InternColumns
  const started = await change(c, { row, columns: next, from: PROVISIONABLE, event: { action: "intern.provision" } })
  await openIntern(c.env, row.id).provision(identityOf(c, started))
  return started
}

/** The key that made an intern, if its rights bind the intern. */
async function creatorKeyOf(c: Context<App>, { keyHash }: InternRow) {
  const creatorKey = await principalByHash(keyHash, c.env, Date.now())
  return creatorKey?.ancestors.slice(0, 1).find(({ kind }) => revokesChildren(kind))
}

type ChangeEvent = Pick<AuditEvent, "action" | "changed">

type InternUpdate = {
  row: InternRow
  columns: InternColumns
  terms?: Partial<KeyTerms>
  from: readonly InternStatus[]
  event: ChangeEvent
}

/** Changes an intern on behalf of the principal. Throws if its status is not in `from`. */
async function change(c: Context<App>, { row, columns, terms, from, event }: InternUpdate): Promise<InternRow> {
  const { principal } = c.var
  const entry = entryOf(c, { ...event, resourceId: row.id, workspaceId: row.workspaceId })
  try {
    const changed = await changeIntern(
      c.env.DB,
      { ...principal, id: row.id },
      { columns, terms, from, now: Date.now(), entry },
    )
    if (changed) return changed
  } catch (cause) {
    if (isUniqueViolation(cause)) throw nameConflict(columns.name ?? row.name)
    throw cause
  }
  throw internError(
    "intern_not_running",
    `The intern is ${row.status.replaceAll("_", " ")}, so this cannot be done now.`,
  )
}
