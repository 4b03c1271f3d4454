import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Generation } from "../ledger/generation.ts"

/** Calls that were rejected before a hold. Their record has the shape of a generation without cost. */
export const rejectedCalls = sqliteTable("rejected_calls", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  keyHash: text("key_hash").notNull(),
  createdAt: integer("created_at").notNull(),
  model: text("model").notNull(),
  record: text("record", { mode: "json" }).$type<Generation>().notNull(),
})
