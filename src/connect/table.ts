import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { ClientName } from "./clients.ts"

export const connectLinks = sqliteTable("connect_links", {
  hash: text("hash").primaryKey(),
  id: text("id").notNull(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  keyHash: text("key_hash").notNull(),
  client: text("client").$type<ClientName>().notNull(),
  model: text("model"),
  sealed: text("sealed").notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
})
export type ConnectLinkRow = typeof connectLinks.$inferSelect
