import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { AlertSettings } from "../ledger/reporting/alert-settings.ts"

export const organizations = sqliteTable("organizations", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: integer("created_at").notNull(),
  internsProgramme: integer("interns_programme", { mode: "boolean" }).notNull().default(true),
  vaultWrites: integer("vault_writes", { mode: "boolean" }).notNull().default(true),
  alertSettings: text("alert_settings", { mode: "json" }).$type<Partial<AlertSettings>>(),
})
export type OrganizationRow = typeof organizations.$inferSelect
