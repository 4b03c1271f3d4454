import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const PRESET_STATUSES = ["active", "disabled", "archived"] as const
export type PresetStatus = (typeof PRESET_STATUSES)[number]

export const presets = sqliteTable("presets", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  slug: text("slug").notNull(),
  name: text("name").notNull(),
  description: text("description"),
  status: text("status", { enum: PRESET_STATUSES }).notNull().default("active"),
  statusUpdatedAt: integer("status_updated_at"),
  designatedVersionId: text("designated_version_id"),
  creatorUserId: text("creator_user_id"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
})
export type PresetRow = typeof presets.$inferSelect
export type NewPresetRow = typeof presets.$inferInsert

export const presetVersions = sqliteTable("preset_versions", {
  id: text("id").primaryKey(),
  presetId: text("preset_id").notNull(),
  version: integer("version").notNull(),
  config: text("config").notNull(),
  systemPrompt: text("system_prompt"),
  creatorId: text("creator_id").notNull(),
  createdAt: integer("created_at").notNull(),
})
/** `config`: JSON of PresetConfig. */
export type VersionRow = typeof presetVersions.$inferSelect
