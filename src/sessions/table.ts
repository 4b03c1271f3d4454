import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** The key of a person's sessions. Its secret is known to no one: only sessions use it. */
export const consolePeople = sqliteTable(
  "console_people",
  {
    organizationId: text("organization_id").notNull(),
    userId: text("user_id").notNull(),
    keyHash: text("key_hash").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.userId] })],
)
