import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../access/app.ts"
import { requireManagement } from "../access/guards.ts"
import { actorOf, entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import { insertAudit } from "../audit/store.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, uuidParam } from "../http/schema.ts"
import { newSigningSecret } from "../outbound/standard-webhook.ts"
import { newId } from "../support/ids.ts"
import { requestedWorkspace } from "../workspaces/requested.ts"
import { sealFor } from "../workspaces/seal.ts"
import { findWorkspace } from "../workspaces/store.ts"
import type { Alert, ChannelType } from "./alert.ts"
import {
  deleteChannel,
  findChannel,
  insertChannel,
  listChannels,
  MAX_CHANNELS,
  updateChannel,
} from "./channel-store.ts"
import { channelAad, deliver, openSecrets, readConfig, splitConfig, toChannel, withKeptUrls } from "./channel.ts"
import { Channel, ChannelChange, ChannelsQuery, MASK, NewChannel } from "./schemas.ts"
import type { ChannelRow } from "./table.ts"

const tags = ["Alerts"]
const PATH = "/alerts/channels"
const MAX_BODY_BYTES = 65_536
const One = z.object({ data: Channel })
const params = z.object({ id: uuidParam("a channel") })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const BODY_FAILURES = failures("conflict", "payload_too_large", "unsupported_media_type")
const AUDITED_FIELDS = ["name", "type", "all_workspaces", "kinds", "enabled"]

const list = createRoute({
  method: "get",
  path: PATH,
  operationId: "listAlertChannels",
  tags,
  summary: "List alert channels",
  description: "Newest first.",
  middleware: [requireManagement] as const,
  request: { query: ChannelsQuery },
  responses: { 200: ok(z.object({ data: z.array(Channel), total_count: z.int() })), ...FAILURES },
})

const create = createRoute({
  method: "post",
  path: PATH,
  operationId: "createAlertChannel",
  tags,
  summary: "Create an alert channel",
  description:
    "A webhook, Slack or e-mail. A webhook is signed as Standard Webhooks are. A `signing_secret` that is omitted is generated and shown in this " +
    "response only.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewChannel) },
  responses: { 201: ok(One, "The channel, with masked secrets."), ...FAILURES, ...BODY_FAILURES },
})

const get = createRoute({
  method: "get",
  path: `${PATH}/{id}`,
  operationId: "getAlertChannel",
  tags,
  summary: "Get an alert channel",
  middleware: [requireManagement] as const,
  request: { params },
  responses: { 200: ok(One), ...FAILURES },
})

const update = createRoute({
  method: "patch",
  path: `${PATH}/{id}`,
  operationId: "updateAlertChannel",
  tags,
  summary: "Update an alert channel",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params, body: jsonBody(ChannelChange) },
  responses: { 200: ok(One), ...FAILURES, ...BODY_FAILURES },
})

const remove = createRoute({
  method: "delete",
  path: `${PATH}/{id}`,
  operationId: "deleteAlertChannel",
  tags,
  summary: "Delete an alert channel",
  description: "Deletes its secrets and pending deliveries too.",
  middleware: [requireManagement] as const,
  request: { params },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...FAILURES },
})

const Tested = z
  .object({
    ok: z.boolean(),
    status: z.int().nullable().meta({ description: "Status of the receiver; null without a response." }),
    message: z.string(),
  })
  .meta({ id: "AlertChannelTest" })

const test = createRoute({
  method: "post",
  path: `${PATH}/{id}/test`,
  operationId: "testAlertChannel",
  tags,
  summary: "Test an alert channel",
  description: "Sends a test alert, whether or not the channel is enabled.",
  middleware: [requireManagement, acceptJson(1_024)] as const,
  request: { params },
  responses: { 200: ok(z.object({ data: Tested })), ...FAILURES },
})

export const alertChannels = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const { workspace_id: requested, ...page } = c.req.valid("query")
    const workspaceId = requested && (await requestedWorkspace(c.env.DB, organizationId, requested))
    const { rows, total } = await listChannels(c.env.DB, { organizationId, workspaceId }, page)
    return c.json({ data: rows.map(toChannel), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    const input = c.req.valid("json")
    const { type, name, kinds = null, all_workspaces: allWorkspaces = false, enabled = true } = input
    const config = readConfig(type, input.config, c.env)
    const missing = generateMissingSecret(type, config)
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, input.workspace_id)
    const now = Date.now()
    const scope = { id: newId(), organizationId, workspaceId, type }
    const sealed = await toSealed(c, scope, { ...config, ...missing })
    const state = { lastSuccessAt: null, lastErrorAt: null, lastError: null, createdAt: now, updatedAt: now }
    const row = { ...scope, ...sealed, name, kinds, allWorkspaces, enabled, ...state }
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "alert_channel.create", resourceId: row.id, workspaceId, changed })
    if (!(await insertChannel(c.env.DB, row, entry))) {
      throw new GatewayError(
        "conflict",
        `An organization has at most ${MAX_CHANNELS} alert channels. Delete one first.`,
      )
    }
    const data = toChannel(row)
    return c.json({ data: { ...data, config: { ...data.config, ...missing } } }, 201)
  })
  .openapi(get, async (c) => c.json({ data: toChannel(await find(c, c.req.valid("param").id)) }, 200))
  .openapi(update, async (c) => {
    const before = await find(c, c.req.valid("param").id)
    const input = c.req.valid("json")
    const { name, kinds, all_workspaces: allWorkspaces, enabled } = input
    if (allWorkspaces === false) await requireWorkspace(c.env.DB, before)
    const config = input.config && (await toNewConfig(c, before, input.config))
    const change = {
      ...(name !== undefined && { name }),
      ...(kinds !== undefined && { kinds }),
      ...(allWorkspaces !== undefined && { allWorkspaces }),
      ...(enabled !== undefined && { enabled }),
      ...(config && (await toSealed(c, before, config))),
      updatedAt: Date.now(),
    }
    const { id, workspaceId } = before
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "alert_channel.update", resourceId: id, workspaceId, changed })
    if (!(await updateChannel(c.env.DB, before, change, entry))) {
      await find(c, id)
      throw new GatewayError("conflict", "This channel was modified concurrently. Read it and retry.")
    }
    return c.json({ data: toChannel(await find(c, id)) }, 200)
  })
  .openapi(remove, async (c) => {
    const { id, workspaceId, organizationId } = await find(c, c.req.valid("param").id)
    const entry = entryOf(c, { action: "alert_channel.delete", resourceId: id, workspaceId })
    if (!(await deleteChannel(c.env.DB, organizationId, id, entry))) throw noSuchChannel()
    return c.json({ deleted: true as const }, 200)
  })
  .openapi(test, async (c) => {
    const row = await find(c, c.req.valid("param").id)
    const { id, workspaceId } = row
    await insertAudit(c.env.DB, entryOf(c, { action: "alert_channel.test", resourceId: id, workspaceId }))
    const now = Date.now()
    const alert: Alert = {
      id: newId(),
      organizationId: row.organizationId,
      workspaceId,
      kind: "limit_threshold",
      message: `This is a test of the alert channel "${row.name}".`,
      data: { is_test: true },
      createdAt: now,
    }
    const { isTaken, status, message } = await deliver(row, alert, c.env, now)
    return c.json({ data: { ok: isTaken, status, message } }, 200)
  })

async function find(c: Context<App>, id: string): Promise<ChannelRow> {
  const row = await findChannel(c.env.DB, c.var.principal.organizationId, id)
  if (!row) throw noSuchChannel()
  return row
}

/** A channel of all workspaces outlives its workspace, and then cannot be limited to it. */
async function requireWorkspace(db: D1Database, { organizationId, workspaceId }: ChannelRow): Promise<void> {
  if (await findWorkspace(db, organizationId, workspaceId)) return
  throw new GatewayError(
    "invalid_request",
    "all_workspaces: must be true, because the channel's workspace was deleted.",
  )
}

function noSuchChannel(): GatewayError {
  return new GatewayError("not_found", "There is no alert channel with this id.")
}

/** Webhooks are always signed. */
function generateMissingSecret(type: ChannelType, config: Readonly<Record<string, unknown>>): Record<string, string> {
  return type === "webhook" && config["signing_secret"] === undefined ? { signing_secret: newSigningSecret() } : {}
}

/** The key of one mail provider is not sent to another one, or to another host. */
function requireKeyAgain({ type, config }: ChannelRow, read: Readonly<Record<string, unknown>>, isSent: boolean): void {
  const isMoved = ["provider", "base_url"].some((name) => read[name] !== config[name])
  if (type !== "email" || isSent || !isMoved) return
  throw new GatewayError("invalid_request", "config.api_key: would be sent to another host. Send the value itself.")
}

/** The sent configuration; masked and omitted secrets keep their value. */
async function toNewConfig(c: Context<App>, before: ChannelRow, sent: Readonly<Record<string, unknown>>) {
  const secret = (await openSecrets(before, c.env)) ?? {}
  const submitted = Object.entries(withKeptUrls(sent, before.config)).filter(
    ([name, value]) => value !== MASK || !(name in secret),
  )
  const read = readConfig(before.type, { ...secret, ...Object.fromEntries(submitted) }, c.env)
  requireKeyAgain(
    before,
    read,
    submitted.some(([name]) => name === "api_key"),
  )
  return read
}

type Scope = Pick<ChannelRow, "id" | "organizationId" | "workspaceId" | "type">

/** The version is authenticated with the sealed part, so that an older one cannot be restored. */
async function toSealed(
  c: Context<App>,
  scope: Scope,
  config: Readonly<Record<string, unknown>>,
): Promise<Pick<ChannelRow, "config" | "sealed" | "version">> {
  const version = newId()
  const { open, secret } = splitConfig(scope.type, config)
  const aad = channelAad({ ...scope, version })
  const sealed = await sealFor(c.env, actorOf(c), aad, JSON.stringify(secret))
  return { config: open, sealed, version }
}
