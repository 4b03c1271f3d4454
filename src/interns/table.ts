import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { INTERN_HOSTS, INTERN_STATUSES } from "./kinds.ts"

export const interns = sqliteTable("interns", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  creatorUserId: text("creator_user_id"),
  name: text("name").notNull(),
  description: text("description"),
  instructions: text("instructions"),
  model: text("model"),
  host: text("host", { enum: INTERN_HOSTS }).notNull(),
  status: text("status", { enum: INTERN_STATUSES }).notNull(),
  hostname: text("hostname"),
  progress: text("progress"),
  lastFailureMessage: text("last_failure_message"),
  vaultId: text("vault_id").notNull(),
  attachedVaultId: text("attached_vault_id"),
  keyHash: text("key_hash").notNull(),
  sealedKey: text("sealed_key").notNull(),
  joinTokenHash: text("join_token_hash"),
  accessNonce: text("access_nonce"),
  idempotencyKey: text("idempotency_key").notNull(),
  bodyHash: text("body_hash").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  createdByKey: text("created_by_key"),
  runningModel: text("running_model"),
})
/** Instants are epoch milliseconds. */
export type InternRow = typeof interns.$inferSelect
export type NewInternRow = typeof interns.$inferInsert

/** `question`: JSON of OpenQuestion in questions-store.ts. */
export const internQuestions = sqliteTable("intern_questions", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  internId: text("intern_id").notNull(),
  session: text("session").notNull(),
  question: text("question").notNull(),
  createdAt: integer("created_at").notNull(),
  deadline: integer("deadline").notNull(),
})
export type QuestionRow = typeof internQuestions.$inferSelect
