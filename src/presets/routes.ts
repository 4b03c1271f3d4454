import { createRoute } from "@hono/zod-openapi"
import type { Context, MiddlewareHandler } from "hono"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { newId } from "../support/ids.ts"
import { findWorkspace } from "../workspaces/store.ts"
import {
  chatContent,
  ChatPreset,
  messagesContent,
  MessagesPreset,
  type PresetContent,
  responsesContent,
  ResponsesPreset,
} from "./config.ts"
import { invalidatePreset } from "./active.ts"
import { toDesignated, toPreset, toVersion } from "./preset.ts"
import * as schemas from "./schemas.ts"
import {
  findPreset,
  findVersion,
  listPresets,
  listVersions,
  type WorkspaceScope,
  putPreset,
  updatePreset,
} from "./store.ts"

/** An inference request, whose messages are ignored but may be present. */
const MAX_BODY_BYTES = 1_048_576
/** An empty file that a client sends by mistake would create a version without content, which calls use at once. */
const requireBody: MiddlewareHandler<App> = async function requireBody(c, next) {
  if (c.req.raw.body === null)
    throw new GatewayError("invalid_request", "body: is required. Send {} for an empty preset.")
  return next()
}

/** Every call that uses it loads the content. */
const MAX_CONTENT_LENGTH = 200_000

const One = z.object({ data: schemas.DesignatedPreset })
const READ_FAILURES = failures("invalid_request", "unauthenticated", "not_found", "internal")

function creation<T extends z.ZodType, P extends string>(path: P, operationId: string, body: T) {
  return createRoute({
    method: "post",
    path,
    operationId,
    tags: ["Presets"],
    summary: "Create a preset, or a version of it, from a request",
    description: "Fields that a preset does not have, such as messages, are ignored.",
    middleware: [requireManagement, acceptJson(MAX_BODY_BYTES), requireBody] as const,
    request: { params: schemas.PresetPath, query: schemas.PresetQuery, body: jsonBody(body) },
    responses: {
      200: ok(One, "The preset, with the new version."),
      ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
    },
  })
}

const fromChat = creation("/presets/{slug}/chat/completions", "createPresetFromChat", ChatPreset)
const fromResponses = creation("/presets/{slug}/responses", "createPresetFromResponses", ResponsesPreset)
const fromMessages = creation("/presets/{slug}/messages", "createPresetFromMessages", MessagesPreset)

const list = createRoute({
  method: "get",
  path: "/presets",
  operationId: "listPresets",
  tags: ["Presets"],
  summary: "List presets",
  description: "Of a workspace, the most recently updated first.",
  request: { query: schemas.PresetsQuery },
  responses: { 200: ok(schemas.PresetList, "The presets."), ...READ_FAILURES },
})

const get = createRoute({
  method: "get",
  path: "/presets/{slug}",
  operationId: "getPreset",
  tags: ["Presets"],
  summary: "Get a preset",
  description: "With its designated version.",
  request: { params: schemas.PresetPath, query: schemas.PresetQuery },
  responses: { 200: ok(One, "The preset."), ...READ_FAILURES },
})

const update = createRoute({
  method: "patch",
  path: "/presets/{slug}",
  operationId: "updatePreset",
  tags: ["Presets"],
  summary: "Update a preset",
  description: "Its name, description, status, or the version that calls get.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params: schemas.PresetPath, query: schemas.PresetQuery, body: jsonBody(schemas.PresetChange) },
  responses: {
    200: ok(One, "The preset as it is now."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const versions = createRoute({
  method: "get",
  path: "/presets/{slug}/versions",
  operationId: "listPresetVersions",
  tags: ["Presets"],
  summary: "List the versions of a preset",
  description: "Oldest first.",
  request: { params: schemas.PresetPath, query: schemas.PresetPageQuery },
  responses: { 200: ok(schemas.VersionList, "The versions."), ...READ_FAILURES },
})

const version = createRoute({
  method: "get",
  path: "/presets/{slug}/versions/{version}",
  operationId: "getPresetVersion",
  tags: ["Presets"],
  summary: "Get a version of a preset",
  request: { params: schemas.VersionPath, query: schemas.PresetQuery },
  responses: { 200: ok(z.object({ data: schemas.PresetVersion }), "The version."), ...READ_FAILURES },
})

export const presets = newRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const { rows, total } = await listPresets(c.env.DB, await scopeOf(c, query), query)
    return c.json({ data: rows.map(toPreset), total_count: total }, 200)
  })
  .openapi(get, async (c) => {
    const { slug } = c.req.valid("param")
    const found = await findPreset(c.env.DB, await scopeOf(c, c.req.valid("query")), slug)
    if (!found) throw noSuchPreset(slug)
    return c.json({ data: toDesignated(found.preset, found.version, c.var.principal) }, 200)
  })
  .openapi(versions, async (c) => {
    const { slug } = c.req.valid("param")
    const query = c.req.valid("query")
    const found = await listVersions(c.env.DB, await scopeOf(c, query), slug, query)
    if (!found) throw noSuchPreset(slug)
    return c.json({ data: found.rows.map((row) => toVersion(row, c.var.principal)), total_count: found.total }, 200)
  })
  .openapi(version, async (c) => {
    const { slug, version: number } = c.req.valid("param")
    const row = await findVersion(c.env.DB, await scopeOf(c, c.req.valid("query")), slug, Number(number))
    if (!row) throw new GatewayError("not_found", `There is no version ${number} of a preset ${slug}.`)
    return c.json({ data: toVersion(row, c.var.principal) }, 200)
  })
  .openapi(fromChat, async (c) => {
    const scope = await scopeOf(c, c.req.valid("query"))
    return c.json(await put(c, scope, c.req.valid("param").slug, chatContent(c.req.valid("json"))), 200)
  })
  .openapi(fromResponses, async (c) => {
    const scope = await scopeOf(c, c.req.valid("query"))
    return c.json(await put(c, scope, c.req.valid("param").slug, responsesContent(c.req.valid("json"))), 200)
  })
  .openapi(fromMessages, async (c) => {
    const scope = await scopeOf(c, c.req.valid("query"))
    return c.json(await put(c, scope, c.req.valid("param").slug, messagesContent(c.req.valid("json"))), 200)
  })
  .openapi(update, async (c) => {
    const { slug } = c.req.valid("param")
    const change = c.req.valid("json")
    const scope = await scopeOf(c, c.req.valid("query"))
    const { workspaceId } = scope
    const changed = changesOf(change, ["name", "description", "status", "designated_version"])
    const entry = entryOf(c, { action: "preset.update", resourceId: slug, workspaceId, changed })
    const found = await updatePreset(c.env.DB, { scope, slug, change, now: Date.now(), entry })
    invalidatePreset(scope, slug)
    if (found) return c.json({ data: toDesignated(found.preset, found.version, c.var.principal) }, 200)
    if (!(await findPreset(c.env.DB, scope, slug))) throw noSuchPreset(slug)
    throw new GatewayError(
      "invalid_request",
      `designated_version: the preset has no version ${change.designated_version}.`,
    )
  })

/** The workspace of the key, or for a management key any of its organization. */
async function scopeOf(
  c: Context<App>,
  { workspace_id: requested }: z.infer<typeof schemas.PresetQuery>,
): Promise<WorkspaceScope> {
  const { organizationId, workspaceId, kind } = c.var.principal
  if (requested === undefined || requested === workspaceId) return { organizationId, workspaceId }
  const found = kind === "management" && (await findWorkspace(c.env.DB, organizationId, requested))
  if (!found) throw new GatewayError("not_found", "There is no workspace with this workspace_id.")
  return { organizationId, workspaceId: found.id }
}

async function put(c: Context<App>, scope: WorkspaceScope, slug: string, content: PresetContent) {
  if (JSON.stringify(content).length > MAX_CONTENT_LENGTH) {
    const rule = `The stored fields of a preset, including instructions and tools, have more than ${MAX_CONTENT_LENGTH} characters.`
    throw new GatewayError("invalid_request", rule)
  }
  const { creatorUserId, keyHash } = c.var.principal
  const before = await findPreset(c.env.DB, scope, slug)
  const fields = [...Object.keys(content.config), ...(content.systemPrompt === null ? [] : ["system_prompt"])]
  const entry = entryOf(c, {
    action: before ? "preset.add_version" : "preset.create",
    resourceId: slug,
    workspaceId: scope.workspaceId,
    changed: changesOf(Object.fromEntries(fields.map((name) => [name, content.config[name as "model"] ?? null])), [
      "model",
      "models",
    ]),
  })
  const creatorId = creatorUserId ?? keyHash
  const identity = { presetId: newId(), versionId: newId(), slug, creatorUserId, creatorId, now: Date.now() }
  const found = await putPreset(c.env.DB, { scope, made: identity, content, entry })
  invalidatePreset(scope, slug)
  if (found) return { data: toDesignated(found.preset, found.version, c.var.principal) }
  if (await findWorkspace(c.env.DB, scope.organizationId, scope.workspaceId)) {
    throw new GatewayError("conflict", `The preset ${slug} is archived. Make it active to add a version.`)
  }
  throw new GatewayError("invalid_request", "The workspace of this key was deleted. Pass workspace_id.")
}

function noSuchPreset(slug: string): GatewayError {
  return new GatewayError("not_found", `There is no preset ${slug} in this workspace.`)
}
