import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const dataKeys = sqliteTable("data_keys", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  masterId: text("master_id").notNull(),
  wrapped: text("wrapped").notNull(),
  createdAt: integer("created_at").notNull(),
  rewrappedAt: integer("rewrapped_at"),
})
export type DataKeyRow = typeof dataKeys.$inferSelect
