import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Reconciliation } from "../ledger/reporting/reconciliation.ts"

export const reconciliations = sqliteTable("reconciliations", {
  organizationId: text("organization_id").primaryKey(),
  at: integer("at").notNull(),
  report: text("report", { mode: "json" }).$type<Reconciliation>().notNull(),
})
