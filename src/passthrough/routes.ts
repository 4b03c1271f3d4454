import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../access/app.ts"
import { requireManagement } from "../access/guards.ts"
import { actorOf, entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { keptUrl } from "../outbound/masked-url.ts"
import { requireOutboundUrl } from "../outbound/required-url.ts"
import { hostsIn } from "../outbound/settings.ts"
import { findKeyHashes } from "../byok/store.ts"
import { isSameOrigin } from "../support/text/url.ts"
import { newId } from "../support/ids.ts"
import { isUniqueViolation } from "../support/rows.ts"
import { requestedWorkspace, workspaceNotFound } from "../workspaces/requested.ts"
import { sealFor } from "../workspaces/seal.ts"
import { findWorkspace } from "../workspaces/store.ts"
import { openSecrets } from "./open-secrets.ts"
import * as schemas from "./schemas.ts"
import {
  AUDITED_FIELDS,
  secretsAad,
  mergeSecrets,
  type ServiceSecrets,
  toColumns,
  toRule,
  toService,
} from "./service.ts"
import {
  deleteService,
  findService,
  insertService,
  type KeyedService,
  listServices,
  MAX_SERVICES,
  type ServiceScope,
  updateService,
} from "./store.ts"
import type { ServiceRow } from "./table.ts"

const MAX_BODY_BYTES = 262_144

const tags = ["Passthrough"]
const One = z.object({ data: schemas.Service })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const onePath = { params: schemas.ServicePath, query: schemas.ServiceQuery }

const list = createRoute({
  method: "get",
  path: "/passthrough-services",
  operationId: "listPassthroughServices",
  tags,
  summary: "List passthrough services",
  description: "Of a workspace, newest first.",
  middleware: [requireManagement] as const,
  request: { query: schemas.ServicesQuery },
  responses: { 200: ok(z.object({ data: z.array(schemas.Service), total_count: z.int() })), ...FAILURES },
})

const create = createRoute({
  method: "post",
  path: "/passthrough-services",
  operationId: "createPassthroughService",
  tags,
  summary: "Register a passthrough service",
  description:
    "An HTTP API outside the gateway's formats. Keys of the workspace reach it at `/passthrough/{service}/…`; only requests that a rule matches are forwarded.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(schemas.NewService) },
  responses: { 201: ok(One, "The service, with masked secrets."), ...FAILURES, ...failures("conflict") },
})

const get = createRoute({
  method: "get",
  path: "/passthrough-services/{slug}",
  operationId: "getPassthroughService",
  tags,
  summary: "Get a passthrough service",
  middleware: [requireManagement] as const,
  request: onePath,
  responses: { 200: ok(One), ...FAILURES },
})

const update = createRoute({
  method: "patch",
  path: "/passthrough-services/{slug}",
  operationId: "updatePassthroughService",
  tags,
  summary: "Update a passthrough service",
  description: "`headers`, `query` and `rules` are replaced completely; a masked value keeps the stored one.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { ...onePath, body: jsonBody(schemas.ServiceChange) },
  responses: { 200: ok(One), ...FAILURES, ...failures("conflict") },
})

const remove = createRoute({
  method: "delete",
  path: "/passthrough-services/{slug}",
  operationId: "deletePassthroughService",
  tags,
  summary: "Delete a passthrough service",
  description: "With its secrets.",
  middleware: [requireManagement] as const,
  request: onePath,
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...FAILURES },
})

export const passthroughServices = newRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const { rows, total } = await listServices(c.env.DB, await scopeOf(c, query.workspace_id), query)
    return c.json({ data: await Promise.all(rows.map((service) => result(c, service))), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { workspace_id: requested, slug, ...input } = c.req.valid("json")
    requireOutboundUrl("base_url", input.base_url, hostsIn(c.env, "PRIVATE_HOSTS"))
    await requireKeys(c, input.allowed_api_key_hashes)
    const scope = await scopeOf(c, requested)
    const serviceRow = { ...scope, id: newId(), slug, createdAt: Date.now(), updatedAt: null }
    const merged = mergeSecrets(NO_SECRETS, input)
    const required = { name: input.name, baseUrl: input.base_url, rules: input.rules.map(toRule) }
    const defaults = { allowedKeyHashes: null, timeoutMs: schemas.DEFAULT_TIMEOUT_SECONDS * 1_000, enabled: true }
    const sealed = await toSealed(c, serviceRow, merged)
    const row = { ...defaults, ...required, ...toColumns(input), ...serviceRow, ...sealed }
    const changed = changesOf({ slug, ...input }, AUDITED_FIELDS)
    const event = { resourceId: slug, workspaceId: scope.workspaceId, changed }
    const entry = entryOf(c, { action: "passthrough_service.create", ...event })
    if (!(await insertService(c.env.DB, row, entry).catch(rejectDuplicate))) throw await rejectionOf(c, scope)
    return c.json({ data: toService(row, merged) }, 201)
  })
  .openapi(get, async (c) => {
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    return c.json({ data: await result(c, await find(c, scope, c.req.valid("param").slug)) }, 200)
  })
  .openapi(update, async (c) => {
    const sent = c.req.valid("json")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const before = await find(c, scope, c.req.valid("param").slug)
    const input = {
      ...sent,
      ...(sent.base_url !== undefined && { base_url: keptUrl(sent.base_url, before.row.baseUrl) }),
    }
    if (input.base_url !== undefined) requireOutboundUrl("base_url", input.base_url, hostsIn(c.env, "PRIVATE_HOSTS"))
    await requireKeys(c, input.allowed_api_key_hashes)
    const openedSecrets = (await openSecrets(before, c.env)) ?? NO_SECRETS
    const isMoved = input.base_url !== undefined && !isSameOrigin(input.base_url, before.row.baseUrl)
    if (isMoved) requireSecretsAgain(openedSecrets, input)
    const after = mergeSecrets(isMoved ? NO_SECRETS : openedSecrets, input)
    const isOther = input.headers !== undefined || input.query !== undefined
    const sealed = isOther ? await toSealed(c, before.row, after) : {}
    const change = { ...toColumns(input), ...sealed, updatedAt: Date.now() }
    const changed = changesOf(input, AUDITED_FIELDS)
    const event = { resourceId: before.row.slug, workspaceId: scope.workspaceId, changed }
    const entry = entryOf(c, { action: "passthrough_service.update", ...event })
    const row = await updateService(c.env.DB, { scope, before: before.row, change, entry })
    if (!row) {
      // Deleted or changed concurrently: the merged secrets are outdated.
      await find(c, scope, before.row.slug)
      throw new GatewayError("conflict", "This passthrough service was modified concurrently. Read it and retry.")
    }
    return c.json({ data: toService(row, after) }, 200)
  })
  .openapi(remove, async (c) => {
    const { slug } = c.req.valid("param")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const entry = entryOf(c, { action: "passthrough_service.delete", resourceId: slug, workspaceId: scope.workspaceId })
    if (!(await deleteService(c.env.DB, scope, slug, entry))) throw noSuchService(slug)
    return c.json({ deleted: true as const }, 200)
  })

async function scopeOf(c: Context<App>, requested: string | undefined): Promise<ServiceScope> {
  const { organizationId } = c.var.principal
  return { organizationId, workspaceId: await requestedWorkspace(c.env.DB, organizationId, requested) }
}

async function find(c: Context<App>, scope: ServiceScope, slug: string): Promise<KeyedService> {
  const found = await findService(c.env.DB, scope, slug)
  if (!found) throw noSuchService(slug)
  return found
}

async function result(c: Context<App>, service: KeyedService): Promise<z.infer<typeof schemas.Service>> {
  return toService(service.row, (await openSecrets(service, c.env)) ?? NO_SECRETS)
}

const NO_SECRETS: ServiceSecrets = { headers: {}, query: {} }

/** Secrets for one host are not sent to another, which could read them. */
function requireSecretsAgain(stored: ServiceSecrets, input: schemas.ServiceFields): void {
  for (const field of ["headers", "query"] as const) {
    if (Object.keys(stored[field]).length === 0 || input[field] !== undefined) continue
    throw new GatewayError("invalid_request", `base_url: has another host. Send ${field} again, or null for none.`)
  }
}

async function requireKeys(c: Context<App>, hashes: readonly string[] | null | undefined): Promise<void> {
  if (!hashes) return
  const found = await findKeyHashes(c.env.DB, c.var.principal.organizationId, hashes)
  const missing = hashes.find((hash) => !found.has(hash))
  if (missing === undefined) return
  throw new GatewayError("invalid_request", `allowed_api_key_hashes: ${missing} is no key of this organization.`)
}

type Owner = Pick<ServiceRow, "id" | "organizationId" | "workspaceId">

async function toSealed(
  c: Context<App>,
  owner: Owner,
  secrets: ServiceSecrets,
): Promise<Pick<ServiceRow, "sealed" | "version">> {
  const version = newId()
  const aad = secretsAad({ ...owner, version })
  const sealed = await sealFor(c.env, actorOf(c), aad, JSON.stringify(secrets))
  return { sealed, version }
}

async function rejectionOf(c: Context<App>, { organizationId, workspaceId }: ServiceScope): Promise<GatewayError> {
  if (!(await findWorkspace(c.env.DB, organizationId, workspaceId))) return workspaceNotFound()
  return new GatewayError(
    "conflict",
    `A workspace has at most ${MAX_SERVICES} passthrough services. Delete one that is no longer used.`,
  )
}

export function noSuchService(slug: string): GatewayError {
  return new GatewayError("not_found", `There is no passthrough service ${slug} in this workspace.`)
}

function rejectDuplicate(cause: unknown): never {
  if (isUniqueViolation(cause)) {
    throw new GatewayError(
      "conflict",
      "slug: another passthrough service of this workspace has it. Choose another one.",
    )
  }
  throw cause
}
