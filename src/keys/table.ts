import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { KEY_KINDS, KEY_SOURCES, type LimitIncrease } from "../access/principal.ts"
import { RESET_INTERVALS } from "../money/windows.ts"

export const apiKeys = sqliteTable("api_keys", {
  hash: text("hash").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  kind: text("kind", { enum: KEY_KINDS }).notNull(),
  name: text("name").notNull(),
  label: text("label").notNull(),
  creatorUserId: text("creator_user_id"),
  externalUser: text("external_user"),
  limitNano: integer("limit_nano"),
  limitReset: text("limit_reset", { enum: RESET_INTERVALS }),
  includeByokInLimit: integer("include_byok_in_limit", { mode: "boolean" }).notNull().default(false),
  disabled: integer("disabled", { mode: "boolean" }).notNull().default(false),
  expiresAt: integer("expires_at"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at"),
  deletedAt: integer("deleted_at"),
  internId: text("intern_id"),
  parentHash: text("parent_hash"),
  source: text("source", { enum: KEY_SOURCES }).notNull().default("created"),
  disabledBy: text("disabled_by", { enum: ["management", "provisioning"] }),
  requestsPerMinute: integer("requests_per_minute"),
  tokensPerMinute: integer("tokens_per_minute"),
  concurrentRequests: integer("concurrent_requests"),
  overBudgetModels: text("over_budget_models", { mode: "json" }).$type<string[]>(),
  mcpTools: text("mcp_tools", { mode: "json" }).$type<string[]>(),
  dailyLimitNano: integer("daily_limit_nano"),
  spentBeforeNano: integer("spent_before_nano").notNull().default(0),
  counterHash: text("counter_hash"),
  limitIncrease: text("limit_increase", { mode: "json" }).$type<LimitIncrease>(),
})
/** A key. Money is nano-USD, instants are epoch milliseconds. */
export type KeyRow = typeof apiKeys.$inferSelect
/** A new key: columns with a default and nullable columns are optional. */
export type NewKeyRow = typeof apiKeys.$inferInsert
