import { and, desc, eq, gt, isNotNull, isNull, lt, lte, ne, or, sql } from "drizzle-orm"
import type { ResourceScope } from "../access/principal.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Generation } from "../ledger/generation.ts"
import { openDb, selectRow } from "../support/db.ts"
import { parseStored } from "../support/text/json.ts"
import { DAY_MS } from "../support/time/time.ts"
import { type FileRow, files, type NewFileRow } from "./table.ts"

export type FileScope = ResourceScope & { mayExport: boolean }

const isInWorkspace = ({ organizationId, workspaceId, mayExport, internId, onlyKey }: FileScope) =>
  and(
    eq(files.organizationId, organizationId),
    eq(files.workspaceId, workspaceId),
    mayExport ? undefined : ne(files.source, "export"),
    internId === null ? undefined : eq(files.internId, internId),
    onlyKey === null ? undefined : eq(files.keyHash, onlyKey),
    isNull(files.deletedAt),
    isUnexpired(),
    eq(files.isReady, true),
  )

const isUnexpired = () => or(isNull(files.expiresAt), gt(files.expiresAt, Date.now()))

const isFile = ({ organizationId, id }: Pick<FileRow, "organizationId" | "id">) =>
  and(eq(files.organizationId, organizationId), eq(files.id, id))

/** Inserts a file before its bytes are written. False if the workspace is deleted. */
export async function insertFile(db: D1Database, row: NewFileRow): Promise<boolean> {
  const workspaceExists = sql`EXISTS (SELECT 1 FROM workspaces
    WHERE organization_id = ${row.organizationId} AND id = ${row.workspaceId} AND deleted_at IS NULL)`
  const { meta } = await openDb(db)
    .insert(files)
    .select(selectRow(files, row, workspaceExists))
  return meta.changes > 0
}

const usedBy = (organizationId: string) =>
  sql<number>`(SELECT coalesce(sum(size_bytes), 0) FROM files
    WHERE organization_id = ${organizationId} AND deleted_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${Date.now()}))`

/** Marks the file as complete. Undefined if its bytes exceed the quota of the organization. */
export async function completeFile(
  binding: D1Database,
  row: NewFileRow,
  quotaBytes: number,
  entry: AuditEntry,
): Promise<FileRow | undefined> {
  const db = openDb(binding)
  const { organizationId, sizeBytes, mimeType, purpose, expiresAt } = row
  const [completed] = await db.batch([
    db
      .update(files)
      .set({ isReady: true, sizeBytes, mimeType, purpose, expiresAt })
      .where(
        and(
          isFile(row),
          eq(files.isReady, false),
          isNull(files.deletedAt),
          sql`${usedBy(organizationId)} + ${sizeBytes} <= ${quotaBytes}`,
        ),
      )
      .returning(),
    auditIfChanged(db, entry),
  ])
  return completed[0]
}

/** Marks a file whose upload failed as deleted. */
export async function abandonFile(db: D1Database, row: NewFileRow, now: number): Promise<void> {
  await openDb(db)
    .update(files)
    .set({ deletedAt: now })
    .where(and(isFile(row), eq(files.isReady, false)))
}

export async function usedBytes(db: D1Database, organizationId: string): Promise<number> {
  const { used } = await openDb(db).get<{ used: number }>(sql`SELECT ${usedBy(organizationId)} AS used`)
  return used
}

type FilePageQuery = { after: string | undefined; limit: number; order: "asc" | "desc"; purpose: string | undefined }

/** By time of upload; `limit` + 1 rows if there are more. */
export async function listFiles(
  db: D1Database,
  scope: FileScope,
  { after, limit, order, purpose }: FilePageQuery,
): Promise<FileRow[]> {
  const isNext = order === "asc" ? gt : lt
  return openDb(db)
    .select()
    .from(files)
    .where(
      and(
        isInWorkspace(scope),
        after === undefined ? undefined : isNext(files.id, after),
        purpose === undefined ? undefined : eq(files.purpose, purpose),
      ),
    )
    .orderBy(order === "asc" ? files.id : desc(files.id))
    .limit(limit + 1)
}

/** Ids of the files that the gateway wrote for a batch. */
export async function listFilesOfBatch(db: D1Database, scope: ResourceScope, batchId: string): Promise<string[]> {
  const rows = await openDb(db)
    .select({ id: files.id })
    .from(files)
    .where(and(isInWorkspace({ ...scope, mayExport: false }), eq(files.batchId, batchId)))
  return rows.map(({ id }) => id)
}

export async function findFile(db: D1Database, scope: FileScope, id: string): Promise<FileRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(files)
    .where(and(isInWorkspace(scope), eq(files.id, id)))
  return row
}

export async function deleteFile(
  binding: D1Database,
  { scope, id, now, entry }: { scope: FileScope; id: string; now: number; entry: AuditEntry },
): Promise<FileRow | undefined> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db
      .update(files)
      .set({ deletedAt: now })
      .where(and(isInWorkspace(scope), eq(files.id, id)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return deleted[0]
}

/**
 * Files of all organizations that are deleted or expired, were abandoned a day before `now`, or belong to a deleted
 * workspace.
 */
export async function listStaleFiles(db: D1Database, now: number, limit: number): Promise<FileRow[]> {
  const isAbandoned = and(eq(files.isReady, false), lt(files.createdAt, now - DAY_MS))
  const isOfDeletedWorkspace = sql`${files.workspaceId} IN (SELECT id FROM workspaces WHERE deleted_at IS NOT NULL)`
  return openDb(db)
    .select()
    .from(files)
    .where(or(isNotNull(files.deletedAt), lte(files.expiresAt, now), isAbandoned, isOfDeletedWorkspace))
    .limit(limit)
}

/** Deletes the rows, after their bytes. */
export async function deleteFileRows(db: D1Database, ids: readonly string[]): Promise<void> {
  await openDb(db)
    .delete(files)
    .where(sql`${files.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
}

/** `to`: exclusive. */
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

export type SettledGeneration = Generation & { settledAt: number }

/** Generations after this one, in the order in which they were charged. */
export async function listGenerations(
  db: D1Database,
  range: Range,
  after: { settledAt: number; id: string },
  limit: number,
): Promise<SettledGeneration[]> {
  const { results } = await db
    .prepare(
      `SELECT record, settled_at AS settledAt FROM generations
       WHERE ${IN_RANGE} AND (settled_at, id) > (?5, ?6) ORDER BY settled_at, id LIMIT ?7`,
    )
    .bind(...rangeOf(range), after.settledAt, after.id, limit)
    .all<{ record: string; settledAt: number }>()
  return results.map(({ record, settledAt }) => ({ ...parseStored<Generation>(record), settledAt }))
}
