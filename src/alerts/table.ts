import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { ALERT_KINDS, CHANNEL_TYPES } from "./alert.ts"

export const alerts = sqliteTable("alerts", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id"),
  kind: text("kind").$type<(typeof ALERT_KINDS)[number]>().notNull(),
  message: text("message").notNull(),
  data: text("data", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  createdAt: integer("created_at").notNull(),
})
export type AlertRow = typeof alerts.$inferSelect

export const alertChannels = sqliteTable("alert_channels", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  allWorkspaces: integer("all_workspaces", { mode: "boolean" }).notNull(),
  name: text("name").notNull(),
  type: text("type").$type<(typeof CHANNEL_TYPES)[number]>().notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  kinds: text("kinds", { mode: "json" }).$type<readonly string[]>(),
  config: text("config", { mode: "json" }).$type<Readonly<Record<string, unknown>>>().notNull(),
  sealed: text("sealed").notNull(),
  version: text("version").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  lastSuccessAt: integer("last_success_at"),
  lastErrorAt: integer("last_error_at"),
  lastError: text("last_error"),
})
export type ChannelRow = typeof alertChannels.$inferSelect

export const alertDeliveries = sqliteTable(
  "alert_deliveries",
  {
    alertId: text("alert_id").notNull(),
    channelId: text("channel_id").notNull(),
    organizationId: text("organization_id").notNull(),
    state: text("state", { enum: ["pending", "delivered", "failed"] }).notNull(),
    attempts: integer("attempts").notNull(),
    dueAt: integer("due_at").notNull(),
    lastError: text("last_error"),
  },
  (table) => [primaryKey({ columns: [table.alertId, table.channelId] })],
)
