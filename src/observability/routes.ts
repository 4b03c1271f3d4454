import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { actorOf, entryOf } from "../audit/actor.ts"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { findKeyHashes } from "../byok/store.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, uuidParam } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { configOf } from "../config/config.ts"
import { newSigningSecret } from "../outbound/standard-webhook.ts"
import { hostsIn } from "../outbound/settings.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { newId } from "../support/ids.ts"
import { requestedWorkspace, workspaceNotFound } from "../workspaces/requested.ts"
import { sealFor } from "../workspaces/seal.ts"
import { findWorkspace } from "../workspaces/store.ts"
import {
  secretsAad,
  type DestinationRow,
  mergeConfig,
  requireSecretsAgain,
  NEW_COLUMNS,
  NO_STATE,
  readConfig,
  splitConfig,
  toColumns,
  toDestination,
  AUDITED_FIELDS,
} from "./destination.ts"
import { type Config, defaultsOf, type KindName } from "./kinds.ts"
import { wakeDelivery } from "./delivery/wake.ts"
import { Destination, DestinationChange, DestinationQuery, NewDestination } from "./schemas.ts"
import {
  dataKeyOf,
  deleteDestination,
  findDestination,
  insertDestination,
  type KeyedRow,
  listDestinations,
  MAX_PER_TYPE,
  updateDestination,
} from "./store.ts"
import { parseStored } from "../support/text/json.ts"

const MAX_BODY_BYTES = 262_144
const PATH = "/observability/destinations"

const tags = ["Observability"]
const One = z.object({ data: Destination })
const params = z.object({ id: uuidParam("a destination") })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const list = createRoute({
  method: "get",
  path: PATH,
  operationId: "listObservabilityDestinations",
  tags,
  summary: "List destinations",
  description: "The destinations of a workspace, newest first.",
  middleware: [requireManagement] as const,
  request: { query: DestinationQuery },
  responses: { 200: ok(z.object({ data: z.array(Destination), total_count: z.int() })), ...FAILURES },
})

const create = createRoute({
  method: "post",
  path: PATH,
  operationId: "createObservabilityDestination",
  tags,
  summary: "Create a destination",
  description:
    "Calls of the workspace are exported to it from now on. Enables `is_observability_broadcast_enabled` of the workspace, unless it was set before. A webhook's " +
    "`signingSecret` is generated if it is omitted, and returned in this response only; null in a change generates a new one.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewDestination) },
  responses: {
    201: ok(One, "The destination, with masked secrets."),
    ...FAILURES,
    ...failures("conflict"),
  },
})

const get = createRoute({
  method: "get",
  path: `${PATH}/{id}`,
  operationId: "getObservabilityDestination",
  summary: "Get a destination",
  tags,
  middleware: [requireManagement] as const,
  request: { params },
  responses: { 200: ok(One), ...FAILURES },
})

const update = createRoute({
  method: "patch",
  path: `${PATH}/{id}`,
  operationId: "updateObservabilityDestination",
  tags,
  summary: "Update a destination",
  description: "Replaces lists and rules completely; of `config`, only the fields that are sent.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params, body: jsonBody(DestinationChange) },
  responses: { 200: ok(One), ...FAILURES, ...failures("conflict") },
})

const remove = createRoute({
  method: "delete",
  path: `${PATH}/{id}`,
  operationId: "deleteObservabilityDestination",
  tags,
  summary: "Delete a destination",
  description: "Permanently deletes it with its secrets and pending calls.",
  middleware: [requireManagement] as const,
  request: { params },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...FAILURES },
})

export const destinations = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const query = c.req.valid("query")
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, query.workspace_id)
    const { rows, total } = await listDestinations(c.env.DB, { organizationId, workspaceId }, query)
    return c.json({ data: await Promise.all(rows.map((row) => result(c, row))), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    const { workspace_id: requested, ...input } = c.req.valid("json")
    const { type } = input
    const withDefaults = { ...defaultsOf(type, configOf(c.env).CLIENT_DIALECT), ...input.config }
    const parsed = readConfig(type, withDefaults, hostsIn(c.env, "PRIVATE_HOSTS"))
    const made = generateMissingSecret(type, parsed)
    const config: Config = { ...parsed, ...made }
    await requireKeysOfOrganization(c, input.api_key_hashes)
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, requested)
    const now = Date.now()
    const scope = { id: newId(), organization_id: organizationId, workspace_id: workspaceId, type }
    const sealed = await toSealed(c, scope, config)
    const row = { ...NEW_COLUMNS, ...toColumns(input), name: input.name, ...scope, ...sealed }
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "destination.create", resourceId: scope.id, workspaceId, changed })
    if (!(await insertDestination(c.env.DB, { ...row, created_at: now, updated_at: now }, entry))) {
      throw await rejectionOf(c, workspaceId, type)
    }
    invalidateWorkspace(workspaceId)
    const secret = JSON.stringify(splitConfig(type, config).secret)
    const data = toDestination({ ...row, ...NO_STATE, created_at: now, updated_at: now }, secret)
    return c.json({ data: { ...data, config: { ...data.config, ...made } } }, 201)
  })
  .openapi(get, async (c) => {
    return c.json({ data: await result(c, await find(c, c.req.valid("param").id)) }, 200)
  })
  .openapi(update, async (c) => {
    const { organizationId } = c.var.principal
    const { config, ...input } = c.req.valid("json")
    const before = await find(c, c.req.valid("param").id)
    await requireKeysOfOrganization(c, input.api_key_hashes)
    const { made, ...sealed } = config ? await toNewConfig(c, before, config) : { made: {} }
    const change = { ...toColumns(input), ...sealed, updated_at: Date.now() }
    const changed = changesOf({ ...input, config }, AUDITED_FIELDS)
    const { id, workspace_id: workspaceId } = before
    const entry = entryOf(c, { action: "destination.update", resourceId: id, workspaceId, changed })
    if (!(await updateDestination(c.env.DB, { organizationId, destination: before, change, entry }))) {
      // Deleted or changed concurrently: the merged configuration is outdated.
      await find(c, id)
      throw new GatewayError("conflict", "This destination was modified concurrently. Read it and retry.")
    }
    invalidateWorkspace(workspaceId)
    // Pending batches are retried with the new settings.
    await wakeDelivery(c.env, { organizationId, destinationId: id }, change.updated_at)
    const data = await result(c, await find(c, id))
    return c.json({ data: { ...data, config: { ...data.config, ...made } } }, 200)
  })
  .openapi(remove, async (c) => {
    const { organizationId } = c.var.principal
    const { id, workspace_id: workspaceId } = await find(c, c.req.valid("param").id)
    const entry = entryOf(c, { action: "destination.delete", resourceId: id, workspaceId })
    const now = Date.now()
    if (!(await deleteDestination(c.env.DB, { organizationId, id, now, entry }))) throw noSuchDestination()
    await wakeDelivery(c.env, { organizationId, destinationId: id }, now)
    invalidateWorkspace(workspaceId)
    return c.json({ deleted: true as const }, 200)
  })

/** Throws 404 if the organization has no destination with this id. */
export async function find(c: Context<App>, id: string): Promise<KeyedRow> {
  const row = await findDestination(c.env.DB, c.var.principal.organizationId, id)
  if (!row) throw noSuchDestination()
  return row
}

/** Decrypted secrets of a destination as JSON; undefined if they cannot be decrypted. */
export function openSecrets(row: KeyedRow, env: App["Bindings"]): Promise<string | undefined> {
  return openSealed({ aad: secretsAad(row), sealed: row.sealed, dataKey: dataKeyOf(row) }, masterKeysOf(env))
}

async function result(c: Context<App>, row: KeyedRow): Promise<z.infer<typeof Destination>> {
  return toDestination(row, await openSecrets(row, c.env))
}

async function toNewConfig(c: Context<App>, before: KeyedRow, change: Config) {
  const { type } = before
  const secret = parseStored<Config>((await openSecrets(before, c.env)) ?? "{}")
  requireSecretsAgain(type, { ...parseStored<Config>(before.config), ...secret }, change)
  const merged = mergeConfig(type, { ...parseStored<Config>(before.config), ...secret }, change)
  const read = readConfig(type, merged, hostsIn(c.env, "PRIVATE_HOSTS"))
  const made = generateMissingSecret(type, read)
  return { made, ...(await toSealed(c, before, { ...read, ...made })) }
}

/** Webhooks are always signed: a missing or removed secret is generated, and returned once. */
function generateMissingSecret(type: KindName, config: Config): Record<string, string> {
  return type === "webhook" && config["signingSecret"] === undefined ? { signingSecret: newSigningSecret() } : {}
}

type DestinationScope = Pick<DestinationRow, "id" | "organization_id" | "workspace_id" | "type">

/**
 * Columns of a configuration. The version is authenticated with the sealed part, so that an older one cannot be
 * restored.
 */
async function toSealed(
  c: Context<App>,
  scope: DestinationScope,
  config: Config,
): Promise<Pick<DestinationRow, "config" | "sealed" | "version">> {
  const version = newId()
  const { open, secret } = splitConfig(scope.type, config)
  const aad = secretsAad({ ...scope, version })
  const sealed = await sealFor(c.env, actorOf(c), aad, JSON.stringify(secret))
  return { config: JSON.stringify(open), sealed, version }
}

async function requireKeysOfOrganization(c: Context<App>, hashes: readonly string[] | null | undefined): Promise<void> {
  if (!hashes) return
  const existing = await findKeyHashes(c.env.DB, c.var.principal.organizationId, hashes)
  const foreign = hashes.find((hash) => !existing.has(hash))
  if (foreign === undefined) return
  throw new GatewayError("invalid_request", `api_key_hashes: this organization has no key ${foreign}.`)
}

async function rejectionOf(c: Context<App>, workspaceId: string, type: KindName): Promise<GatewayError> {
  if (!(await findWorkspace(c.env.DB, c.var.principal.organizationId, workspaceId))) return workspaceNotFound()
  return new GatewayError(
    "conflict",
    `A workspace has at most ${MAX_PER_TYPE} destinations of a type, and that many of ${type} exist. Delete one first.`,
  )
}

function noSuchDestination(): GatewayError {
  return new GatewayError("not_found", "There is no destination with this id.")
}
