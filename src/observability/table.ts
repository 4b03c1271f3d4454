import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { KindName } from "./kinds.ts"

export const destinations = sqliteTable("destinations", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  type: text("type").$type<KindName>().notNull(),
  name: text("name").notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  config: text("config").notNull(),
  sealed: text("sealed").notNull(),
  version: text("version").notNull(),
  apiKeyHashes: text("api_key_hashes"),
  filterRules: text("filter_rules"),
  regions: text("regions").notNull(),
  samplingRate: real("sampling_rate").notNull(),
  privacyMode: integer("privacy_mode", { mode: "boolean" }).notNull(),
  broadcastGenerationCost: integer("broadcast_generation_cost", { mode: "boolean" }).notNull(),
  broadcastGenerationIdentity: integer("broadcast_generation_identity", { mode: "boolean" }).notNull(),
  broadcastGenerationRequestContext: integer("broadcast_generation_request_context", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  lastSuccessAt: integer("last_success_at"),
  lastErrorAt: integer("last_error_at"),
  lastError: text("last_error"),
  failures: integer("failures").notNull().default(0),
  pausedUntil: integer("paused_until").notNull().default(0),
})

export const broadcastBatches = sqliteTable("broadcast_batches", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  destinationId: text("destination_id").notNull(),
  generationIds: text("generation_ids").notNull(),
  calls: integer("calls").notNull(),
  state: text("state", { enum: ["pending", "dead"] }).notNull(),
  attempts: integer("attempts").notNull(),
  rejections: integer("rejections").notNull(),
  since: integer("since").notNull(),
  dueAt: integer("due_at").notNull(),
})
