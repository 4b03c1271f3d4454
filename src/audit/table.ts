import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const auditLog = sqliteTable("audit_log", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id"),
  createdAt: integer("created_at").notNull(),
  action: text("action").notNull(),
  resourceType: text("resource_type").notNull(),
  resourceId: text("resource_id").notNull(),
  keyHash: text("key_hash").notNull(),
  keyLabel: text("key_label").notNull(),
  creatorUserId: text("creator_user_id"),
  ip: text("ip"),
  userAgent: text("user_agent"),
  requestId: text("request_id").notNull(),
  changedFields: text("changed_fields", { mode: "json" }).$type<readonly string[]>().notNull(),
  changes: text("changes", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  /** Order of policy changes; null for other entries. */
  revision: integer("revision"),
})

/** The store adds the revision. */
export type AuditEntry = Omit<typeof auditLog.$inferSelect, "revision">
