import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const unsummedDays = sqliteTable(
  "unsummed_days",
  {
    organizationId: text("organization_id").notNull(),
    day: text("day").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.day] })],
)

export const scopeDays = sqliteTable(
  "scope_days",
  {
    organizationId: text("organization_id").notNull(),
    day: text("day").notNull(),
    scope: text("scope").notNull(),
    costNano: integer("cost_nano").notNull(),
    byokCostNano: integer("byok_cost_nano").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.day, table.scope] })],
)

export const usageDays = sqliteTable(
  "usage_days",
  {
    organizationId: text("organization_id").notNull(),
    day: text("day").notNull(),
    workspaceId: text("workspace_id").notNull(),
    keyHash: text("key_hash").notNull(),
    model: text("model").notNull(),
    provider: text("provider").notNull(),
    app: text("app").notNull(),
    apiType: text("api_type").notNull(),
    requests: integer("requests").notNull(),
    refused: integer("refused").notNull(),
    costNano: integer("cost_nano").notNull(),
    byokCostNano: integer("byok_cost_nano").notNull(),
    promptTokens: integer("prompt_tokens").notNull(),
    completionTokens: integer("completion_tokens").notNull(),
    reasoningTokens: integer("reasoning_tokens").notNull(),
    cachedTokens: integer("cached_tokens").notNull(),
    cacheWriteTokens: integer("cache_write_tokens").notNull(),
    latencyMs: integer("latency_ms").notNull(),
    latencyCount: integer("latency_count").notNull(),
    generationMs: integer("generation_ms").notNull(),
    generationCount: integer("generation_count").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.organizationId,
        table.day,
        table.workspaceId,
        table.keyHash,
        table.model,
        table.provider,
        table.app,
        table.apiType,
      ],
    }),
  ],
)
