import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const workspaces = sqliteTable("workspaces", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  slug: text("slug").notNull(),
  name: text("name").notNull(),
  isDefault: integer("is_default", { mode: "boolean" }).notNull().default(false),
  createdAt: integer("created_at").notNull(),
  includeByokInBudgets: integer("include_byok_in_budgets", { mode: "boolean" }).notNull().default(false),
  description: text("description"),
  createdBy: text("created_by"),
  settings: text("settings").notNull().default("{}"),
  updatedAt: integer("updated_at"),
  deletedAt: integer("deleted_at"),
})
/** `settings`: JSON of WorkspaceSettings. Instants are epoch milliseconds. */
export type WorkspaceRow = typeof workspaces.$inferSelect
