import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { entryOf } from "../audit/actor.ts"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, PageQuery } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { findNonMembers } from "../members/store.ts"
import { newId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import {
  type AssignmentChange,
  assignKeys,
  assignMembers,
  findUnassignableKeys,
  listKeyAssignments,
  listMemberAssignments,
  unassignKeys,
  unassignMembers,
} from "./assignment-store.ts"
import { noSuchGuardrail } from "./routes.ts"
import {
  Assigned,
  GuardrailPath,
  KeyAssignmentList,
  KeyHashes,
  MemberAssignmentList,
  MemberIds,
  Unassigned,
} from "./schemas.ts"
import { findGuardrail } from "./store.ts"

const MAX_BODY_BYTES = 262_144
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const read = { tags: ["Guardrails"], middleware: [requireManagement] satisfies [typeof requireManagement] }
const write = {
  tags: ["Guardrails"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] satisfies [
    typeof requireManagement,
    typeof requireManagement,
  ],
}
const KEYS = "/guardrails/{id}/assignments/keys"
const MEMBERS = "/guardrails/{id}/assignments/members"

const listAllKeys = createRoute({
  ...read,
  method: "get",
  path: "/guardrails/assignments/keys",
  operationId: "listGuardrailKeyAssignmentsOfAll",
  summary: "List key assignments of all guardrails",
  description: "Newest first.",
  request: { query: PageQuery },
  responses: { 200: ok(KeyAssignmentList, "The assignments."), ...FAILURES },
})

const listAllMembers = createRoute({
  ...read,
  method: "get",
  path: "/guardrails/assignments/members",
  operationId: "listGuardrailMemberAssignmentsOfAll",
  summary: "List member assignments of all guardrails",
  description: "Newest first.",
  request: { query: PageQuery },
  responses: { 200: ok(MemberAssignmentList, "The assignments."), ...FAILURES },
})

const listKeys = createRoute({
  ...read,
  method: "get",
  path: KEYS,
  operationId: "listGuardrailKeyAssignments",
  summary: "List the keys of a guardrail",
  description: "Newest first.",
  request: { params: GuardrailPath, query: PageQuery },
  responses: { 200: ok(KeyAssignmentList, "The assignments."), ...FAILURES },
})

const listMembers = createRoute({
  ...read,
  method: "get",
  path: MEMBERS,
  operationId: "listGuardrailMemberAssignments",
  summary: "List the members of a guardrail",
  description: "Newest first.",
  request: { params: GuardrailPath, query: PageQuery },
  responses: { 200: ok(MemberAssignmentList, "The assignments."), ...FAILURES },
})

const addKeys = createRoute({
  ...write,
  method: "post",
  path: KEYS,
  operationId: "assignGuardrailKeys",
  summary: "Assign a guardrail to keys",
  description: "The keys must be in its workspace. Replaces their current guardrail.",
  request: { params: GuardrailPath, body: jsonBody(KeyHashes) },
  responses: {
    200: ok(Assigned, "Number of keys that have the guardrail now, with those that had it before."),
    ...FAILURES,
  },
})

const removeKeys = createRoute({
  ...write,
  method: "post",
  path: `${KEYS}/remove`,
  operationId: "unassignGuardrailKeys",
  summary: "Unassign a guardrail from keys",
  request: { params: GuardrailPath, body: jsonBody(KeyHashes) },
  responses: { 200: ok(Unassigned, "Number of keys that were unassigned."), ...FAILURES },
})

const addMembers = createRoute({
  ...write,
  method: "post",
  path: MEMBERS,
  operationId: "assignGuardrailMembers",
  summary: "Assign a guardrail to members",
  description: "It applies to every key in its workspace that the members created.",
  request: { params: GuardrailPath, body: jsonBody(MemberIds) },
  responses: {
    200: ok(Assigned, "Number of members that have the guardrail now, with those that had it before."),
    ...FAILURES,
  },
})

const removeMembers = createRoute({
  ...write,
  method: "post",
  path: `${MEMBERS}/remove`,
  operationId: "unassignGuardrailMembers",
  summary: "Unassign a guardrail from members",
  request: { params: GuardrailPath, body: jsonBody(MemberIds) },
  responses: { 200: ok(Unassigned, "Number of members that were unassigned."), ...FAILURES },
})

export const guardrailAssignments = newRouter()
  .openapi(listAllKeys, async (c) => {
    const { rows, total } = await listKeyAssignments(c.env.DB, orgOf(c), null, c.req.valid("query"))
    return c.json({ data: rows.map(withDate), total_count: total }, 200)
  })
  .openapi(listAllMembers, async (c) => {
    const { rows, total } = await listMemberAssignments(c.env.DB, orgOf(c), null, c.req.valid("query"))
    return c.json({ data: rows.map(withDate), total_count: total }, 200)
  })
  .openapi(listKeys, async (c) => {
    const { guardrailId } = await readAssignment(c, c.req.valid("param").id)
    const { rows, total } = await listKeyAssignments(c.env.DB, orgOf(c), guardrailId, c.req.valid("query"))
    return c.json({ data: rows.map(withDate), total_count: total }, 200)
  })
  .openapi(listMembers, async (c) => {
    const { guardrailId } = await readAssignment(c, c.req.valid("param").id)
    const { rows, total } = await listMemberAssignments(c.env.DB, orgOf(c), guardrailId, c.req.valid("query"))
    return c.json({ data: rows.map(withDate), total_count: total }, 200)
  })
  .openapi(addKeys, async (c) => {
    const hashes = [...new Set(c.req.valid("json").key_hashes)]
    const target = await readAssignment(c, c.req.valid("param").id)
    const { unknown, elsewhere } = await findUnassignableKeys(c.env.DB, target, hashes)
    if (unknown.length > 0) throw new GatewayError("not_found", `key_hashes: there is no key ${unknown.join(", ")}.`)
    if (elsewhere.length > 0) {
      const rule = `${elsewhere.join(", ")}: in another workspace than the guardrail.`
      throw new GatewayError("invalid_request", `key_hashes: ${rule}`)
    }
    const entry = entryFor(c, target, "guardrail_key.assign", { key_hashes: hashes })
    const count = await assignKeys(
      c.env.DB,
      target,
      hashes.map((hash) => ({ hash, id: newId() })),
      entry,
    )
    invalidateWorkspace(target.workspaceId)
    return c.json({ assigned_count: count }, 200)
  })
  .openapi(removeKeys, async (c) => {
    const hashes = [...new Set(c.req.valid("json").key_hashes)]
    const target = await readAssignment(c, c.req.valid("param").id)
    const entry = entryFor(c, target, "guardrail_key.unassign", { key_hashes: hashes })
    const count = await unassignKeys(c.env.DB, target, hashes, entry)
    invalidateWorkspace(target.workspaceId)
    return c.json({ unassigned_count: count }, 200)
  })
  .openapi(addMembers, async (c) => {
    const ids = [...new Set(c.req.valid("json").member_user_ids)]
    const target = await readAssignment(c, c.req.valid("param").id)
    const nonMembers = await findNonMembers(c.env.DB, target.organizationId, ids)
    if (nonMembers.length > 0) {
      const rule = `${nonMembers.join(", ")}: not a member of the organization.`
      throw new GatewayError("not_found", `member_user_ids: ${rule}`)
    }
    const entry = entryFor(c, target, "guardrail_member.assign", { member_user_ids: ids })
    const count = await assignMembers(
      c.env.DB,
      target,
      ids.map((userId) => ({ userId, id: newId() })),
      entry,
    )
    invalidateWorkspace(target.workspaceId)
    return c.json({ assigned_count: count }, 200)
  })
  .openapi(removeMembers, async (c) => {
    const ids = [...new Set(c.req.valid("json").member_user_ids)]
    const target = await readAssignment(c, c.req.valid("param").id)
    const entry = entryFor(c, target, "guardrail_member.unassign", { member_user_ids: ids })
    const count = await unassignMembers(c.env.DB, target, ids, entry)
    invalidateWorkspace(target.workspaceId)
    return c.json({ unassigned_count: count }, 200)
  })

function orgOf(c: Context<App>): string {
  return c.var.principal.organizationId
}

async function readAssignment(c: Context<App>, id: string): Promise<AssignmentChange> {
  const { organizationId, creatorUserId } = c.var.principal
  const row = await findGuardrail(c.env.DB, organizationId, id)
  if (!row) throw noSuchGuardrail()
  const { id: guardrailId, workspaceId } = row
  return { organizationId, workspaceId, guardrailId, assignedBy: creatorUserId, at: Date.now() }
}

function entryFor(
  c: Context<App>,
  { guardrailId, workspaceId }: AssignmentChange,
  action: `${string}.${string}`,
  input: Record<string, unknown>,
) {
  const changed = changesOf(input, Object.keys(input))
  return entryOf(c, { action, resourceId: guardrailId, workspaceId, changed })
}

function withDate<Row extends { created_at: number }>(row: Row): Omit<Row, "created_at"> & { created_at: string } {
  return { ...row, created_at: toTimestamp(row.created_at) }
}
