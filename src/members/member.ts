import type * as z from "zod"
import { derivedId } from "../support/ids.ts"
import { toTimestamp } from "../support/time.ts"
import type { OrganizationMember, WorkspaceMember } from "./schemas.ts"

/** A row of members. `source`: a person of the directory is the directory's to change and remove. */
export type MemberRow = {
  organization_id: string
  user_id: string
  role: "owner" | "admin" | "member"
  email: string | null
  first_name: string | null
  last_name: string | null
  source: "manual" | "scim"
  created_at: number
}

/** A person in a workspace: a row of workspace_members, or a member of the organization in its default workspace. */
export type WorkspaceMemberRow = { user_id: string; role: "admin" | "member"; created_at: number }

export const WIRE_ROLES = ["org:admin", "org:member"] as const
export type WireRole = (typeof WIRE_ROLES)[number]

export function toStoredRole(role: WireRole): "admin" | "member" {
  return role === "org:admin" ? "admin" : "member"
}

/** An owner is an admin whom nobody removes. Who never gave an email has an empty one. */
export function toOrganizationMember(row: MemberRow): z.infer<typeof OrganizationMember> {
  return {
    id: row.user_id,
    email: row.email ?? "",
    first_name: row.first_name,
    last_name: row.last_name,
    role: row.role === "member" ? "org:member" : "org:admin",
  }
}

export function toWorkspaceMember(workspaceId: string, row: WorkspaceMemberRow): z.infer<typeof WorkspaceMember> {
  return {
    id: derivedId("workspace-member", workspaceId, row.user_id),
    workspace_id: workspaceId,
    user_id: row.user_id,
    role: row.role,
    created_at: toTimestamp(row.created_at),
  }
}
