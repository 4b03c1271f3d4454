import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Generation } from "../ledger/generation.ts"

export const generations = sqliteTable("generations", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  keyHash: text("key_hash").notNull(),
  createdAt: integer("created_at").notNull(),
  model: text("model").notNull(),
  upstreamId: text("upstream_id"),
  costNano: integer("cost_nano").notNull(),
  byokCostNano: integer("byok_cost_nano").notNull(),
  record: text("record", { mode: "json" }).$type<Generation>().notNull(),
  settledAt: integer("settled_at").notNull().default(0),
})

export const generationFeedback = sqliteTable("generation_feedback", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  generationId: text("generation_id").notNull(),
  category: text("category").notNull(),
  comment: text("comment"),
  keyHash: text("key_hash").notNull(),
  createdAt: integer("created_at").notNull(),
})
export type FeedbackRow = typeof generationFeedback.$inferSelect
