import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { TURN_RANGES } from "./session-cost.ts"

export const sessionCostCells = sqliteTable(
  "session_cost_cells",
  {
    appSlug: text("app_slug").notNull(),
    model: text("model").notNull(),
    turnRange: text("turn_range", { enum: TURN_RANGES }).notNull(),
    appName: text("app_name").notNull(),
    medianNano: real("median_nano").notNull(),
  },
  (table) => [primaryKey({ columns: [table.appSlug, table.model, table.turnRange] })],
)

export const datasetSnapshots = sqliteTable("dataset_snapshots", {
  name: text("name").primaryKey(),
  asOf: integer("as_of").notNull(),
  windowDays: integer("window_days").notNull(),
  windowEndDate: text("window_end_date").notNull(),
})
