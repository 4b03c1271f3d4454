import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { actorOf, entryOf } from "../audit/actor.ts"
import { requireManagement, requireUnrestricted } from "../access/guards.ts"
import { changesOf, newEntry } from "../audit/entry.ts"
import { toMask } from "../byok/credential.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, json, jsonBody, ok, PageQuery } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { requireOutboundUrl } from "../outbound/required-url.ts"
import { hostsIn } from "../outbound/settings.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { sealForWorkspace } from "../secrets/workspace-key.ts"
import { newId } from "../support/ids.ts"
import { findOldestWorkspace } from "../workspaces/store.ts"
import { tokenAad, newDirectory, newToken, type PullColumns, toDirectory } from "./directory.ts"
import type { DirectoryRow } from "./table.ts"
import {
  deleteDirectory,
  findDirectory,
  insertDirectory,
  listDirectories,
  replaceToken,
  updateDirectory,
} from "./directory-store.ts"
import {
  CreatedDirectory,
  Directories,
  Directory,
  DirectoryChange,
  DirectoryPath,
  NewDirectory,
  TokenRotation,
} from "./schemas.ts"

const MAX_BODY_BYTES = 65_536
const shared = { tags: ["SCIM"], middleware: requireManagement }
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const list = createRoute({
  ...shared,
  method: "get",
  path: "/scim/directories",
  operationId: "listScimDirectories",
  summary: "List SCIM directories",
  description: "Newest first.",
  request: { query: PageQuery },
  responses: { 200: ok(Directories, "The directories."), ...FAILURES },
})

const create = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement, requireUnrestricted, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: "/scim/directories",
  operationId: "createScimDirectory",
  summary: "Create a SCIM directory",
  description: "The token is returned in this response only.",
  request: { body: jsonBody(NewDirectory) },
  responses: {
    201: ok(z.object({ data: CreatedDirectory }), "The directory, with its token."),
    ...FAILURES,
    ...failures("conflict"),
  },
})

const update = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement, requireUnrestricted, acceptJson(MAX_BODY_BYTES)] as const,
  method: "patch",
  path: "/scim/directories/{id}",
  operationId: "updateScimDirectory",
  summary: "Update a SCIM directory",
  description: "Its name, or the URL and token that it is pulled with. A pull in progress starts again.",
  request: { params: DirectoryPath, body: jsonBody(DirectoryChange) },
  responses: {
    200: ok(z.object({ data: Directory }), "The directory as it is now."),
    ...FAILURES,
    ...failures("conflict"),
  },
})

const rotate = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement, requireUnrestricted, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: "/scim/directories/{id}/token",
  operationId: "rotateScimDirectoryToken",
  summary: "Replace the token of a SCIM directory",
  description: "The new token is returned in this response only. The former one is valid for `keep_previous_seconds`.",
  request: { params: DirectoryPath, body: { content: json(TokenRotation), required: false } },
  responses: {
    200: ok(z.object({ data: CreatedDirectory }), "The directory, with its new token."),
    ...FAILURES,
    ...failures("conflict"),
  },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: "/scim/directories/{id}",
  operationId: "deleteScimDirectory",
  summary: "Delete a SCIM directory",
  description: "Deletes its groups and their mappings too. Its users stay as members, managed by hand.",
  request: { params: DirectoryPath },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Disconnected."), ...FAILURES },
})

/** The directories of an organization. Their pushes arrive at service-routes.ts. */
export const scimDirectories = newRouter()
  .openapi(list, async (c) => {
    const { rows, total } = await listDirectories(c.env.DB, c.var.principal.organizationId, c.req.valid("query"))
    const now = Date.now()
    return c.json({ data: rows.map((row) => toDirectory(row, c.req.url, now)), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const input = c.req.valid("json")
    const { token, row: fresh } = newDirectory(c.var.principal.organizationId, input.name, Date.now())
    const row = input.pull ? { ...fresh, ...(await toPull(c, fresh, input.pull)) } : fresh
    const result = { name: input.name, ...(input.pull && { pull: { url: input.pull.url } }) }
    const event = { resourceId: row.id, workspaceId: null, changed: changesOf(result, ["name", "pull"]) }
    await insertDirectory(c.env.DB, row, entryOf(c, { action: "scim_directory.create", ...event }))
    // A pulled directory takes no pushes, so its token is never shown.
    const data = toDirectory(row, c.req.url, row.created_at)
    return c.json({ data: { ...data, token: input.pull ? null : token } }, 201)
  })
  .openapi(update, async (c) => {
    const { name, pull } = c.req.valid("json")
    const row = await requireDirectory(c, c.req.valid("param").id)
    if (pull && row.pull_url === null) {
      throw new GatewayError("invalid_request", "pull: this directory pushes. Connect a directory that is pulled.")
    }
    const url = pull?.url ?? row.pull_url ?? ""
    const change = { ...(name !== undefined && { name }), ...(pull && (await toPull(c, row, { ...pull, url }))) }
    const result = { name, ...(pull && { pull: { url } }) }
    const event = { resourceId: row.id, workspaceId: null, changed: changesOf(result, ["name", "pull"]) }
    const entry = entryOf(c, { action: "scim_directory.update", ...event })
    if (!(await updateDirectory(c.env.DB, row, change, entry))) {
      await requireDirectory(c, row.id)
      throw new GatewayError("conflict", "Another request changed the pull at the same time. Read it and retry.")
    }
    return c.json({ data: toDirectory({ ...row, ...change }, c.req.url, Date.now()) }, 200)
  })
  .openapi(rotate, async (c) => {
    // Without a body, the validator does not run.
    const { keep_previous_seconds: seconds = 0 } = c.req.valid("json")
    const row = await requireDirectory(c, c.req.valid("param").id)
    if (row.pull_url !== null) {
      throw new GatewayError(
        "invalid_request",
        "This directory is pulled and has no token for pushes. Change the token it is pulled with: PATCH /scim/directories/{id}.",
      )
    }
    const now = Date.now()
    const { token, hash } = newToken()
    const previousUntil = seconds === 0 ? null : now + seconds * 1000
    const changed = changesOf({ keep_previous_seconds: seconds }, ["keep_previous_seconds"])
    const entry = entryOf(c, { action: "scim_directory.rotate_token", resourceId: row.id, workspaceId: null, changed })
    if (!(await replaceToken(c.env.DB, row, { hash, previousUntil }, entry))) {
      throw new GatewayError(
        "conflict",
        "Another request replaced the token at the same time, or deleted the directory.",
      )
    }
    const rotated = { ...row, previous_token_expires_at: previousUntil }
    return c.json({ data: { ...toDirectory(rotated, c.req.url, now), token } }, 200)
  })
  .openapi(remove, async (c) => {
    const { id } = c.req.valid("param")
    const entry = entryOf(c, { action: "scim_directory.delete", resourceId: id, workspaceId: null })
    if (
      !(await deleteDirectory(c.env.DB, { organizationId: c.var.principal.organizationId, id, now: Date.now(), entry }))
    ) {
      throw absent()
    }
    return c.json({ deleted: true as const }, 200)
  })

const absent = () => new GatewayError("not_found", "There is no directory with this id.")
async function requireDirectory(c: Context<App>, id: string): Promise<DirectoryRow> {
  const row = await findDirectory(c.env.DB, { organizationId: c.var.principal.organizationId, id })
  if (row === undefined) throw absent()
  return row
}

/** The pull columns of a directory. The token is sealed under the key of a workspace, which outlives the workspace. */
async function toPull(
  c: Context<App>,
  { id, organization_id: organizationId }: DirectoryRow,
  { url, token }: { url: string; token: string },
): Promise<PullColumns> {
  requireOutboundUrl("pull.url", url, hostsIn(c.env, "PRIVATE_HOSTS"))
  const workspaceId = (await findOldestWorkspace(c.env.DB, organizationId)) ?? c.var.principal.workspaceId
  const version = newId()
  const entry = newEntry(actorOf(c), { action: "data_key.create", resourceId: workspaceId, workspaceId })
  const aad = tokenAad({ id, pull_workspace_id: workspaceId, pull_version: version })
  const sealed = await sealForWorkspace(c.env.DB, masterKeysOf(c.env), { aad, plain: token, organizationId }, entry)
  if (sealed === undefined) throw new GatewayError("conflict", "The workspace whose key seals the token was deleted.")
  return {
    pull_url: url.replace(/\/+$/, ""),
    pull_workspace_id: workspaceId,
    pull_sealed: sealed,
    pull_version: version,
    pull_label: toMask(token),
  }
}
