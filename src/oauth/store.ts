import { and, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import { insertKeyQuery } from "../keys/store.ts"
import { apiKeys, type NewKeyRow } from "../keys/table.ts"
import { openDb } from "../support/db.ts"
import { DAY_MS } from "../support/time/time.ts"
import { type CodeRow, type NewCodeRow, oauthCodes, oauthTokens } from "./table.ts"

export async function insertCode(binding: D1Database, row: NewCodeRow, entry: AuditEntry): Promise<void> {
  const db = openDb(binding)
  await db.batch([db.insert(oauthCodes).values(row), auditStatement(db, entry)])
}

const isOpen = (hash: string, now: number) =>
  and(eq(oauthCodes.hash, hash), isNull(oauthCodes.keyHash), gt(oauthCodes.expiresAt, now))

/** Limits how many verifiers can be tried for a code. */
export const MAX_ATTEMPTS = 10

/**
 * Counts an attempt to exchange a code and returns it; undefined if it cannot be exchanged. The only lookup without an
 * organization, because the code identifies it.
 */
export async function attemptCode(db: D1Database, hash: string, now: number): Promise<CodeRow | undefined> {
  const [row] = await openDb(db)
    .update(oauthCodes)
    .set({ attempts: sql`${oauthCodes.attempts} + 1` })
    .where(and(isOpen(hash, now), lt(oauthCodes.attempts, MAX_ATTEMPTS)))
    .returning()
  return row
}

const workspaceExists = sql`EXISTS (SELECT 1 FROM workspaces w
  WHERE w.id = ${oauthCodes.workspaceId} AND w.deleted_at IS NULL)`

/** Marks the code as used and inserts the key, atomically. False if the code is used or the workspace is deleted. */
export async function exchangeCode(
  binding: D1Database,
  { hash, key, now, entry }: { hash: string; key: NewKeyRow; now: number; entry: AuditEntry },
): Promise<boolean> {
  const db = openDb(binding)
  const [, inserted] = await db.batch([
    db
      .update(oauthCodes)
      .set({ keyHash: key.hash })
      .where(and(isOpen(hash, now), workspaceExists)),
    insertKeyQuery(db, key, sql`EXISTS (SELECT 1 FROM oauth_codes WHERE hash = ${hash} AND key_hash = ${key.hash})`),
    auditIfChanged(db, entry),
  ])
  return inserted.meta.changes > 0
}

/** Inserts the key of a workload. False if the workspace is deleted. */
export async function insertToken(
  binding: D1Database,
  key: NewKeyRow,
  { policyId, subject }: { policyId: string; subject: string },
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [inserted] = await db.batch([
    insertKeyQuery(db, key),
    auditIfChanged(db, entry),
    db.insert(oauthTokens).select(
      sql`SELECT ${apiKeys.hash}, ${policyId}, ${subject}, ${apiKeys.expiresAt} FROM ${apiKeys}
        WHERE ${apiKeys.hash} = ${key.hash}`,
    ),
  ])
  return inserted.meta.changes > 0
}

/** Deletes codes, and marks keys of workloads as deleted, one day after their expiry. */
export async function pruneOauth(binding: D1Database, now: number): Promise<void> {
  const db = openDb(binding)
  const before = now - DAY_MS
  const ended = db.select({ keyHash: oauthTokens.keyHash }).from(oauthTokens).where(lt(oauthTokens.expiresAt, before))
  await db.batch([
    db
      .update(apiKeys)
      .set({ deletedAt: now })
      .where(and(isNull(apiKeys.deletedAt), inArray(apiKeys.hash, ended))),
    db.delete(oauthTokens).where(lt(oauthTokens.expiresAt, before)),
    db.delete(oauthCodes).where(lt(oauthCodes.expiresAt, before)),
  ])
}
