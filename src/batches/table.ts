import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { BatchError, BatchOrigin, BatchProgress, BatchStatus } from "./batch.ts"
import { BATCH_STATUSES } from "./batch.ts"

export const batches = sqliteTable("batches", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  keyHash: text("key_hash").notNull(),
  internId: text("intern_id"),
  status: text("status", { enum: BATCH_STATUSES }).notNull(),
  endpoint: text("endpoint").notNull(),
  inputFileId: text("input_file_id").notNull(),
  outputFileId: text("output_file_id"),
  errorFileId: text("error_file_id"),
  metadata: text("metadata", { mode: "json" }).$type<Readonly<Record<string, string>>>(),
  origin: text("origin", { mode: "json" }).$type<BatchOrigin>().notNull(),
  errors: text("errors", { mode: "json" }).$type<readonly BatchError[]>().notNull().default([]),
  progress: text("progress", { mode: "json" }).$type<Partial<BatchProgress>>().notNull().default({}),
  reached: text("reached", { mode: "json" }).$type<Partial<Record<BatchStatus, number>>>().notNull().default({}),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
})
export type BatchRow = typeof batches.$inferSelect
export type NewBatchRow = typeof batches.$inferInsert
