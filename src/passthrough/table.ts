import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Requests that are forwarded. `methods`: null for all. `path`: below the base URL, `*` for anything. */
export type ServiceRule = { methods: string[] | null; path: string; priceNano: number }

export const passthroughServices = sqliteTable("passthrough_services", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  slug: text("slug").notNull(),
  name: text("name").notNull(),
  baseUrl: text("base_url").notNull(),
  sealed: text("sealed").notNull(),
  version: text("version").notNull(),
  rules: text("rules", { mode: "json" }).$type<ServiceRule[]>().notNull(),
  allowedKeyHashes: text("allowed_key_hashes", { mode: "json" }).$type<string[]>(),
  timeoutMs: integer("timeout_ms").notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull().default(true),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at"),
})
export type ServiceRow = typeof passthroughServices.$inferSelect
