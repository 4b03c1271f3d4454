import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { actorOf, entryOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, uuidParam } from "../http/schema.ts"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { findNonMembers } from "../members/store.ts"
import { loadReachableCatalogue } from "../models/compile.ts"
import { spellPatterns } from "../models/known-names.ts"
import { reachableProviders } from "../providers/configured.ts"
import { newId } from "../support/ids.ts"
import { workspaceNotFound, requestedWorkspace } from "../workspaces/requested.ts"
import { sealFor } from "../workspaces/seal.ts"
import { findWorkspace } from "../workspaces/store.ts"
import { keyAad, toByok, toColumns, toMask, AUDITED_FIELDS } from "./credential.ts"
import { Byok, ByokChange, ByokQuery, NewByok } from "./schemas.ts"
import { PROVIDER_SLUGS } from "./slugs.ts"
import { deleteByok, findByok, findKeyHashes, insertByok, listByok, MAX_CREDENTIALS, updateByok } from "./store.ts"
import type { ByokRow } from "./table.ts"

const MAX_BODY_BYTES = 262_144

const tags = ["BYOK"]
const One = z.object({ data: Byok })
const params = z.object({ id: uuidParam("a credential") })

const list = createRoute({
  method: "get",
  path: "/byok",
  operationId: "listByokCredentials",
  tags,
  summary: "List BYOK credentials",
  description: "Of a workspace, newest first.",
  middleware: [requireManagement] as const,
  request: { query: ByokQuery },
  responses: {
    200: ok(z.object({ data: z.array(Byok), total_count: z.int() })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const create = createRoute({
  method: "post",
  path: "/byok",
  operationId: "createByokCredential",
  tags,
  summary: "Create a BYOK credential",
  description: "Your own key for a provider. Calls of the workspace use it and do not charge the balance.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewByok) },
  responses: {
    201: ok(One, "The credential, without its key."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const get = createRoute({
  method: "get",
  path: "/byok/{id}",
  operationId: "getByokCredential",
  summary: "Get a BYOK credential",
  tags,
  middleware: [requireManagement] as const,
  request: { params },
  responses: {
    200: ok(One),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const update = createRoute({
  method: "patch",
  path: "/byok/{id}",
  operationId: "updateByokCredential",
  tags,
  summary: "Update a BYOK credential",
  description: "A new key replaces the old one.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params, body: jsonBody(ByokChange) },
  responses: {
    200: ok(One),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const remove = createRoute({
  method: "delete",
  path: "/byok/{id}",
  operationId: "deleteByokCredential",
  tags,
  summary: "Delete a BYOK credential",
  description: "With its key, for good.",
  middleware: [requireManagement] as const,
  request: { params },
  responses: {
    200: ok(z.object({ deleted: z.literal(true) })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const byok = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const query = c.req.valid("query")
    if (query.provider !== undefined) requireProvider(query.provider, c.env)
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, query.workspace_id)
    const { rows, total } = await listByok(c.env.DB, { organizationId, workspaceId }, query)
    return c.json({ data: rows.map(toByok), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    const { key, provider, workspace_id: requested, ...named } = c.req.valid("json")
    requireProvider(provider, c.env)
    const input = await withKnownNames(c, named)
    rejectByokOnlyFallback(input)
    await requireKeysOfOrganization(c, input.allowed_api_key_hashes)
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, requested)
    const scope = { id: newId(), organizationId, workspaceId, provider }
    const flags = {
      disabled: input.disabled ?? false,
      isByokOnly: input.is_byok_only ?? false,
      isFallback: input.is_fallback ?? false,
      isRequired: input.is_required ?? false,
    }
    const columns = { ...toColumns(input), ...flags, ...scope, createdAt: Date.now() }
    const row = { ...columns, ...(await toSealed(c, columns, key)) }
    const changed = changesOf({ provider, key, ...input }, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "byok_credential.create", resourceId: row.id, workspaceId, changed })
    const inserted = await insertByok(c.env.DB, row, entry)
    if (!inserted) throw await rejectionOf(c, workspaceId)
    invalidateWorkspace(workspaceId)
    return c.json({ data: toByok(inserted) }, 201)
  })
  .openapi(get, async (c) => {
    const row = await findByok(c.env.DB, c.var.principal.organizationId, c.req.valid("param").id)
    if (!row) throw noSuchCredential()
    return c.json({ data: toByok(row) }, 200)
  })
  .openapi(update, async (c) => {
    const { organizationId } = c.var.principal
    const { id } = c.req.valid("param")
    const { key, ...named } = c.req.valid("json")
    const before = await findByok(c.env.DB, organizationId, id)
    if (!before) throw noSuchCredential()
    const input = await withKnownNames(c, named)
    const columns = toColumns(input)
    rejectByokOnlyFallbackOf(before, input)
    await requireKeysOfOrganization(c, input.allowed_api_key_hashes)
    const change = { ...columns, ...(key !== undefined && (await toSealed(c, before, key))) }
    const changed = changesOf({ ...input, key }, AUDITED_FIELDS)
    const event = { resourceId: id, workspaceId: before.workspaceId, changed }
    const entry = entryOf(c, { action: "byok_credential.update", ...event })
    const row = await updateByok(c.env.DB, { organizationId, id, change, now: Date.now(), entry })
    if (!row) {
      const current = await findByok(c.env.DB, organizationId, id)
      // Another request changed the credential concurrently.
      if (current) rejectByokOnlyFallbackOf(current, input)
      throw noSuchCredential()
    }
    invalidateWorkspace(row.workspaceId)
    return c.json({ data: toByok(row) }, 200)
  })
  .openapi(remove, async (c) => {
    const { organizationId } = c.var.principal
    const { id } = c.req.valid("param")
    const before = await findByok(c.env.DB, organizationId, id)
    if (!before) throw noSuchCredential()
    const { workspaceId } = before
    const entry = entryOf(c, { action: "byok_credential.delete", resourceId: id, workspaceId })
    if (!(await deleteByok(c.env.DB, { organizationId, id, now: Date.now(), entry }))) throw noSuchCredential()
    invalidateWorkspace(workspaceId)
    return c.json({ deleted: true as const }, 200)
  })

type Names = Pick<ByokChange, "allowed_models" | "allowed_user_ids" | "allow_unknown">

/**
 * Replaces models by their spelling in the catalogue: a credential for `gpt-5-mini` would cover nothing, since calls are
 * compared with `openai/gpt-5-mini`. Rejects unknown models and users.
 */
async function withKnownNames<T extends Names>(
  c: Context<App>,
  { allow_unknown: allowsUnknown = false, ...input }: T,
): Promise<Omit<T, "allow_unknown">> {
  const { allowed_models: models, allowed_user_ids: users } = input
  if (users && !allowsUnknown) {
    const nonMembers = await findNonMembers(c.env.DB, c.var.principal.organizationId, users)
    const rule = `${nonMembers.join(", ")}: not a member of the organization. To name a user before, send "allow_unknown": true.`
    if (nonMembers.length > 0) throw new GatewayError("invalid_request", `allowed_user_ids: ${rule}`)
  }
  if (!models) return input
  const spelled = spellPatterns(models, "allowed_models", await loadReachableCatalogue(c.env), { allowsUnknown })
  return { ...input, allowed_models: spelled }
}

/** Columns of a key. The version is authenticated with the sealed key, so that an older one cannot be restored. */
async function toSealed(
  c: Context<App>,
  credential: Pick<ByokRow, "id" | "organizationId" | "workspaceId" | "provider">,
  plain: string,
): Promise<Pick<ByokRow, "sealed" | "version" | "label">> {
  const version = newId()
  const sealed = await sealFor(c.env, actorOf(c), keyAad({ ...credential, version }), plain)
  return { sealed, version, label: toMask(plain) }
}

function requireProvider(slug: string, env: Env): void {
  if (PROVIDER_SLUGS.includes(slug) || reachableProviders(env).has(slug)) return
  const slugs = [...reachableProviders(env).keys()].toSorted().join(", ")
  throw new GatewayError("invalid_request", `provider: there is no provider ${slug}. This gateway reaches ${slugs}.`)
}

function rejectByokOnlyFallback({
  is_byok_only: only,
  is_fallback: fallback,
}: Pick<ByokChange, "is_byok_only" | "is_fallback">) {
  if (!only || !fallback) return
  throw new GatewayError(
    "invalid_request",
    "is_byok_only: cannot be combined with is_fallback: there would be no key to fall back from.",
  )
}

function rejectByokOnlyFallbackOf({ isByokOnly, isFallback }: ByokRow, input: ByokChange): void {
  rejectByokOnlyFallback({
    is_byok_only: input.is_byok_only ?? isByokOnly,
    is_fallback: input.is_fallback ?? isFallback,
  })
}

async function requireKeysOfOrganization(c: Context<App>, hashes: readonly string[] | null | undefined): Promise<void> {
  if (!hashes) return
  const existing = await findKeyHashes(c.env.DB, c.var.principal.organizationId, hashes)
  const foreign = hashes.find((hash) => !existing.has(hash))
  if (foreign === undefined) return
  throw new GatewayError("invalid_request", `allowed_api_key_hashes: this organization has no key ${foreign}.`)
}

async function rejectionOf(c: Context<App>, workspaceId: string): Promise<GatewayError> {
  if (!(await findWorkspace(c.env.DB, c.var.principal.organizationId, workspaceId))) return workspaceNotFound()
  return new GatewayError(
    "invalid_request",
    `A workspace holds at most ${MAX_CREDENTIALS} credentials. Delete one that is no longer used.`,
  )
}

function noSuchCredential(): GatewayError {
  return new GatewayError("not_found", "There is no credential with this id.")
}
