import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const vaultSecrets = sqliteTable(
  "vault_secrets",
  {
    vaultId: text("vault_id").notNull(),
    name: text("name").notNull(),
    organizationId: text("organization_id").notNull(),
    workspaceId: text("workspace_id").notNull(),
    hosts: text("hosts"),
    fingerprint: text("fingerprint"),
    sealed: text("sealed").notNull(),
    version: text("version").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    createdByKey: text("created_by_key"),
    creatorUserId: text("creator_user_id"),
  },
  (table) => [primaryKey({ columns: [table.vaultId, table.name] })],
)
/** `createdByKey`, `creatorUserId`: key and user that stored the value; null in older rows. */
export type SecretRow = typeof vaultSecrets.$inferSelect
