import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const mcpServers = sqliteTable("mcp_servers", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  slug: text("slug").notNull(),
  name: text("name").notNull(),
  url: text("url").notNull(),
  sealed: text("sealed").notNull(),
  version: text("version").notNull(),
  allowedTools: text("allowed_tools", { mode: "json" }).$type<string[]>(),
  priceNano: integer("price_nano").notNull().default(0),
  toolPrices: text("tool_prices", { mode: "json" }).$type<Record<string, number>>().notNull().default({}),
  timeoutMs: integer("timeout_ms").notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull().default(true),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at"),
})
/** Prices are nano-USD; `toolPrices` overrides the price per tool. `allowedTools`: null for all. */
export type McpServerRow = typeof mcpServers.$inferSelect
