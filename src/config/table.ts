import { sqliteTable, text } from "drizzle-orm/sqlite-core"

const NAMES = ["jurisdiction", "seed_date"] as const

/** What is recorded of the deployment itself, beside its variables. */
export const deployment = sqliteTable("deployment", {
  name: text("name").$type<(typeof NAMES)[number]>().primaryKey(),
  value: text("value").notNull(),
})
