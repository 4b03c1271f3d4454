import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../access/actor.ts"
import { requireManagement } from "../access/caller.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../edge/errors.ts"
import { acceptJson, newRouter } from "../edge/router.ts"
import { failures, jsonBody, ok, PageQuery } from "../edge/schema.ts"
import { newDirectory, toDirectory } from "./directory.ts"
import { deleteDirectory, insertDirectory, listDirectories } from "./directory-store.ts"
import { CreatedDirectory, Directories, DirectoryPath, NewDirectory } from "./schemas.ts"

const MAX_BODY_BYTES = 65_536
const shared = { tags: ["SCIM"], middleware: [requireManagement] as [typeof requireManagement] }
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const list = createRoute({
  ...shared,
  method: "get",
  path: "/scim/directories",
  operationId: "listScimDirectories",
  summary: "The directories that push people and groups, newest first.",
  request: { query: PageQuery },
  responses: { 200: ok(Directories, "The directories."), ...FAILURES },
})

const create = createRoute({
  tags: ["SCIM"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: "/scim/directories",
  operationId: "createScimDirectory",
  summary: "Connects a directory. Its token is in this answer and nowhere else.",
  request: { body: jsonBody(NewDirectory) },
  responses: { 201: ok(z.object({ data: CreatedDirectory }), "The directory, with its token."), ...FAILURES },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: "/scim/directories/{id}",
  operationId: "deleteScimDirectory",
  summary: "Disconnects a directory, with its groups and their mappings. Its people stay, managed by hand.",
  request: { params: DirectoryPath },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Disconnected."), ...FAILURES },
})

/** The directories of an organization. What they push comes in at service-routes.ts. */
export const scimDirectories = newRouter()
  .openapi(list, async (c) => {
    const { rows, total } = await listDirectories(c.env.DB, c.var.caller.organizationId, c.req.valid("query"))
    return c.json({ data: rows.map((row) => toDirectory(row, c.req.url)), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const input = c.req.valid("json")
    const { token, row } = newDirectory(c.var.caller.organizationId, input.name, Date.now())
    const deed = { resourceId: row.id, workspaceId: null, changed: changesOf(input, ["name"]) }
    await insertDirectory(c.env.DB, row, entryOf(c, { action: "scim_directory.create", ...deed }))
    return c.json({ data: { ...toDirectory(row, c.req.url), token } }, 201)
  })
  .openapi(remove, async (c) => {
    const { id } = c.req.valid("param")
    const entry = entryOf(c, { action: "scim_directory.delete", resourceId: id, workspaceId: null })
    if (!(await deleteDirectory(c.env.DB, c.var.caller.organizationId, id, Date.now(), entry))) {
      throw new GatewayError("not_found", "There is no directory with this id.")
    }
    return c.json({ deleted: true as const }, 200)
  })
