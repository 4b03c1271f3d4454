import * as z from "zod"
import { nameText } from "../http/schema.ts"

export const API_ROLES = ["org:admin", "org:member"] as const
export type ApiRole = (typeof API_ROLES)[number]

const MAX_USERS = 100
const userId = z
  .string({ error: "must be a string" })
  .regex(/^[\w.:@|-]{1,256}$/, "must be 1 to 256 letters, digits and . _ : @ | -")
const person = nameText(128, z.string({ error: "must be a string or null" }))
const role = z.enum(API_ROLES, { error: `accepts ${API_ROLES.join(", ")}` })
const email = z.email("must be an email address").max(254, "must be at most 254 characters")

export const NewMember = z
  .strictObject({
    user_id: userId.optional().meta({ description: "An id that you choose; if omitted, one is generated." }),
    email,
    first_name: person.nullish(),
    last_name: person.nullish(),
    role: role.default("org:member"),
  })
  .meta({ id: "NewOrganizationMember" })
export type NewMember = z.infer<typeof NewMember>

export const MemberChange = z
  .strictObject({
    email: email.optional(),
    first_name: person.nullish(),
    last_name: person.nullish(),
    role: role.optional(),
  })
  .meta({ id: "OrganizationMemberChange" })
export type MemberChange = z.infer<typeof MemberChange>

export const MemberPath = z.object({ userId: z.string().min(1).max(256) })

export const UserIds = z
  .strictObject({
    user_ids: z
      .array(userId, { error: "must be an array of user ids" })
      .min(1, "must have at least 1 id")
      .max(MAX_USERS, `must have at most ${MAX_USERS} ids`)
      .transform((ids) => [...new Set(ids)]),
  })
  .meta({ id: "WorkspaceUserIds" })

export const OrganizationMember = z
  .object({
    id: z.string(),
    email: z.string(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(API_ROLES),
  })
  .meta({ id: "OrganizationMember" })

export const WorkspaceMember = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    user_id: z.string(),
    role: z.enum(["admin", "member"]),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "WorkspaceMember" })

const listOf = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item), total_count: z.int() })
export const OrganizationMembers = listOf(OrganizationMember).meta({ id: "OrganizationMemberList" })
export const WorkspaceMembers = listOf(WorkspaceMember).meta({ id: "WorkspaceMemberList" })
export const MembersAdded = z
  .object({ added_count: z.int(), data: z.array(WorkspaceMember) })
  .meta({ id: "WorkspaceMembersAdded" })
export const MembersRemoved = z.object({ removed_count: z.int() }).meta({ id: "WorkspaceMembersRemoved" })
