import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const reconciliations = sqliteTable("reconciliations", {
  organizationId: text("organization_id").primaryKey(),
  at: integer("at").notNull(),
  report: text("report").notNull(),
})
export type ReconciliationRow = typeof reconciliations.$inferSelect
