import { createRoute } from "@hono/zod-openapi"
import { entryOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, PageQuery } from "../http/schema.ts"
import { WorkspacePath } from "../workspaces/schemas.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import type { WorkspaceRow } from "../workspaces/table.ts"
import { toWorkspaceMember } from "./member.ts"
import { MembersAdded, MembersRemoved, UserIds, WorkspaceMembers } from "./schemas.ts"
import {
  deleteWorkspaceMembers,
  findBoundMembers,
  findNonMembers,
  insertWorkspaceMembers,
  listWorkspaceMembers,
} from "./store.ts"

const MAX_BODY_BYTES = 65_536
const PATH = "/workspaces/{workspaceRef}/members"
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")

const list = createRoute({
  tags: ["Workspaces"],
  middleware: [requireManagement] as const,
  method: "get",
  path: PATH,
  operationId: "listWorkspaceMembers",
  summary: "List the members of a workspace",
  description: "Newest first; the default workspace has all members of the organization.",
  request: { params: WorkspacePath, query: PageQuery },
  responses: { 200: ok(WorkspaceMembers, "The members."), ...FAILURES },
})

const add = createRoute({
  tags: ["Workspaces"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: `${PATH}/add`,
  operationId: "addWorkspaceMembers",
  summary: "Add members to a workspace",
  description: "Adds members of the organization, with their role there.",
  request: { params: WorkspacePath, body: jsonBody(UserIds) },
  responses: { 200: ok(MembersAdded, "Those who were not in the workspace before."), ...FAILURES },
})

const remove = createRoute({
  tags: ["Workspaces"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: `${PATH}/remove`,
  operationId: "removeWorkspaceMembers",
  summary: "Remove members from a workspace",
  description: "Rejected for members with active keys in it, and for members from the directory.",
  request: { params: WorkspacePath, body: jsonBody(UserIds) },
  responses: { 200: ok(MembersRemoved, "How many were in the workspace."), ...FAILURES },
})

export const workspaceMembers = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const { id } = await workspaceOf(c.env.DB, organizationId, c.req.valid("param").workspaceRef)
    const { rows, total } = await listWorkspaceMembers(c.env.DB, organizationId, id, c.req.valid("query"))
    return c.json({ data: rows.map((row) => toWorkspaceMember(id, row)), total_count: total }, 200)
  })
  .openapi(add, async (c) => {
    const { organizationId } = c.var.principal
    const { user_ids: ids } = c.req.valid("json")
    const { id } = await workspaceOf(c.env.DB, organizationId, c.req.valid("param").workspaceRef)
    const nonMembers = await findNonMembers(c.env.DB, organizationId, ids)
    if (nonMembers.length > 0) throwInvalid(`${nonMembers.join(", ")}: not a member of the organization.`)
    const entry = entryOf(c, { action: "workspace_member.add", ...eventOf(id, ids) })
    const rows = await insertWorkspaceMembers(c.env.DB, {
      organizationId,
      workspaceId: id,
      ids,
      now: Date.now(),
      entry,
    })
    return c.json({ added_count: rows.length, data: rows.map((row) => toWorkspaceMember(id, row)) }, 200)
  })
  .openapi(remove, async (c) => {
    const { organizationId } = c.var.principal
    const { user_ids: ids } = c.req.valid("json")
    const workspace = await workspaceOf(c.env.DB, organizationId, c.req.valid("param").workspaceRef)
    if (workspace.isDefault) {
      throwInvalid(
        "the default workspace has all members of the organization. DELETE /organization/members removes one.",
      )
    }
    const now = Date.now()
    const [bound] = await findBoundMembers(c.env.DB, { organizationId, workspaceId: workspace.id, ids, now })
    if (bound) {
      throwInvalid(
        bound.source === "scim"
          ? `${bound.userId}: is managed by the organization's directory. Remove the group or its mapping there.`
          : `${bound.userId}: has active API keys in the workspace. Delete or disable them first.`,
      )
    }
    const entry = entryOf(c, { action: "workspace_member.remove", ...eventOf(workspace.id, ids) })
    const removed = await deleteWorkspaceMembers(c.env.DB, {
      organizationId,
      workspaceId: workspace.id,
      ids,
      now,
      entry,
    })
    return c.json({ removed_count: removed }, 200)
  })

function eventOf(workspaceId: string, ids: readonly string[]) {
  return { resourceId: workspaceId, workspaceId, changed: changesOf({ user_ids: ids }, ["user_ids"]) }
}

async function workspaceOf(db: D1Database, organizationId: string, ref: string): Promise<WorkspaceRow> {
  const row = await findWorkspaceRow(db, organizationId, ref)
  if (!row) throw new GatewayError("not_found", "There is no workspace with this id or slug.")
  return row
}

function throwInvalid(rule: string): never {
  throw new GatewayError("invalid_request", `user_ids: ${rule}`)
}
