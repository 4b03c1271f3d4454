import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Generation } from "../ledger/generation.ts"
import type { FileRow } from "./file.ts"

const COLUMNS = "id, organization_id, workspace_id, filename, mime_type, size_bytes, source, intern_id, created_at"

/** `internId`: of a key that sees only what its intern made; null for every other. */
type Place = { organizationId: string; workspaceId: string; mayExport: boolean; internId: string | null }
const IN_PLACE =
  "organization_id = ?1 AND workspace_id = ?2 AND (?3 OR source <> 'export') AND (?4 IS NULL OR intern_id = ?4) " +
  "AND deleted_at IS NULL AND is_ready = 1"
const scopeOf = ({ organizationId, workspaceId, mayExport, internId }: Place) => [
  organizationId,
  workspaceId,
  mayExport ? 1 : 0,
  internId,
]

/** A file whose bytes are still to come. False where the workspace is gone. */
export async function insertFile(db: D1Database, row: FileRow): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO files (${COLUMNS}, is_ready) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 0
       WHERE EXISTS (SELECT 1 FROM workspaces WHERE organization_id = ? AND id = ? AND deleted_at IS NULL)`,
    )
    .bind(
      row.id,
      row.organization_id,
      row.workspace_id,
      row.filename,
      row.mime_type,
      row.size_bytes,
      row.source,
      row.intern_id,
      row.created_at,
      row.organization_id,
      row.workspace_id,
    )
    .run()
  return meta.changes > 0
}

/** The file with its bytes there. Undefined where they are more than the organization may have. */
export async function completeFile(
  db: D1Database,
  row: FileRow,
  quotaBytes: number,
  entry: AuditEntry,
): Promise<FileRow | undefined> {
  const [completed] = await db.batch<FileRow>([
    db
      .prepare(
        `UPDATE files SET is_ready = 1, size_bytes = ?3, mime_type = ?4
         WHERE organization_id = ?1 AND id = ?2 AND is_ready = 0 AND deleted_at IS NULL
           AND (SELECT coalesce(sum(size_bytes), 0) FROM files WHERE organization_id = ?1 AND deleted_at IS NULL) + ?3 <= ?5
         RETURNING ${COLUMNS}`,
      )
      .bind(row.organization_id, row.id, row.size_bytes, row.mime_type, quotaBytes),
    auditIfChanged(db, entry),
  ])
  return completed?.results[0]
}

/** A file that came to nothing. */
export async function abandonFile(db: D1Database, { organization_id: organizationId, id }: FileRow, now: number) {
  await db
    .prepare("UPDATE files SET deleted_at = ? WHERE organization_id = ? AND id = ? AND is_ready = 0")
    .bind(now, organizationId, id)
    .run()
}

export async function usedBytes(db: D1Database, organizationId: string): Promise<number> {
  const used = await db
    .prepare("SELECT coalesce(sum(size_bytes), 0) AS used FROM files WHERE organization_id = ? AND deleted_at IS NULL")
    .bind(organizationId)
    .first<number>("used")
  return used ?? 0
}

/** Oldest first, one more than `limit` where there is more. */
export async function listFiles(db: D1Database, place: Place, after: string, limit: number): Promise<FileRow[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM files WHERE ${IN_PLACE} AND id > ?5 ORDER BY id LIMIT ?6`)
    .bind(...scopeOf(place), after, limit + 1)
    .all<FileRow>()
  return results
}

export async function findFile(db: D1Database, place: Place, id: string): Promise<FileRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM files WHERE ${IN_PLACE} AND id = ?5`)
    .bind(...scopeOf(place), id)
    .first<FileRow>()
  return row ?? undefined
}

export async function deleteFile(
  db: D1Database,
  place: Place,
  id: string,
  now: number,
  entry: AuditEntry,
): Promise<FileRow | undefined> {
  const [deleted] = await db.batch<FileRow>([
    db
      .prepare(`UPDATE files SET deleted_at = ?6 WHERE ${IN_PLACE} AND id = ?5 RETURNING ${COLUMNS}`)
      .bind(...scopeOf(place), id, now),
    auditIfChanged(db, entry),
  ])
  return deleted?.results[0]
}

/** Of all organizations: what was deleted, what came to nothing before `before`, and what is of a deleted workspace. */
export async function listStaleFiles(db: D1Database, before: number, limit: number): Promise<FileRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM files
       WHERE deleted_at IS NOT NULL OR (is_ready = 0 AND created_at < ?)
         OR workspace_id IN (SELECT id FROM workspaces WHERE deleted_at IS NOT NULL) LIMIT ?`,
    )
    .bind(before, limit)
    .all<FileRow>()
  return results
}

/** Once their bytes are gone. */
export async function forgetFiles(db: D1Database, ids: readonly string[]): Promise<void> {
  await db.prepare("DELETE FROM files WHERE id IN (SELECT value FROM json_each(?))").bind(JSON.stringify(ids)).run()
}

/** `to`: the first instant that does not count. */
export type Range = { organizationId: string; workspaceId: string | null; from: number; to: number }
const IN_RANGE = "organization_id = ?1 AND settled_at >= ?2 AND settled_at < ?3 AND (?4 IS NULL OR workspace_id = ?4)"
const rangeOf = ({ organizationId, from, to, workspaceId }: Range) => [organizationId, from, to, workspaceId]

export async function countGenerations(db: D1Database, range: Range): Promise<number> {
  const n = await db
    .prepare(`SELECT count(*) AS n FROM generations WHERE ${IN_RANGE}`)
    .bind(...rangeOf(range))
    .first<number>("n")
  return n ?? 0
}

export type Told = Generation & { settledAt: number }

/** In the order in which they were charged, those after this one. */
export async function listGenerations(
  db: D1Database,
  range: Range,
  after: { settledAt: number; id: string },
  limit: number,
): Promise<Told[]> {
  const { results } = await db
    .prepare(
      `SELECT record, settled_at AS settledAt FROM generations
       WHERE ${IN_RANGE} AND (settled_at, id) > (?5, ?6) ORDER BY settled_at, id LIMIT ?7`,
    )
    .bind(...rangeOf(range), after.settledAt, after.id, limit)
    .all<{ record: string; settledAt: number }>()
  return results.map(({ record, settledAt }) => ({ ...(JSON.parse(record) as Generation), settledAt }))
}
