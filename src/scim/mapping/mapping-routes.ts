import { configOf } from "../../config/config.ts"
import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../../audit/actor.ts"
import { requireManagement } from "../../access/guards.ts"
import { changesOf } from "../../audit/entry.ts"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, jsonBody, ok, PageQuery } from "../../http/schema.ts"
import { newId } from "../../support/ids.ts"
import { findWorkspace } from "../../workspaces/store.ts"
import { directoryExists } from "../directory-store.ts"
import { type MappingRow, toListedGroup, toMapping } from "./mapping.ts"
import {
  MappingChange,
  MappingPath,
  MappingRemoval,
  NewMapping,
  ScimGroupMapping,
  ScimGroupMappings,
  ScimGroups,
} from "./mapping-schemas.ts"
import {
  deleteMapping,
  findMapping,
  groupExists,
  insertMapping,
  listMappings,
  listOrganizationGroups,
  updateMapping,
} from "./mapping-store.ts"

const MAX_BODY_BYTES = 65_536
const PATH = "/scim/group-mappings"
const shared = { tags: ["SCIM"], middleware: requireManagement }
const takesJson = acceptJson(MAX_BODY_BYTES)
const guards: [typeof requireManagement, typeof takesJson] = [requireManagement, takesJson]
const writing = {
  tags: ["SCIM"],
  middleware: guards,
}
const One = z.object({ data: ScimGroupMapping })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const GroupsQuery = PageQuery.extend({
  directory_id: z
    .uuid({ error: "must be the UUID of a directory" })
    .toLowerCase()
    .optional()
    .meta({ description: "Only groups of this directory" }),
})

const groups = createRoute({
  ...shared,
  method: "get",
  path: "/scim/groups",
  operationId: "listScimGroups",
  summary: "List SCIM groups",
  description: "Groups of all directories or of one, newest first.",
  request: { query: GroupsQuery },
  responses: { 200: ok(ScimGroups, "The groups."), ...FAILURES },
})

const list = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "listScimGroupMappings",
  summary: "List group mappings",
  description: "Newest first.",
  request: { query: PageQuery },
  responses: { 200: ok(ScimGroupMappings, "The mappings."), ...FAILURES },
})

const create = createRoute({
  ...writing,
  method: "post",
  path: PATH,
  operationId: "createScimGroupMapping",
  summary: "Map a group to a workspace",
  description: "Idempotent: an existing mapping is returned.",
  request: { body: jsonBody(NewMapping) },
  responses: {
    200: ok(One, "The mapping."),
    201: ok(One, "The mapping, if the deployment's CLIENT_DIALECT is openrouter."),
    ...FAILURES,
    ...failures("conflict"),
  },
})

const get = createRoute({
  ...shared,
  method: "get",
  path: `${PATH}/{id}`,
  operationId: "getScimGroupMapping",
  summary: "Get a group mapping",
  request: { params: MappingPath },
  responses: { 200: ok(One, "The mapping."), ...FAILURES },
})

const update = createRoute({
  ...writing,
  method: "patch",
  path: `${PATH}/{id}`,
  operationId: "updateScimGroupMapping",
  summary: "Update the role of a group mapping",
  request: { params: MappingPath, body: jsonBody(MappingChange) },
  responses: { 200: ok(One, "The mapping as it is now."), ...FAILURES },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: `${PATH}/{id}`,
  operationId: "deleteScimGroupMapping",
  summary: "Delete a group mapping",
  description: "With `keep_members`, its members stay in the workspace.",
  request: { params: MappingPath, query: MappingRemoval },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Deleted."), ...FAILURES },
})

/** Mappings of directory groups to workspaces. */
export const scimMappings = newRouter()
  .openapi(groups, async (c) => {
    const { organizationId } = c.var.principal
    const query = c.req.valid("query")
    const directory = query.directory_id
    if (directory !== undefined && !(await directoryExists(c.env.DB, organizationId, directory))) {
      throw new GatewayError("not_found", "directory_id: there is no such directory. GET /scim/directories lists them.")
    }
    const { rows, total } = await listOrganizationGroups(c.env.DB, organizationId, query)
    return c.json({ data: rows.map(toListedGroup), total_count: total }, 200)
  })
  .openapi(list, async (c) => {
    const { rows, total } = await listMappings(c.env.DB, c.var.principal.organizationId, c.req.valid("query"))
    return c.json({ data: rows.map(toMapping), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    const input = c.req.valid("json")
    await requireBoth(c.env.DB, organizationId, input)
    const now = Date.now()
    const row: MappingRow = { id: newId(), organization_id: organizationId, ...input, created_at: now, updated_at: now }
    const event = { resourceId: row.id, workspaceId: input.workspace_id, changed: changesOf(input, Object.keys(input)) }
    const entry = entryOf(c, { action: "scim_group_mapping.create", ...event })
    const mapping = await insertMapping(c.env.DB, row, entry)
    if (!mapping) throw new GatewayError("not_found", "The group or the workspace was deleted concurrently.")
    if (mapping.role !== input.role) {
      const rule = `role: the group has the role ${mapping.role} in this workspace. PATCH ${PATH}/${mapping.id} changes it.`
      throw new GatewayError("conflict", rule)
    }
    return c.json({ data: toMapping(mapping) }, configOf(c.env).CLIENT_DIALECT === "openrouter" ? 201 : 200)
  })
  .openapi(get, async (c) => {
    const row = await requireMapping(c.env.DB, c.var.principal.organizationId, c.req.valid("param").id)
    return c.json({ data: toMapping(row) }, 200)
  })
  .openapi(update, async (c) => {
    const { role } = c.req.valid("json")
    const before = await requireMapping(c.env.DB, c.var.principal.organizationId, c.req.valid("param").id)
    const changed = changesOf({ role }, ["role"])
    const event = { resourceId: before.id, workspaceId: before.workspace_id, changed }
    const entry = entryOf(c, { action: "scim_group_mapping.update", ...event })
    const row = await updateMapping(c.env.DB, { mapping: before, role, now: Date.now(), entry })
    if (!row) throw noSuchMapping()
    return c.json({ data: toMapping(row) }, 200)
  })
  .openapi(remove, async (c) => {
    const keep = c.req.valid("query").keep_members === "true"
    const before = await requireMapping(c.env.DB, c.var.principal.organizationId, c.req.valid("param").id)
    const changed = changesOf({ keep_members: keep }, ["keep_members"])
    const event = { resourceId: before.id, workspaceId: before.workspace_id, changed }
    const entry = entryOf(c, { action: "scim_group_mapping.delete", ...event })
    if (!(await deleteMapping(c.env.DB, { mapping: before, keepMembers: keep, now: Date.now(), entry })))
      throw noSuchMapping()
    return c.json({ deleted: true as const }, 200)
  })

async function requireBoth(
  db: D1Database,
  organizationId: string,
  { scim_group_id: groupId, workspace_id: workspaceId }: z.infer<typeof NewMapping>,
): Promise<void> {
  if (!(await groupExists(db, organizationId, groupId))) {
    throw new GatewayError("not_found", "scim_group_id: there is no group with this id.")
  }
  if (!(await findWorkspace(db, organizationId, workspaceId))) {
    throw new GatewayError("not_found", "workspace_id: there is no workspace with this id.")
  }
}

async function requireMapping(db: D1Database, organizationId: string, id: string): Promise<MappingRow> {
  const row = await findMapping(db, organizationId, id)
  if (!row) throw noSuchMapping()
  return row
}

function noSuchMapping(): GatewayError {
  return new GatewayError("not_found", "There is no mapping with this id.")
}
