import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { PriceList } from "../money/price-list.ts"
import type { Endpoint, Model } from "./catalogue.ts"

const SOURCES = ["seed", "operator"] as const
export type Source = (typeof SOURCES)[number]
export type ModelFacts = Omit<Model, "id" | "endpoints">
export type EndpointFacts = Omit<Endpoint, "model" | "provider">

export const models = sqliteTable("models", {
  id: text("id").primaryKey(),
  source: text("source", { enum: SOURCES }).notNull(),
  facts: text("facts", { mode: "json" }).$type<ModelFacts>().notNull(),
  updatedAt: integer("updated_at").notNull(),
})
export type ModelRow = typeof models.$inferSelect

export const endpoints = sqliteTable(
  "endpoints",
  {
    modelId: text("model_id").notNull(),
    provider: text("provider").notNull(),
    source: text("source", { enum: SOURCES }).notNull(),
    facts: text("facts", { mode: "json" }).$type<EndpointFacts>().notNull(),
    priceOverride: text("price_override", { mode: "json" }).$type<PriceList>(),
    disabled: integer("disabled", { mode: "boolean" }).notNull().default(false),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.modelId, table.provider] })],
)
/** Stopped by the operator. */
export const disabledProviders = sqliteTable("disabled_providers", {
  provider: text("provider").primaryKey(),
  disabledAt: integer("disabled_at").notNull(),
})

export type EndpointRow = typeof endpoints.$inferSelect
