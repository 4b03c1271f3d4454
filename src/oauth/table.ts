import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { RESET_INTERVALS } from "../money/windows.ts"

export const oauthCodes = sqliteTable("oauth_codes", {
  hash: text("hash").primaryKey(),
  organizationId: text("organization_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  approvedBy: text("approved_by").notNull(),
  userId: text("user_id"),
  callbackUrl: text("callback_url").notNull(),
  codeChallenge: text("code_challenge"),
  codeChallengeMethod: text("code_challenge_method", { enum: ["S256", "plain"] }),
  keyName: text("key_name").notNull(),
  limitNano: integer("limit_nano"),
  limitReset: text("limit_reset", { enum: RESET_INTERVALS }),
  keyExpiresAt: integer("key_expires_at"),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  keyHash: text("key_hash"),
  attempts: integer("attempts").notNull().default(0),
})
export type CodeRow = typeof oauthCodes.$inferSelect
export type NewCodeRow = typeof oauthCodes.$inferInsert

export const oauthTokens = sqliteTable("oauth_tokens", {
  keyHash: text("key_hash").primaryKey(),
  policyId: text("policy_id").notNull(),
  subject: text("subject").notNull(),
  expiresAt: integer("expires_at").notNull(),
})
