import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { forgetKey } from "../access/authenticate.ts"
import { entryOf } from "../access/actor.ts"
import { auditForbidden, type Caller, requireProvisioning } from "../access/caller.ts"
import { changesOf } from "../audit/entry.ts"
import { newCounters } from "../credits/ledger.ts"
import { freeLimits } from "../credits/free-requests.ts"
import { openLedger } from "../credits/ledger-client.ts"
import { GatewayError } from "../edge/errors.ts"
import { acceptJson, newRouter } from "../edge/router.ts"
import { failures, jsonBody, ok } from "../edge/schema.ts"
import { askedWorkspace, noSuchWorkspace } from "../workspaces/asked.ts"
import { capAfter, mayMint, mintKey, requireWithin, toApiKey, toCurrentKey, toKeyChange, TOLD_FIELDS } from "./key.ts"
import { ApiKey, ApiKeyChange, CurrentKey, NewApiKey } from "./schemas.ts"
import { deleteKey, findKeyRow, type KeyRow, insertKey, isLeaver, listKeys, updateKey } from "./store.ts"
import { isTaken } from "../support/rows.ts"

const MAX_BODY_BYTES = 65_536
const PAGE_SIZE = 100

const tags = ["API keys"]
const data = <T extends z.ZodType>(schema: T) => z.object({ data: schema })
const hashParam = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"),
})

const current = createRoute({
  method: "get",
  path: "/key",
  operationId: "getCurrentKey",
  tags,
  summary: "The key that asks: its limits and what it has used.",
  responses: { 200: ok(data(CurrentKey)), ...failures("unauthenticated", "internal") },
})

const list = createRoute({
  method: "get",
  path: "/keys",
  operationId: "listApiKeys",
  tags,
  summary: "The keys of a workspace, newest first.",
  middleware: [requireProvisioning] as const,
  request: {
    query: z.object({
      include_disabled: z.enum(["true", "false"], { error: "accepts true or false" }).default("false"),
      offset: z.coerce.number().int().min(0, "must be 0 or more").default(0),
      limit: z.coerce
        .number()
        .int()
        .min(1, "must be from 1 to 100")
        .max(100, "must be from 1 to 100")
        .default(PAGE_SIZE),
      workspace_id: z.uuid("must be the UUID of a workspace").optional(),
    }),
  },
  responses: {
    200: ok(z.object({ data: z.array(ApiKey), total_count: z.int() })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const create = createRoute({
  method: "post",
  path: "/keys",
  operationId: "createApiKey",
  tags,
  summary: "A new key. Its secret is in this answer and nowhere else.",
  middleware: [requireProvisioning, auditForbidden, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewApiKey) },
  responses: {
    201: ok(
      z.object({ data: ApiKey, key: z.string().meta({ description: "Empty for a key of the caller's own making." }) }),
      "The key, with its secret.",
    ),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

const get = createRoute({
  method: "get",
  path: "/keys/{hash}",
  operationId: "getApiKey",
  tags,
  middleware: [requireProvisioning] as const,
  request: { params: hashParam },
  responses: {
    200: ok(data(ApiKey)),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const update = createRoute({
  method: "patch",
  path: "/keys/{hash}",
  operationId: "updateApiKey",
  tags,
  middleware: [requireProvisioning, auditForbidden, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params: hashParam, body: jsonBody(ApiKeyChange) },
  responses: {
    200: ok(data(ApiKey)),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const remove = createRoute({
  method: "delete",
  path: "/keys/{hash}",
  operationId: "deleteApiKey",
  tags,
  middleware: [requireProvisioning, auditForbidden] as const,
  request: { params: hashParam },
  responses: {
    200: ok(z.object({ deleted: z.literal(true) })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const keys = newRouter()
  .openapi(current, async (c) => {
    const { caller } = c.var
    const limits = freeLimits(c.env)
    const ledger = caller.organizationId ? openLedger(c.env, caller.organizationId) : undefined
    const [usage, freeToday] = await Promise.all([ledger?.usage([caller.keyHash]), ledger?.freeToday(limits)])
    const free = freeToday ?? { limit: limits.perDay, used: 0 }
    return c.json({ data: toCurrentKey(caller, usage?.[0] ?? newCounters(Date.now()), free) }, 200)
  })
  .openapi(list, async (c) => {
    const { organizationId } = c.var.caller
    const query = c.req.valid("query")
    const workspaceId = await askedWorkspace(c.env.DB, organizationId, query.workspace_id)
    const page = { workspaceId, includeDisabled: query.include_disabled === "true", ...query }
    const { rows, total } = await listKeys(c.env.DB, organizationId, page)
    const counters = await openLedger(c.env, organizationId).usage(rows.map((row) => row.hash))
    return c.json({ data: rows.map((row, index) => toApiKey(row, counters[index])), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { caller } = c.var
    const input = c.req.valid("json")
    const workspaceId = await askedWorkspace(c.env.DB, caller.organizationId, input.workspace_id)
    const { secret, row } = mintKey(input, caller, workspaceId, Date.now())
    const changed = changesOf(input, TOLD_FIELDS)
    const entry = entryOf(c, { action: "api_key.create", resourceId: row.hash, workspaceId, changed })
    const inserted = await insertKey(c.env.DB, row, entry).catch(undefinedIfTaken)
    if (inserted === undefined) throw new GatewayError("conflict", "external.api_key: this key exists already.")
    if (!inserted) throw await uninserted(c.env.DB, row)
    forgetKey(row.hash)
    return c.json({ data: toApiKey(row), key: secret ?? "" }, 201)
  })
  .openapi(get, async (c) => {
    const { organizationId } = c.var.caller
    const row = await findKeyRow(c.env.DB, organizationId, c.req.valid("param").hash)
    if (!row) throw noSuchKey()
    const [counters] = await openLedger(c.env, organizationId).usage([row.hash])
    return c.json({ data: toApiKey(row, counters) }, 200)
  })
  .openapi(update, async (c) => {
    const { caller } = c.var
    const { hash } = c.req.valid("param")
    const input = c.req.valid("json")
    const change = toKeyChange(input)
    const before = await requireAuthorityOver(c.env.DB, caller, hash)
    // Renaming, disabling and the like are no matter of caps.
    if (CAP_COLUMNS.some((column) => column in change)) requireWithin(caller, capAfter(before, change))
    const changed = changesOf(input, TOLD_FIELDS)
    const deed = { resourceId: hash, workspaceId: before.workspace_id, changed }
    const entry = entryOf(c, { action: "api_key.update", ...deed })
    const row = await updateKey(c.env.DB, caller.organizationId, hash, change, Date.now(), entry)
    if (!row) throw (await leaverOf(c.env.DB, before, "disabled: its creator")) ?? noSuchKey()
    forgetKey(hash)
    const [counters] = await openLedger(c.env, caller.organizationId).usage([hash])
    return c.json({ data: toApiKey(row, counters) }, 200)
  })
  .openapi(remove, async (c) => {
    const { hash } = c.req.valid("param")
    const { workspace_id: workspaceId } = await requireAuthorityOver(c.env.DB, c.var.caller, hash)
    const entry = entryOf(c, { action: "api_key.delete", resourceId: hash, workspaceId })
    if (!(await deleteKey(c.env.DB, c.var.caller.organizationId, hash, Date.now(), entry))) throw noSuchKey()
    forgetKey(hash)
    return c.json({ deleted: true as const }, 200)
  })

const CAP_COLUMNS = ["limit_nano", "limit_reset", "include_byok_in_limit"]

/** The key, if the caller may change it: a key that may not mint a kind of key may not change or delete one either. */
async function requireAuthorityOver(db: D1Database, caller: Caller, hash: string): Promise<KeyRow> {
  const row = await findKeyRow(db, caller.organizationId, hash)
  if (!row) throw noSuchKey()
  if (!mayMint(caller.kind, row.kind)) {
    throw new GatewayError("forbidden", `A ${caller.kind} key cannot change a ${row.kind} key.`)
  }
  return row
}

/** Why a key could not be made. */
async function uninserted(db: D1Database, row: KeyRow): Promise<GatewayError> {
  return (await leaverOf(db, row, "creator_user_id: this person")) ?? noSuchWorkspace()
}

async function leaverOf(db: D1Database, row: KeyRow, who: string): Promise<GatewayError | undefined> {
  if (row.creator_user_id === null || !(await isLeaver(db, row.organization_id, row.creator_user_id))) return undefined
  const words = `${who} was deactivated by the organization's directory. Make a key in the name of somebody else.`
  return new GatewayError("forbidden", words)
}

function noSuchKey(): GatewayError {
  return new GatewayError("not_found", "There is no key with this hash.")
}

function undefinedIfTaken(cause: unknown): undefined {
  if (isTaken(cause)) return undefined
  throw cause
}
