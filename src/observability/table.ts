import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { StoredOf } from "../support/db.ts"
import type { KindName } from "./kinds.ts"
import type { StoredTurn } from "./turn.ts"

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
  isSorted: integer("is_sorted", { mode: "boolean" }).notNull().default(true),
})

export const metricSeries = sqliteTable(
  "metric_series",
  {
    organizationId: text("organization_id").notNull(),
    model: text("model").notNull(),
    provider: text("provider").notNull(),
    status: integer("status").notNull(),
    calls: integer("calls").notNull(),
    errors: integer("errors").notNull(),
    promptTokens: integer("prompt_tokens").notNull(),
    completionTokens: integer("completion_tokens").notNull(),
    cachedTokens: integer("cached_tokens").notNull(),
    costNano: integer("cost_nano").notNull(),
    byokCostNano: integer("byok_cost_nano").notNull(),
    durationMs: integer("duration_ms").notNull(),
    firstTokenMs: integer("first_token_ms").notNull(),
    firstTokenCount: integer("first_token_count").notNull(),
    durationBuckets: text("duration_buckets").notNull(),
    firstTokenBuckets: text("first_token_buckets").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.model, table.provider, table.status] })],
)

export const metricWatermarks = sqliteTable("metric_watermarks", {
  organizationId: text("organization_id").primaryKey(),
  at: integer("at").notNull(),
})

/** Turns of interns that wait for export. `id` sorts by the end of the turn. */
export const internTurns = sqliteTable("intern_turns", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  record: text("record", { mode: "json" }).$type<StoredTurn>().notNull(),
  sortedAt: integer("sorted_at"),
})

export type BatchRow = StoredOf<typeof broadcastBatches>
