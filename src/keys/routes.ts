import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { invalidateKey } from "../access/key-cache.ts"
import { entryOf, auditForbidden } from "../audit/actor.ts"
import { type Principal } from "../access/principal.ts"
import { requireProvisioning } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { openLedger } from "../ledger/client.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, PageQuery, queryIntegerOr, textIn, uuidParam } from "../http/schema.ts"
import { findMember } from "../members/store.ts"
import { withKnownModels } from "../models/lists/over-budget.ts"
import { requestedWorkspace, workspaceNotFound } from "../workspaces/requested.ts"
import {
  AUDITED_FIELDS,
  type KeyUse,
  mayMint,
  mintKey,
  requireChangeWithin,
  requireMcpGrant,
  toApiKey,
  toKeyChange,
} from "./key.ts"
import { withIncrease } from "./limit-increase.ts"
import { countChildren, isDescendant } from "./lineage-store.ts"
import { ApiKey, ApiKeyChange, NewApiKey } from "./schemas.ts"
import {
  deleteKey,
  findKeyRow,
  findLastUses,
  insertKey,
  isDeprovisioned,
  isLastManagementKey,
  listKeys,
  updateKey,
} from "./store.ts"
import type { KeyRow, NewKeyRow } from "./table.ts"
import { McpServerSlug } from "../support/mcp-tools.ts"
import { isUniqueViolation } from "../support/rows.ts"

const MAX_BODY_BYTES = 65_536
const PAGE_SIZE = 100

const tags = ["API keys"]
const data = <T extends z.ZodType>(schema: T) => z.object({ data: schema })
const hashParam = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"),
})

const list = createRoute({
  method: "get",
  path: "/keys",
  operationId: "listApiKeys",
  tags,
  summary: "List API keys",
  description: "Of a workspace, newest first.",
  middleware: [requireProvisioning] as const,
  request: {
    query: z.object({
      include_disabled: z.enum(["true", "false"], { error: "accepts true or false" }).default("false"),
      offset: PageQuery.shape.offset,
      limit: queryIntegerOr(PAGE_SIZE, 1, 100, "must be an integer from 1 to 100"),
      workspace_id: uuidParam("a workspace").optional(),
      q: textIn("name, label or user"),
      mcp_server: McpServerSlug.optional().meta({
        description: "Slug of an MCP server: only keys with a tool of it in `mcp_tools`.",
      }),
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
  summary: "Create an API key",
  description:
    "The secret is returned in this response only. Keys are records of the organization: they outlive the key that minted them. A provisioning key's limit and guardrails also apply to the keys that it mints.",
  middleware: [requireProvisioning, auditForbidden, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewApiKey) },
  responses: {
    201: ok(
      z.object({ data: ApiKey, key: z.string().meta({ description: "Empty for a key that the client supplied." }) }),
      "The key, with its secret.",
    ),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

const get = createRoute({
  method: "get",
  path: "/keys/{hash}",
  operationId: "getApiKey",
  summary: "Get an API key",
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
  summary: "Update an API key",
  middleware: [requireProvisioning, auditForbidden, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params: hashParam, body: jsonBody(ApiKeyChange) },
  responses: {
    200: ok(data(ApiKey)),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

const remove = createRoute({
  method: "delete",
  path: "/keys/{hash}",
  operationId: "deleteApiKey",
  tags,
  summary: "Delete an API key",
  description: "Deletes the keys of apps and interns that it created too.",
  middleware: [requireProvisioning, auditForbidden] as const,
  request: { params: hashParam },
  responses: {
    200: ok(
      z.object({
        deleted: z.literal(true),
        revoked_keys: z.int().optional().meta({
          description:
            "Number of working keys of apps and interns that it created and that stop with it. Absent for none.",
        }),
        surviving_keys: z.int().optional().meta({
          description:
            "Number of working keys it minted that keep working, under its limit and guardrails as before. Absent for none.",
        }),
      }),
    ),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

export const keys = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const query = c.req.valid("query")
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, query.workspace_id)
    const { include_disabled: disabled, mcp_server: mcpServer, q, limit, offset } = query
    const page = { workspaceId, includeDisabled: disabled === "true", mcpServer, q, limit, offset }
    const { rows, total } = await listKeys(c.env.DB, organizationId, page)
    const uses = await usesOf(c.env, organizationId, rows)
    return c.json({ data: rows.map((row, index) => toApiKey(row, uses[index])), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { principal } = c.var
    const input = await withKnownModels(c.env, c.req.valid("json"))
    const workspaceId = await requestedWorkspace(c.env.DB, principal.organizationId, input.workspace_id)
    const { secret, row: keyRow } = mintKey(input, principal, workspaceId, Date.now())
    if (input.creator_user_id != null) await requireMember(c.env.DB, principal.organizationId, input.creator_user_id)
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "api_key.create", resourceId: keyRow.hash, workspaceId, changed })
    const row = await insertKey(c.env.DB, keyRow, entry).catch(rejectDuplicate)
    if (!row) throw await insertError(c.env.DB, keyRow)
    invalidateKey(row.hash)
    return c.json({ data: toApiKey(row), key: secret ?? "" }, 201)
  })
  .openapi(get, async (c) => {
    const { organizationId } = c.var.principal
    const row = await findKeyRow(c.env.DB, organizationId, c.req.valid("param").hash)
    if (!row) throw noSuchKey()
    const [use] = await usesOf(c.env, organizationId, [row])
    return c.json({ data: toApiKey(row, use) }, 200)
  })
  .openapi(update, async (c) => {
    const { principal } = c.var
    const { hash } = c.req.valid("param")
    const input = await withKnownModels(c.env, c.req.valid("json"))
    const before = await requireAuthorityOver(c.env.DB, principal, hash)
    requireMcpGrant(principal, input.mcp_tools)
    const now = Date.now()
    const change = withIncrease(toKeyChange(input, principal, before), input, { principal, row: before, now })
    const isOwn = principal.limitNano !== null && (await isDescendant(c.env.DB, hash, principal.keyHash))
    requireChangeWithin(principal, before, isOwn, change)
    const changed = changesOf(input, AUDITED_FIELDS)
    const event = { resourceId: hash, workspaceId: before.workspaceId, changed }
    const entry = entryOf(c, { action: "api_key.update", ...event })
    const row = await updateKey(c.env.DB, {
      organizationId: principal.organizationId,
      hash,
      change,
      now,
      entry,
    })
    if (!row) {
      await keepLastManagementKey(c.env.DB, before)
      const current = await findKeyRow(c.env.DB, principal.organizationId, hash)
      // Throws if a limit that the change increases was removed.
      if (current) withIncrease(change, input, { principal, row: current, now })
      throw (await deprovisionedError(c.env.DB, before, "disabled: its creator")) ?? noSuchKey()
    }
    invalidateKey(hash)
    const [use] = await usesOf(c.env, principal.organizationId, [row])
    return c.json({ data: toApiKey(row, use) }, 200)
  })
  .openapi(remove, async (c) => {
    const { hash } = c.req.valid("param")
    const { organizationId, isOperator } = c.var.principal
    const row = await requireAuthorityOver(c.env.DB, c.var.principal, hash)
    const entry = entryOf(c, { action: "api_key.delete", resourceId: hash, workspaceId: row.workspaceId })
    const children = await countChildren(c.env.DB, organizationId, row)
    if (!(await deleteKey(c.env.DB, { organizationId, hash, mayBeLast: isOperator, now: Date.now(), entry }))) {
      await keepLastManagementKey(c.env.DB, row)
      throw noSuchKey()
    }
    invalidateKey(hash)
    const counts = {
      ...(children.revoked > 0 && { revoked_keys: children.revoked }),
      ...(children.surviving > 0 && { surviving_keys: children.surviving }),
    }
    return c.json({ deleted: true as const, ...counts }, 200)
  })

async function requireMember(db: D1Database, organizationId: string, userId: string): Promise<void> {
  // A user whom a directory deactivated gets a separate error.
  if ((await findMember(db, organizationId, userId)) || (await isDeprovisioned(db, organizationId, userId))) return
  const rule = "creator_user_id: must be a member of the organization, as GET /organization/members lists them."
  throw new GatewayError("invalid_request", rule)
}

/** By the order of the rows. */
async function usesOf(env: Env, organizationId: string, rows: readonly KeyRow[]): Promise<KeyUse[]> {
  const [counters, lastUses] = await Promise.all([
    openLedger(env, organizationId).usage(rows.map(({ hash, counterHash }) => counterHash ?? hash)),
    findLastUses(
      env.DB,
      organizationId,
      rows.map(({ hash }) => hash),
    ),
  ])
  return rows.map(({ hash }, at) => ({ counters: counters[at], lastUsedAt: lastUses.get(hash) }))
}

async function keepLastManagementKey(db: D1Database, row: KeyRow): Promise<void> {
  if (row.kind !== "management" || !(await isLastManagementKey(db, row.organizationId, row.hash))) return
  throw new GatewayError(
    "conflict",
    "This is the organization's last management key that does not expire. Create another one with POST /keys first, and delete or disable this one with it.",
  )
}

/** The key, if the principal may change it: a key may only change or delete kinds of keys that it may mint. */
async function requireAuthorityOver(db: D1Database, principal: Principal, hash: string): Promise<KeyRow> {
  const row = await findKeyRow(db, principal.organizationId, hash)
  if (!row) throw noSuchKey()
  if (!mayMint(principal.kind, row.kind)) {
    throw new GatewayError("forbidden", `A ${principal.kind} key cannot change a ${row.kind} key.`)
  }
  return row
}

/** Why a key could not be inserted. */
async function insertError(db: D1Database, row: NewKeyRow): Promise<GatewayError> {
  return (await deprovisionedError(db, row, "creator_user_id: this person")) ?? workspaceNotFound()
}

async function deprovisionedError(db: D1Database, row: NewKeyRow, member: string): Promise<GatewayError | undefined> {
  if (row.creatorUserId == null || !(await isDeprovisioned(db, row.organizationId, row.creatorUserId))) return undefined
  const rule = `${member} was deactivated by the organization's directory. Create the key for another member.`
  return new GatewayError("forbidden", rule)
}

function noSuchKey(): GatewayError {
  return new GatewayError("not_found", "There is no key with this hash.")
}

function rejectDuplicate(cause: unknown): never {
  if (isUniqueViolation(cause)) throw new GatewayError("conflict", "external.api_key: this key exists already.")
  throw cause
}
