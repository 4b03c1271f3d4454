import { and, count, desc, eq, isNull, type SQL, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { apiKeys } from "../keys/table.ts"
import { dataKeys } from "../secrets/table.ts"
import { columnList, openDb, readColumns, selectRow, type StoredRow, toRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { byokCredentials, type ByokRow, type NewByokRow } from "./table.ts"
import { type ByokCredential, toByokCredential } from "./usable-credentials.ts"

/** Limited because they are loaded with every key of the workspace. */
export const MAX_CREDENTIALS = 100

type Scope = { organizationId: string; workspaceId: string }

/** A credential of the organization that is not deleted. */
const isCredential = (organizationId: string, id: string) =>
  and(eq(byokCredentials.organizationId, organizationId), eq(byokCredentials.id, id), isNull(byokCredentials.deletedAt))

/** Newest first. */
export async function listByok(
  binding: D1Database,
  { organizationId, workspaceId }: Scope,
  page: Page & { provider?: string | undefined },
): Promise<{ rows: ByokRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(byokCredentials.organizationId, organizationId),
    eq(byokCredentials.workspaceId, workspaceId),
    page.provider === undefined ? undefined : eq(byokCredentials.provider, page.provider),
    isNull(byokCredentials.deletedAt),
  )
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(byokCredentials)
        .where(where)
        .orderBy(desc(byokCredentials.createdAt), byokCredentials.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(byokCredentials).where(where),
    ]),
  )
}

export async function findByok(db: D1Database, organizationId: string, id: string): Promise<ByokRow | undefined> {
  const [row] = await openDb(db).select().from(byokCredentials).where(isCredential(organizationId, id))
  return row
}

/** Appended to the order of its provider if none is given. Undefined if the workspace is deleted or has reached its limit. */
export async function insertByok(
  binding: D1Database,
  { sortOrder: requestedOrder, ...row }: Omit<NewByokRow, "sortOrder"> & { sortOrder: number | undefined },
  entry: AuditEntry,
): Promise<ByokRow | undefined> {
  const db = openDb(binding)
  const { organizationId, workspaceId, provider } = row
  const sortOrder =
    requestedOrder ??
    sql`(SELECT coalesce(max(sort_order), -1) + 1 FROM byok_credentials
    WHERE workspace_id = ${workspaceId} AND provider = ${provider} AND deleted_at IS NULL)`
  const hasRoom = sql`EXISTS (SELECT 1 FROM workspaces
      WHERE id = ${workspaceId} AND organization_id = ${organizationId} AND deleted_at IS NULL)
    AND (SELECT count(*) FROM byok_credentials WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL)
      < ${MAX_CREDENTIALS}`
  const [inserted] = await db.batch([
    db
      .insert(byokCredentials)
      .select(selectRow(byokCredentials, { ...row, sortOrder }, hasRoom))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return inserted[0]
}

export type ByokChange = { [Name in keyof ByokRow]?: ByokRow[Name] | undefined }

type ByokUpdate = {
  organizationId: string
  id: string
  change: ByokChange
  now: number
  entry: AuditEntry
}

/** Whether the credential is not both after the change: there would be no key to fall back from. */
function isOnlyOrFallback({ isByokOnly, isFallback }: ByokChange): SQL | undefined {
  if (isByokOnly === true && isFallback === undefined) return eq(byokCredentials.isFallback, false)
  if (isFallback === true && isByokOnly === undefined) return eq(byokCredentials.isByokOnly, false)
  return undefined
}

/** The changed row; undefined if it does not exist, or would be both BYOK-only and a fallback. */
export async function updateByok(
  binding: D1Database,
  { organizationId, id, change, now, entry }: ByokUpdate,
): Promise<ByokRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(byokCredentials)
      .set({ ...change, updatedAt: now })
      .where(and(isCredential(organizationId, id), isOnlyOrFallback(change)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

type ByokDeletion = {
  organizationId: string
  id: string
  now: number
  entry: AuditEntry
}

/** Keeps the row for its generations; deletes the sealed key. */
export async function deleteByok(
  binding: D1Database,
  { organizationId, id, now, entry }: ByokDeletion,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db.update(byokCredentials).set({ deletedAt: now, sealed: "" }).where(isCredential(organizationId, id)),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

/** The hashes among these that are keys of the organization. */
export async function findKeyHashes(
  db: D1Database,
  organizationId: string,
  hashes: readonly string[],
): Promise<Set<string>> {
  const rows = await openDb(db)
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        sql`${apiKeys.hash} IN (SELECT value FROM json_each(${JSON.stringify(hashes)}))`,
        isNull(apiKeys.deletedAt),
      ),
    )
  return new Set(rows.map(({ hash }) => hash))
}

const BYOK_COLUMNS = columnList(byokCredentials, "b")
const OF_WORKSPACE = `SELECT ${BYOK_COLUMNS}, d.master_id, d.wrapped
   FROM byok_credentials b JOIN data_keys d ON d.id = b.workspace_id AND d.organization_id = b.organization_id
   WHERE b.deleted_at IS NULL AND b.disabled = 0`

/** The credentials of the workspace that a key belongs to, for the batch in which the key is read. */
export function byokStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `${OF_WORKSPACE} AND (b.organization_id, b.workspace_id) =
         (SELECT organization_id, workspace_id FROM api_keys WHERE hash = ?)
       ORDER BY b.provider, b.sort_order, b.id`,
    )
    .bind(hash)
}

/** Credentials of a principal whose key has no row. */
export async function findByokCredentials(
  db: D1Database,
  { organizationId, workspaceId }: Scope,
): Promise<ByokCredential[]> {
  const { results } = await db
    .prepare(`${OF_WORKSPACE} AND b.organization_id = ? AND b.workspace_id = ? ORDER BY b.provider, b.sort_order, b.id`)
    .bind(organizationId, workspaceId)
    .all<StoredRow>()
  return results.map(readByokCredential)
}

export type CredentialState = "usable" | "disabled" | "deleted"

/** A credential of the workspace in its current state; undefined if there never was one with this id. */
export async function findCredential(
  db: D1Database,
  { organizationId, workspaceId }: Scope,
  id: string,
): Promise<{ credential: ByokCredential; state: CredentialState } | undefined> {
  const stored = await db
    .prepare(
      `SELECT ${BYOK_COLUMNS}, d.master_id, d.wrapped
       FROM byok_credentials b JOIN data_keys d ON d.id = b.workspace_id AND d.organization_id = b.organization_id
       WHERE b.organization_id = ? AND b.workspace_id = ? AND b.id = ?`,
    )
    .bind(organizationId, workspaceId, id)
    .first<StoredRow>()
  if (!stored) return undefined
  const { disabled, deletedAt } = toRow(byokCredentials, stored)
  const state = deletedAt !== null ? "deleted" : disabled ? "disabled" : "usable"
  return { credential: readByokCredential(stored), state }
}

const sealing = { masterId: dataKeys.masterId, wrapped: dataKeys.wrapped }

/** A row of `byokStatement`. */
export function readByokCredential(stored: StoredRow): ByokCredential {
  return toByokCredential(toRow(byokCredentials, stored), readColumns(sealing, stored))
}
