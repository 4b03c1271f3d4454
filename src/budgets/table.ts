import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** From the longest window to the shortest: their limits strictly decrease in this order. */
export const BUDGET_INTERVALS = ["lifetime", "monthly", "weekly", "daily"] as const
export type BudgetInterval = (typeof BUDGET_INTERVALS)[number]

export const workspaceBudgets = sqliteTable(
  "workspace_budgets",
  {
    workspaceId: text("workspace_id").notNull(),
    interval: text("interval", { enum: BUDGET_INTERVALS }).notNull(),
    id: text("id").notNull(),
    limitNano: integer("limit_nano").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.interval] })],
)
export type BudgetRow = typeof workspaceBudgets.$inferSelect

export const providerBudgets = sqliteTable(
  "provider_budgets",
  {
    organizationId: text("organization_id").notNull(),
    provider: text("provider").notNull(),
    interval: text("interval", { enum: BUDGET_INTERVALS }).notNull(),
    limitNano: integer("limit_nano").notNull(),
    includeByok: integer("include_byok", { mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.provider, table.interval] })],
)
export type ProviderBudgetRow = typeof providerBudgets.$inferSelect
