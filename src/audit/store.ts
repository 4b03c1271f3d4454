import { DAY_MS } from "../support/time.ts"
import type { AuditEntry } from "./entry.ts"
import type { AuditQuery } from "./schemas.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS =
  "id, organization_id, workspace_id, created_at, action, resource_type, resource_id, key_hash, key_label, " +
  "creator_user_id, ip, user_agent, request_id, changed_fields, changes"
const columns = COLUMNS.split(", ") as (keyof AuditEntry)[]

/** The statement that writes an entry, for the batch of the change that it tells of. */
export function auditStatement(db: D1Database, entry: AuditEntry): D1PreparedStatement {
  return db
    .prepare(`INSERT INTO audit_log (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
    .bind(...columns.map((column) => entry[column]))
}

/**
 * The same where the change settles a race in its own WHERE: the entry is written if the statement just before it in
 * the batch changed a row. A batch is one transaction on one connection, whose `changes()` is that statement's.
 */
export function auditIfChanged(db: D1Database, entry: AuditEntry): D1PreparedStatement {
  return db
    .prepare(`INSERT INTO audit_log (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")} WHERE changes() > 0`)
    .bind(...columns.map((column) => entry[column]))
}

export async function insertAudit(db: D1Database, entry: AuditEntry): Promise<void> {
  await auditStatement(db, entry).run()
}

/** Of one organization, newest first. */
export async function listAudit(
  db: D1Database,
  organizationId: string,
  query: AuditQuery,
): Promise<{ rows: AuditEntry[]; total: number }> {
  const where =
    "organization_id = ?1 AND (?2 IS NULL OR action = ?2) AND (?3 IS NULL OR resource_type = ?3) " +
    "AND (?4 IS NULL OR resource_id = ?4) AND (?5 IS NULL OR key_hash = ?5) AND (?6 IS NULL OR workspace_id = ?6) " +
    "AND created_at >= ?7 AND created_at < ?8"
  const scope = [
    organizationId,
    query.action ?? null,
    query.resource_type ?? null,
    query.resource_id ?? null,
    query.key_hash ?? null,
    query.workspace_id ?? null,
    query.from ?? 0,
    query.to ?? Number.MAX_SAFE_INTEGER,
  ]
  return toPage(
    await db.batch<Counted<AuditEntry>>([
      db
        .prepare(
          `SELECT ${COLUMNS} FROM audit_log WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ?9 OFFSET ?10`,
        )
        .bind(...scope, query.limit, query.offset),
      db.prepare(`SELECT count(*) AS total FROM audit_log WHERE ${where}`).bind(...scope),
    ]),
  )
}

const PRUNE_BATCH = 500
/** What one run removes at most; the rest waits for the next day. */
const PRUNE_BATCHES = 100

/** Removes entries older than so many days, of all organizations. Returns how many. */
export async function pruneAudit(db: D1Database, now: number, retentionDays: number): Promise<number> {
  const before = now - retentionDays * DAY_MS
  let removed = 0
  for (let batch = 0; batch < PRUNE_BATCHES; batch++) {
    const { meta } = await db
      .prepare(
        "DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE created_at < ? ORDER BY created_at LIMIT ?)",
      )
      .bind(before, PRUNE_BATCH)
      .run()
    removed += meta.changes
    if (meta.changes < PRUNE_BATCH) break
  }
  return removed
}
