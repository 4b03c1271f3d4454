import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { RESET_INTERVALS } from "../money/windows.ts"

export const guardrails = sqliteTable("guardrails", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  isDefault: integer("is_default", { mode: "boolean" }).notNull().default(false),
  name: text("name").notNull(),
  description: text("description"),
  limitNano: integer("limit_nano"),
  resetInterval: text("reset_interval", { enum: RESET_INTERVALS }),
  includeByokInBudgets: integer("include_byok_in_budgets", { mode: "boolean" }).notNull().default(false),
  rules: text("rules").notNull().default("{}"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at"),
})
/** `rules`: JSON of GuardrailRules. Money is nano-USD, instants are epoch milliseconds. */
export type GuardrailRow = typeof guardrails.$inferSelect
export type NewGuardrailRow = typeof guardrails.$inferInsert

export const guardrailKeys = sqliteTable("guardrail_keys", {
  keyHash: text("key_hash").primaryKey(),
  id: text("id").notNull(),
  guardrailId: text("guardrail_id").notNull(),
  organizationId: text("organization_id").notNull(),
  assignedBy: text("assigned_by"),
  createdAt: integer("created_at").notNull(),
})

export const guardrailMembers = sqliteTable(
  "guardrail_members",
  {
    organizationId: text("organization_id").notNull(),
    userId: text("user_id").notNull(),
    guardrailId: text("guardrail_id").notNull(),
    id: text("id").notNull(),
    assignedBy: text("assigned_by"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.userId, table.guardrailId] })],
)
