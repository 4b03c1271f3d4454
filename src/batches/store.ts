import { and, asc, desc, eq, gt, inArray, lt, notInArray, sql } from "drizzle-orm"
import type { ResourceScope } from "../access/principal.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { openDb, selectRow } from "../support/db.ts"
import { type BatchStatus, MAX_UNFINISHED, UNFINISHED_STATUSES } from "./batch.ts"
import { batches, type BatchRow, type NewBatchRow } from "./table.ts"

const isInScope = ({ organizationId, workspaceId, internId, onlyKey }: ResourceScope) =>
  and(
    eq(batches.organizationId, organizationId),
    eq(batches.workspaceId, workspaceId),
    internId === null ? undefined : eq(batches.internId, internId),
    onlyKey === null ? undefined : eq(batches.keyHash, onlyKey),
  )

/** False if the workspace no longer exists or has the maximum number of unfinished batches. */
export async function insertBatch(binding: D1Database, row: NewBatchRow, entry: AuditEntry): Promise<boolean> {
  const db = openDb(binding)
  const { organizationId, workspaceId } = row
  const hasRoom = sql`EXISTS (SELECT 1 FROM workspaces
      WHERE organization_id = ${organizationId} AND id = ${workspaceId} AND deleted_at IS NULL)
    AND (SELECT count(*) FROM batches
      WHERE organization_id = ${organizationId} AND workspace_id = ${workspaceId}
      AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling')) < ${MAX_UNFINISHED}`
  const [{ meta }] = await db.batch([
    db.insert(batches).select(selectRow(batches, row, hasRoom)),
    auditIfChanged(db, entry),
  ])
  return meta.changes > 0
}

export async function findBatch(db: D1Database, scope: ResourceScope, id: string): Promise<BatchRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(batches)
    .where(and(isInScope(scope), eq(batches.id, id)))
  return row
}

type Page = {
  /** Batches that are older, or newer, than this one. */
  after?: string | undefined
  before?: string | undefined
  status?: BatchStatus | "unfinished" | undefined
  /** Path of the requests. */
  path?: string
  limit: number
}

/** Newest first; `limit` + 1 rows if there are more, with the additional one at the far end. */
export async function listBatches(
  db: D1Database,
  scope: ResourceScope,
  { after, before, status, path, limit }: Page,
): Promise<BatchRow[]> {
  const rows = await openDb(db)
    .select()
    .from(batches)
    .where(
      and(
        isInScope(scope),
        after === undefined ? undefined : lt(batches.id, after),
        before === undefined ? undefined : gt(batches.id, before),
        path === undefined ? undefined : inArray(batches.endpoint, [`/v1${path}`, `/api/v1${path}`]),
        status === undefined
          ? undefined
          : inArray(batches.status, status === "unfinished" ? [...UNFINISHED_STATUSES] : [status]),
      ),
    )
    .orderBy(before === undefined ? desc(batches.id) : asc(batches.id))
    .limit(limit + 1)
  return before === undefined ? rows : rows.toReversed()
}

/** Deletes a batch that has ended; false if it has not. */
export async function deleteBatch(
  binding: D1Database,
  { scope, id, entry }: { scope: ResourceScope; id: string; entry: AuditEntry },
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db
      .delete(batches)
      .where(and(isInScope(scope), eq(batches.id, id), notInArray(batches.status, [...UNFINISHED_STATUSES])))
      .returning({ id: batches.id }),
    auditIfChanged(db, entry),
  ])
  return deleted.length > 0
}

/** Undefined if the batch is not running. */
export async function cancelBatch(
  binding: D1Database,
  { scope, id, now, entry }: { scope: ResourceScope; id: string; now: number; entry: AuditEntry },
): Promise<BatchRow | undefined> {
  const db = openDb(binding)
  const [cancelled] = await db.batch([
    db
      .update(batches)
      .set({
        status: "cancelling",
        reached: sql`json_set(${batches.reached}, '$.cancelling', ${now})`,
        updatedAt: now,
      })
      .where(and(isInScope(scope), eq(batches.id, id), inArray(batches.status, ["validating", "in_progress"])))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return cancelled[0]
}
