import type * as z from "zod"
import { derivedId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { ApiRole, OrganizationMember, WorkspaceMember } from "./schemas.ts"
import type { MemberRow, WorkspaceRole, workspaceMembers } from "./table.ts"

/** A person in a workspace: a row of workspace_members, or a member of the organization in its default workspace. */
export type WorkspaceMemberRow = Pick<typeof workspaceMembers.$inferSelect, "userId" | "role" | "createdAt">

export function toStoredRole(role: ApiRole): WorkspaceRole {
  return role === "org:admin" ? "admin" : "member"
}

/** Owners are returned as admins; they cannot be removed. The email is empty if none was set. */
export function toOrganizationMember(row: MemberRow): z.infer<typeof OrganizationMember> {
  return {
    id: row.userId,
    email: row.email ?? "",
    first_name: row.firstName,
    last_name: row.lastName,
    role: row.role === "member" ? "org:member" : "org:admin",
  }
}

export function toWorkspaceMember(workspaceId: string, row: WorkspaceMemberRow): z.infer<typeof WorkspaceMember> {
  return {
    id: derivedId("workspace-member", workspaceId, row.userId),
    workspace_id: workspaceId,
    user_id: row.userId,
    role: row.role,
    created_at: toTimestamp(row.createdAt),
  }
}
