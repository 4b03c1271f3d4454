import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireManagement, requireUnrestricted } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, PageQuery, textIn } from "../http/schema.ts"
import { newId } from "../support/ids.ts"
import { toOrganizationMember, toStoredRole } from "./member.ts"
import type { MemberRow, NewMemberRow } from "./table.ts"
import { MemberChange, MemberPath, NewMember, OrganizationMember, OrganizationMembers } from "./schemas.ts"
import { deleteMember, findMember, insertMember, listMembers, updateMember } from "./store.ts"
import { isUniqueViolation } from "../support/rows.ts"

const MAX_BODY_BYTES = 65_536
const PATH = "/organization/members/{userId}"
const shared = { tags: ["Organization"], middleware: [requireManagement] satisfies [typeof requireManagement] }
const One = z.object({ data: OrganizationMember })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal")

const list = createRoute({
  ...shared,
  method: "get",
  path: "/organization/members",
  operationId: "listOrganizationMembers",
  summary: "List the members of the organization",
  description: "Newest first.",
  request: { query: PageQuery.extend({ q: textIn("name, email or id") }) },
  responses: {
    200: ok(OrganizationMembers, "The members."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const add = createRoute({
  tags: ["Organization"],
  middleware: [requireManagement, requireUnrestricted, acceptJson(MAX_BODY_BYTES)] as const,
  method: "post",
  path: "/organization/members",
  operationId: "addOrganizationMember",
  summary: "Add a member to the organization",
  request: { body: jsonBody(NewMember) },
  responses: {
    201: ok(One, "The member."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "conflict", "internal"),
  },
})

const update = createRoute({
  tags: ["Organization"],
  middleware: [requireManagement, requireUnrestricted, acceptJson(MAX_BODY_BYTES)] as const,
  method: "patch",
  path: PATH,
  operationId: "updateOrganizationMember",
  summary: "Update a member",
  description: "A new role is also the role in the workspaces that the member was added to.",
  request: { params: MemberPath, body: jsonBody(MemberChange) },
  responses: { 200: ok(One, "The member as it is now."), ...FAILURES },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: PATH,
  operationId: "removeOrganizationMember",
  summary: "Remove a member",
  description: "Removes the member from the organization and all of its workspaces. Keys that the member created stay.",
  request: { params: MemberPath },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Removed."), ...FAILURES },
})

/** Names and emails are not logged. */
const AUDITED_FIELDS = ["role"]

/** Members of an organization. There is no sign-up: managers add members here. */
export const organizationMembers = newRouter()
  .openapi(list, async (c) => {
    const { rows, total } = await listMembers(c.env.DB, c.var.principal.organizationId, c.req.valid("query"))
    return c.json({ data: rows.map(toOrganizationMember), total_count: total }, 200)
  })
  .openapi(add, async (c) => {
    const input = c.req.valid("json")
    const member: NewMemberRow = {
      organizationId: c.var.principal.organizationId,
      userId: input.user_id ?? newId(),
      role: toStoredRole(input.role),
      email: input.email.toLowerCase(),
      firstName: input.first_name ?? null,
      lastName: input.last_name ?? null,
      createdAt: Date.now(),
    }
    const event = { resourceId: member.userId, workspaceId: null, changed: changesOf(input, AUDITED_FIELDS) }
    const entry = entryOf(c, { action: "member.add", ...event })
    const row = await insertMember(c.env.DB, member, entry).catch(rejectDuplicate)
    return c.json({ data: toOrganizationMember(row) }, 201)
  })
  .openapi(update, async (c) => {
    const { organizationId } = c.var.principal
    const { userId } = c.req.valid("param")
    const change = c.req.valid("json")
    const member = await requireChangeable(c.env.DB, organizationId, userId)
    if (member.role === "owner" && change.role === "org:member") {
      throw new GatewayError("conflict", "role: the owner of the organization stays an admin.")
    }
    const event = { resourceId: userId, workspaceId: null, changed: changesOf(change, AUDITED_FIELDS) }
    const entry = entryOf(c, { action: "member.update", ...event })
    const row = await updateMember(c.env.DB, { organizationId, userId, change, entry }).catch(rejectDuplicate)
    if (!row) throw noSuchMember()
    return c.json({ data: toOrganizationMember(row) }, 200)
  })
  .openapi(remove, async (c) => {
    const { organizationId } = c.var.principal
    const { userId } = c.req.valid("param")
    const member = await requireChangeable(c.env.DB, organizationId, userId)
    if (member.role === "owner") throw new GatewayError("conflict", "The owner of the organization cannot be removed.")
    const entry = entryOf(c, { action: "member.remove", resourceId: userId, workspaceId: null })
    if (!(await deleteMember(c.env.DB, organizationId, userId, entry))) throw noSuchMember()
    return c.json({ deleted: true as const }, 200)
  })

async function requireChangeable(db: D1Database, organizationId: string, userId: string): Promise<MemberRow> {
  const member = await findMember(db, organizationId, userId)
  if (!member) throw noSuchMember()
  if (member.source === "scim") {
    throw new GatewayError("conflict", "This member is managed by the organization's directory. Change it there.")
  }
  return member
}

function noSuchMember(): GatewayError {
  return new GatewayError("not_found", "The organization has no member with this user id.")
}

function rejectDuplicate(cause: unknown): never {
  if (!isUniqueViolation(cause)) throw cause
  const field = cause.message.includes("members.email") ? "email" : "user_id"
  throw new GatewayError("conflict", `${field}: is taken by another member of the organization.`)
}
