import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { WrappedKey } from "./data-key.ts"

const COLUMNS = "id, workspace_id AS workspaceId, master_id AS masterId, wrapped"

type Place = { organizationId: string; workspaceId: string }

/** `id`: the workspace itself, or what in it has a key of its own. */
export async function findDataKey(db: D1Database, place: Place, id: string): Promise<WrappedKey | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM data_keys WHERE organization_id = ? AND workspace_id = ? AND id = ?`)
    .bind(place.organizationId, place.workspaceId, id)
    .first<WrappedKey>()
  return row ?? undefined
}

/** The key that is there afterwards: of two that are made at once, the first. Undefined where the workspace is gone. */
export async function insertDataKey(
  db: D1Database,
  place: Place,
  key: WrappedKey,
  now: number,
  entry: AuditEntry,
): Promise<WrappedKey | undefined> {
  const scope = [place.organizationId, place.workspaceId]
  await db.batch([
    db
      .prepare(
        `INSERT INTO data_keys (organization_id, workspace_id, id, master_id, wrapped, created_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE EXISTS (SELECT 1 FROM workspaces WHERE organization_id = ?1 AND id = ?2 AND deleted_at IS NULL)
         ON CONFLICT DO NOTHING`,
      )
      .bind(...scope, key.id, key.masterId, key.wrapped, now),
    auditIfChanged(db, entry),
  ])
  return findDataKey(db, place, key.id)
}

/** Of all organizations: keys that are still under this master key. */
export async function listDataKeys(db: D1Database, masterId: string, limit: number): Promise<WrappedKey[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM data_keys WHERE master_id = ? ORDER BY id LIMIT ?`)
    .bind(masterId, limit)
    .all<WrappedKey>()
  return results
}

/** Puts keys in the place of themselves. One that somebody else has put there meanwhile stays. Returns how many. */
export async function replaceDataKeys(
  db: D1Database,
  keys: readonly { before: WrappedKey; after: WrappedKey }[],
  now: number,
  entry: AuditEntry,
): Promise<number> {
  const changed = await db.batch([
    ...keys.map(({ before, after }) =>
      db
        .prepare("UPDATE data_keys SET master_id = ?, wrapped = ?, rewrapped_at = ? WHERE id = ? AND wrapped = ?")
        .bind(after.masterId, after.wrapped, now, before.id, before.wrapped),
    ),
    auditStatement(db, entry),
  ])
  return changed.slice(0, -1).reduce((sum, { meta }) => sum + meta.changes, 0)
}

/** How many keys are under the one master key, and how many under neither of the two. */
export async function countDataKeys(
  db: D1Database,
  currentId: string,
  previousId: string,
): Promise<{ previous: number; neither: number }> {
  const row = await db
    .prepare(
      `SELECT count(*) FILTER (WHERE master_id = ?2) AS previous, count(*) FILTER (WHERE master_id <> ?2) AS neither
       FROM data_keys WHERE master_id <> ?1`,
    )
    .bind(currentId, previousId)
    .first<{ previous: number; neither: number }>()
  return row ?? { previous: 0, neither: 0 }
}
