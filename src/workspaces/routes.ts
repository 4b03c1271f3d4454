import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, PageQuery } from "../http/schema.ts"
import { withKnownDefaults } from "../models/lists/over-budget.ts"
import { newId } from "../support/ids.ts"
import { NewWorkspace, Workspace, WorkspaceChange, WorkspaceDeletion, WorkspaceList, WorkspacePath } from "./schemas.ts"
import { aliasesOf, SETTING_NAMES } from "./settings.ts"
import { deleteWorkspace, findWorkspaceRow, insertWorkspace, listWorkspaces, updateWorkspace } from "./store.ts"
import type { WorkspaceRow } from "./table.ts"
import { toWorkspace } from "./workspace.ts"
import { isUniqueViolation } from "../support/rows.ts"

const MAX_BODY_BYTES = 65_536
const PATH = "/workspaces/{workspaceRef}"
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const shared = { tags: ["Workspaces"], middleware: [requireManagement] satisfies [typeof requireManagement] }
const One = z.object({ data: Workspace })

const list = createRoute({
  ...shared,
  method: "get",
  path: "/workspaces",
  operationId: "listWorkspaces",
  summary: "List workspaces",
  description: "Newest first.",
  request: { query: PageQuery },
  responses: {
    200: ok(WorkspaceList, "The workspaces."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const create = createRoute({
  ...shared,
  method: "post",
  path: "/workspaces",
  operationId: "createWorkspace",
  summary: "Create a workspace",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewWorkspace) },
  responses: {
    201: ok(One, "The workspace."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const get = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "getWorkspace",
  summary: "Get a workspace",
  description: "By id or slug.",
  request: { params: WorkspacePath },
  responses: { 200: ok(One, "The workspace."), ...FAILURES },
})

const update = createRoute({
  ...shared,
  method: "patch",
  path: PATH,
  operationId: "updateWorkspace",
  summary: "Update a workspace",
  description: "Omitted fields are unchanged; null restores a default.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { params: WorkspacePath, body: jsonBody(WorkspaceChange) },
  responses: { 200: ok(One, "The workspace as it is now."), ...FAILURES },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: PATH,
  operationId: "deleteWorkspace",
  summary: "Delete a workspace",
  description:
    "Permanently deletes its budgets, memberships, secrets and alert channels too; channels with all_workspaces stay. Rejected while it has active keys.",
  request: { params: WorkspacePath, query: WorkspaceDeletion },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Deleted."), ...FAILURES },
})

const AUDITED_FIELDS = ["name", "slug", "description", ...SETTING_NAMES]

/** Deletes data of a deleted workspace outside the database. */
type AfterDelete = (c: Context<App>, deleted: { organizationId: string; workspaceId: string }) => Promise<void>

export const workspaceRoutes = (afterDelete: AfterDelete) =>
  newRouter()
    .openapi(list, async (c) => {
      const { rows, total } = await listWorkspaces(c.env.DB, c.var.principal.organizationId, c.req.valid("query"))
      return c.json({ data: rows.map(toWorkspace), total_count: total }, 200)
    })
    .openapi(create, async (c) => {
      const input = await withKnownDefaults(c.env, c.req.valid("json"), [])
      const { organizationId, creatorUserId } = c.var.principal
      const id = newId()
      const changed = changesOf(input, AUDITED_FIELDS)
      const entry = entryOf(c, { action: "workspace.create", resourceId: id, workspaceId: id, changed })
      const workspace = { id, organizationId, createdBy: creatorUserId, createdAt: Date.now() }
      const row = await insertWorkspace(c.env.DB, workspace, input, entry).catch(rejectDuplicateSlug)
      return c.json({ data: toWorkspace(requireWorkspace(row)) }, 201)
    })
    .openapi(get, async (c) => {
      const row = await findWorkspaceRow(c.env.DB, c.var.principal.organizationId, c.req.valid("param").workspaceRef)
      return c.json({ data: toWorkspace(requireWorkspace(row)) }, 200)
    })
    .openapi(update, async (c) => {
      const { organizationId } = c.var.principal
      const { id, settings } = requireWorkspace(
        await findWorkspaceRow(c.env.DB, organizationId, c.req.valid("param").workspaceRef),
      )
      const aliases = Object.keys(aliasesOf(settings) ?? {})
      const input = await withKnownDefaults(c.env, c.req.valid("json"), aliases)
      const changed = changesOf(input, AUDITED_FIELDS)
      const entry = entryOf(c, { action: "workspace.update", resourceId: id, workspaceId: id, changed })
      const row = await updateWorkspace(c.env.DB, { organizationId, id, change: input, now: Date.now(), entry }).catch(
        rejectDuplicateSlug,
      )
      invalidateWorkspace(id)
      return c.json({ data: toWorkspace(requireWorkspace(row)) }, 200)
    })
    .openapi(remove, async (c) => {
      const { organizationId } = c.var.principal
      const row = requireWorkspace(await findWorkspaceRow(c.env.DB, organizationId, c.req.valid("param").workspaceRef))
      const { isDefault } = row
      if (isDefault) requireConfirmation(c.req.valid("query").confirm_default_workspace_deletion)
      const entry = entryOf(c, { action: "workspace.delete", resourceId: row.id, workspaceId: row.id })
      if (
        !(await deleteWorkspace(c.env.DB, {
          organizationId,
          workspace: { id: row.id, isDefault },
          now: Date.now(),
          entry,
        }))
      ) {
        throw new GatewayError(
          "invalid_request",
          "The workspace has active API keys. Delete or disable them first; GET /keys?workspace_id= lists them.",
        )
      }
      invalidateWorkspace(row.id)
      await afterDelete(c, { organizationId, workspaceId: row.id })
      return c.json({ deleted: true as const }, 200)
    })

function requireWorkspace(row: WorkspaceRow | undefined): WorkspaceRow {
  if (!row) throw new GatewayError("not_found", "There is no workspace with this id or slug.")
  return row
}

function rejectDuplicateSlug(cause: unknown): never {
  if (!isUniqueViolation(cause)) throw cause
  throw new GatewayError("invalid_request", "slug: is taken by another workspace of the organization.")
}

function requireConfirmation(confirmed: string | undefined): void {
  if (confirmed === "true") return
  throw new GatewayError(
    "invalid_request",
    "This is the default workspace. Its inference keys are deleted with it: pass confirm_default_workspace_deletion=true.",
  )
}
