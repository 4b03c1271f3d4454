import { sqliteTable, text } from "drizzle-orm/sqlite-core"

const NAMES = ["jurisdiction", "seed_date"] as const

/** Properties of the deployment itself, besides its variables. */
export const deployment = sqliteTable("deployment", {
  name: text("name").$type<(typeof NAMES)[number]>().primaryKey(),
  value: text("value").notNull(),
})
