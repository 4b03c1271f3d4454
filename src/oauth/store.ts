import { DAY_MS } from "../support/time.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import { insertKeyStatement, type KeyRow } from "../keys/store.ts"
import type { CodeRow } from "./code.ts"

const COLUMNS =
  "hash, organization_id, workspace_id, approved_by, user_id, callback_url, code_challenge, code_challenge_method, " +
  "key_name, limit_nano, limit_reset, key_expires_at, created_at, expires_at"
const columns = COLUMNS.split(", ") as (keyof CodeRow)[]

export async function insertCode(db: D1Database, row: CodeRow, entry: AuditEntry): Promise<void> {
  await db.batch([
    db
      .prepare(`INSERT INTO oauth_codes (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
      .bind(...columns.map((column) => row[column])),
    auditStatement(db, entry),
  ])
}

/** A code that can be exchanged. The one lookup without an organization: the code is what tells it. */
export async function findOpenCode(db: D1Database, hash: string, now: number): Promise<CodeRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM oauth_codes WHERE hash = ? AND key_hash IS NULL AND expires_at > ?`)
    .bind(hash, now)
    .first<CodeRow>()
  return row ?? undefined
}

/** The code for the key, both or neither. Whoever comes second gets false, as where the workspace is gone. */
export async function exchangeCode(
  db: D1Database,
  hash: string,
  key: KeyRow,
  now: number,
  entry: AuditEntry,
): Promise<boolean> {
  const taken = await db.batch([
    db
      .prepare(
        `UPDATE oauth_codes SET key_hash = ? WHERE hash = ? AND key_hash IS NULL AND expires_at > ?
           AND EXISTS (SELECT 1 FROM workspaces w WHERE w.id = workspace_id AND w.deleted_at IS NULL)`,
      )
      .bind(key.hash, hash, now),
    insertKeyStatement(db, key, hash),
    auditIfChanged(db, entry),
  ])
  return (taken[1]?.meta.changes ?? 0) > 0
}

/** The key of a workload. False where the workspace is gone. */
export async function insertToken(
  db: D1Database,
  key: KeyRow,
  { policyId, subject }: { policyId: string; subject: string },
  entry: AuditEntry,
): Promise<boolean> {
  const [inserted] = await db.batch([
    insertKeyStatement(db, key),
    auditIfChanged(db, entry),
    db
      .prepare(
        `INSERT INTO oauth_tokens (key_hash, policy_id, subject, expires_at)
         SELECT hash, ?, ?, expires_at FROM api_keys WHERE hash = ?`,
      )
      .bind(policyId, subject, key.hash),
  ])
  return (inserted?.meta.changes ?? 0) > 0
}

/** Takes away, a day later, what has ended by itself: codes, and keys of workloads, which keep their rows. */
export async function pruneOauth(db: D1Database, now: number): Promise<void> {
  const before = now - DAY_MS
  await db.batch([
    db
      .prepare(
        "UPDATE api_keys SET deleted_at = ?1 WHERE deleted_at IS NULL AND hash IN (SELECT key_hash FROM oauth_tokens WHERE expires_at < ?2)",
      )
      .bind(now, before),
    db.prepare("DELETE FROM oauth_tokens WHERE expires_at < ?").bind(before),
    db.prepare("DELETE FROM oauth_codes WHERE expires_at < ?").bind(before),
  ])
}
