import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const WORKSPACE_ROLES = ["admin", "member"] as const
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number]

export const members = sqliteTable(
  "members",
  {
    organizationId: text("organization_id").notNull(),
    userId: text("user_id").notNull(),
    role: text("role", { enum: ["owner", "admin", "member"] }).notNull(),
    createdAt: integer("created_at").notNull(),
    email: text("email"),
    firstName: text("first_name"),
    lastName: text("last_name"),
    source: text("source", { enum: ["manual", "scim"] })
      .notNull()
      .default("manual"),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.userId] })],
)
/** `source`: a member from a directory is changed and removed only by the directory. */
export type MemberRow = typeof members.$inferSelect
export type NewMemberRow = typeof members.$inferInsert

export const workspaceMembers = sqliteTable(
  "workspace_members",
  {
    workspaceId: text("workspace_id").notNull(),
    organizationId: text("organization_id").notNull(),
    userId: text("user_id").notNull(),
    role: text("role", { enum: WORKSPACE_ROLES }).notNull(),
    source: text("source", { enum: ["manual", "scim"] })
      .notNull()
      .default("manual"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.userId, table.source] })],
)

/** Users that a directory deactivated or deleted: they get no new keys. */
export const scimLeavers = sqliteTable(
  "scim_leavers",
  {
    organizationId: text("organization_id").notNull(),
    userId: text("user_id").notNull(),
    leftAt: integer("left_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.userId] })],
)
