import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const files = sqliteTable("files", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  filename: text("filename").notNull(),
  mimeType: text("mime_type").notNull(),
  sizeBytes: integer("size_bytes").notNull(),
  source: text("source", { enum: ["upload", "export", "intern"] }).notNull(),
  isReady: integer("is_ready", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  deletedAt: integer("deleted_at"),
  internId: text("intern_id"),
  batchId: text("batch_id"),
  purpose: text("purpose"),
  expiresAt: integer("expires_at"),
  keyHash: text("key_hash"),
})
/**
 * `internId`: the intern that made it, or whose key uploaded it. `batchId`: the batch that wrote it. `purpose`: of
 * OpenAI's API, if the upload has one. `expiresAt`: when it is deleted by itself, in milliseconds.
 * `keyHash`: the key that made it; null for some files from before it was recorded.
 */
export type FileRow = typeof files.$inferSelect
export type NewFileRow = typeof files.$inferInsert
