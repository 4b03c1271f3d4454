import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** The last change to the policy of each organization. Triggers write it (0054_policy_changes.sql). */
export const policyChanges = sqliteTable(
  "policy_changes",
  {
    revision: integer("revision").notNull(),
    organizationId: text("organization_id").notNull().unique(),
  },
  (table) => [primaryKey({ columns: [table.revision] })],
)
