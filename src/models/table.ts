import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const models = sqliteTable("models", {
  id: text("id").primaryKey(),
  source: text("source", { enum: ["seed", "operator"] }).notNull(),
  facts: text("facts").notNull(),
  updatedAt: integer("updated_at").notNull(),
})
export type ModelRow = typeof models.$inferSelect

export const endpoints = sqliteTable(
  "endpoints",
  {
    modelId: text("model_id").notNull(),
    provider: text("provider").notNull(),
    source: text("source", { enum: ["seed", "operator"] }).notNull(),
    facts: text("facts").notNull(),
    priceOverride: text("price_override"),
    disabled: integer("disabled", { mode: "boolean" }).notNull().default(false),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.modelId, table.provider] })],
)
export type EndpointRow = typeof endpoints.$inferSelect
