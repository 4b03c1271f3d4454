import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { DATA_REGIONS } from "../support/regions.ts"

export const byokCredentials = sqliteTable("byok_credentials", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  provider: text("provider").notNull(),
  name: text("name"),
  label: text("label").notNull(),
  sealed: text("sealed").notNull(),
  version: text("version").notNull(),
  sortOrder: integer("sort_order").notNull(),
  disabled: integer("disabled", { mode: "boolean" }).notNull(),
  isByokOnly: integer("is_byok_only", { mode: "boolean" }).notNull(),
  isFallback: integer("is_fallback", { mode: "boolean" }).notNull(),
  isRequired: integer("is_required", { mode: "boolean" }).notNull(),
  declaredZdr: integer("declared_zdr", { mode: "boolean" }),
  allowedApiKeyHashes: text("allowed_api_key_hashes", { mode: "json" }).$type<string[]>(),
  allowedModels: text("allowed_models", { mode: "json" }).$type<string[]>(),
  allowedUserIds: text("allowed_user_ids", { mode: "json" }).$type<string[]>(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at"),
  deletedAt: integer("deleted_at"),
  declaredRegion: text("declared_region", { enum: DATA_REGIONS }),
})
/** A null list restricts nothing. */
export type ByokRow = typeof byokCredentials.$inferSelect
export type NewByokRow = typeof byokCredentials.$inferInsert
