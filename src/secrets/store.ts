import { and, eq, gt, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import { openDb, selectRow } from "../support/db.ts"
import type { WrappedKey } from "./data-key.ts"
import { dataKeys } from "./table.ts"

const wrappedKey = {
  id: dataKeys.id,
  workspaceId: dataKeys.workspaceId,
  masterId: dataKeys.masterId,
  wrapped: dataKeys.wrapped,
}

type WorkspaceScope = { organizationId: string; workspaceId: string }

/** `id`: the workspace, or a resource in it that has a separate key. */
export async function findDataKey(
  db: D1Database,
  { organizationId, workspaceId }: WorkspaceScope,
  id: string,
): Promise<WrappedKey | undefined> {
  const [row] = await openDb(db)
    .select(wrappedKey)
    .from(dataKeys)
    .where(and(eq(dataKeys.organizationId, organizationId), eq(dataKeys.workspaceId, workspaceId), eq(dataKeys.id, id)))
  return row
}

/**
 * Inserts a key and returns the stored one: of two concurrent inserts, the first. Undefined if the workspace is
 * deleted.
 */
export async function insertDataKey(
  binding: D1Database,
  { scope, key, now, entry }: { scope: WorkspaceScope; key: WrappedKey; now: number; entry: AuditEntry },
): Promise<WrappedKey | undefined> {
  const db = openDb(binding)
  const row = { ...key, ...scope, createdAt: now }
  const workspaceExists = sql`EXISTS (SELECT 1 FROM workspaces
    WHERE organization_id = ${scope.organizationId} AND id = ${scope.workspaceId} AND deleted_at IS NULL)`
  await db.batch([
    db
      .insert(dataKeys)
      .select(selectRow(dataKeys, row, workspaceExists))
      .onConflictDoNothing(),
    auditIfChanged(db, entry),
  ])
  return findDataKey(binding, scope, key.id)
}

/** Keys of all organizations that are sealed under this master key, by id, from the one after `after`. */
export async function listDataKeys(
  db: D1Database,
  masterId: string,
  { after, limit }: { after: string; limit: number },
): Promise<WrappedKey[]> {
  return openDb(db)
    .select(wrappedKey)
    .from(dataKeys)
    .where(and(eq(dataKeys.masterId, masterId), gt(dataKeys.id, after)))
    .orderBy(dataKeys.id)
    .limit(limit)
}

/** Replaces rewrapped keys, unless one was changed concurrently. Returns the number of changed keys. */
export async function replaceDataKeys(
  binding: D1Database,
  keys: readonly { before: WrappedKey; after: WrappedKey }[],
  now: number,
  entry: AuditEntry,
): Promise<number> {
  const db = openDb(binding)
  const queries = keys.map(({ before, after: { masterId, wrapped } }) =>
    db
      .update(dataKeys)
      .set({ masterId, wrapped, rewrappedAt: now })
      .where(and(eq(dataKeys.id, before.id), eq(dataKeys.wrapped, before.wrapped)))
      .returning({ id: dataKeys.id }),
  )
  const [, ...changed] = await db.batch([auditStatement(db, entry), ...queries])
  return changed.flat().length
}

/** Counts the keys under the previous master key, and those under neither. */
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
