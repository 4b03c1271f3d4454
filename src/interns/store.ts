import { and, count, desc, eq, inArray, isNotNull, isNull, lt, or, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, reviseStatement } from "../audit/store.ts"
import { insertKeyQuery } from "../keys/store.ts"
import { guardrailKeys } from "../guardrails/table.ts"
import { apiKeys, type NewKeyRow } from "../keys/table.ts"
import { containsText, type Db, openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { deleteVaultQueries } from "../vault/store.ts"
import type { CreatorColumns } from "./access/authority.ts"
import type { KeyTerms } from "./access/key-store.ts"
import type { InternStatus } from "./kinds.ts"
import { type InternRow, interns, type NewInternRow } from "./table.ts"

type WorkspaceScope = { organizationId: string; workspaceId: string }
type Own = WorkspaceScope & { id: string }

const isInWorkspace = ({ organizationId, workspaceId }: WorkspaceScope) =>
  and(eq(interns.organizationId, organizationId), eq(interns.workspaceId, workspaceId))
const isIntern = (current: Own) => and(isInWorkspace(current), eq(interns.id, current.id))

export async function findIntern(db: D1Database, scope: WorkspaceScope, id: string): Promise<InternRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(interns)
    .where(isIntern({ ...scope, id }))
  return row
}

/**
 * Finds an intern by hostname in any organization: a token authenticates the request. Undefined if its workspace is
 * deleted.
 */
export async function findInternByHostname(
  db: D1Database,
  hostname: string,
): Promise<{ row: InternRow; hasInternsAccess: boolean } | undefined> {
  const hasInternsAccess = sql<number>`(SELECT interns_programme FROM organizations o WHERE o.id = interns.organization_id)`
  const [found] = await openDb(db)
    .select({ row: interns, hasAccess: hasInternsAccess.as("is_in_programme") })
    .from(interns)
    .where(
      and(
        eq(interns.hostname, hostname),
        sql`EXISTS (SELECT 1 FROM workspaces w WHERE w.id = ${interns.workspaceId} AND w.deleted_at IS NULL)`,
      ),
    )
  return found && { row: found.row, hasInternsAccess: found.hasAccess === 1 }
}

/** Nonces from which the access tokens of the interns at these hostnames are derived. */
export async function findNonces(
  db: D1Database,
  hostnames: readonly string[],
): Promise<Pick<InternRow, "id" | "hostname" | "accessNonce">[]> {
  return openDb(db)
    .select({ id: interns.id, hostname: interns.hostname, accessNonce: interns.accessNonce })
    .from(interns)
    .where(
      and(
        sql`${interns.hostname} IN (SELECT value FROM json_each(${JSON.stringify(hostnames)}))`,
        isNotNull(interns.accessNonce),
      ),
    )
}

/** The intern that was created with this idempotency key. */
export async function findInternByIdempotencyKey(
  db: D1Database,
  { creatorUserId, ...scope }: WorkspaceScope & { creatorUserId: string | null },
  idempotencyKey: string,
): Promise<InternRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(interns)
    .where(
      and(
        isInWorkspace(scope),
        sql`coalesce(${interns.creatorUserId}, '') = ${creatorUserId ?? ""}`,
        eq(interns.idempotencyKey, idempotencyKey),
      ),
    )
  return row
}

/** Creator of the intern that owns this vault; undefined if there is none. */
export async function findVaultOwner(
  db: D1Database,
  scope: WorkspaceScope,
  vaultId: string,
): Promise<({ id: string } & CreatorColumns) | undefined> {
  const [row] = await openDb(db)
    .select({ id: interns.id, createdByKey: interns.createdByKey, creatorUserId: interns.creatorUserId })
    .from(interns)
    .where(and(isInWorkspace(scope), eq(interns.vaultId, vaultId)))
  return row
}

const keyExists = (hash: string) => sql`EXISTS (SELECT 1 FROM ${apiKeys} WHERE ${apiKeys.hash} = ${hash})`

const assignKey = (db: Db, internId: string, hash: string) =>
  db.update(apiKeys).set({ internId }).where(eq(apiKeys.hash, hash))

/** Inserts an intern and its key. Undefined if the workspace or the creator is gone. Rejects if the name is taken. */
export async function insertIntern(
  binding: D1Database,
  row: NewInternRow,
  key: NewKeyRow,
  entry: AuditEntry,
): Promise<InternRow | undefined> {
  const db = openDb(binding)
  const [, inserted] = await db.batch([
    insertKeyQuery(db, key),
    db
      .insert(interns)
      .select(selectRow(interns, row, keyExists(key.hash)))
      .returning(),
    auditIfChanged(db, entry),
    assignKey(db, row.id, key.hash),
  ])
  return inserted[0]
}

type KeyReplacement = {
  old: InternRow
  renewed: Pick<InternRow, "keyHash" | "sealedKey" | "createdByKey">
  key: NewKeyRow
  entry: AuditEntry
}

/**
 * Replaces the intern's key, also in its guardrail, and deletes the old one. False, without any change, if the intern is
 * gone, has another key by now, or the new key cannot be written.
 */
export async function replaceInternKey(
  binding: D1Database,
  { old, renewed, key, entry }: KeyReplacement,
): Promise<boolean> {
  const db = openDb(binding)
  const { keyHash, sealedKey, createdByKey } = renewed
  const [, replaced] = await db.batch([
    insertKeyQuery(db, key),
    db
      .update(interns)
      .set({ keyHash, sealedKey, createdByKey, joinTokenHash: null })
      .where(and(isIntern(old), eq(interns.keyHash, old.keyHash), keyExists(keyHash))),
    auditIfChanged(db, entry),
    assignKey(db, old.id, key.hash),
    db
      .update(guardrailKeys)
      .set({ keyHash })
      .where(
        and(
          eq(guardrailKeys.organizationId, old.organizationId),
          eq(guardrailKeys.keyHash, old.keyHash),
          sql`EXISTS (SELECT 1 FROM ${interns} WHERE ${interns.keyHash} = ${keyHash})`,
        ),
      ),
    // Deletes the old key, or the new one if it did not replace the old.
    db
      .update(apiKeys)
      .set({ deletedAt: key.createdAt })
      .where(
        and(
          inArray(apiKeys.hash, [old.keyHash, key.hash]),
          isNull(apiKeys.deletedAt),
          sql`NOT EXISTS (SELECT 1 FROM ${interns} WHERE ${interns.keyHash} = ${apiKeys.hash})`,
        ),
      ),
  ])
  return replaced.meta.changes > 0
}

export type InternPage = {
  statuses: readonly InternStatus[] | undefined
  /** Text in the name or description. */
  q?: string | undefined
  /** Only interns that this key created; null for all. */
  onlyKey: string | null
  limit: number
  /** The last intern of the previous page. */
  after: { createdAt: number; id: string } | undefined
}

const isAfter = ({ createdAt, id }: { createdAt: number; id: string }) =>
  or(lt(interns.createdAt, createdAt), and(eq(interns.createdAt, createdAt), lt(interns.id, id)))

/** Newest first, with the number of interns on all pages. Reads one additional row to detect a next page. */
export async function listInterns(
  binding: D1Database,
  scope: WorkspaceScope,
  page: InternPage,
): Promise<{ rows: InternRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    isInWorkspace(scope),
    containsText(page.q, [interns.name, interns.description]),
    page.statuses && inArray(interns.status, [...page.statuses]),
    page.onlyKey === null ? undefined : eq(interns.createdByKey, page.onlyKey),
  )
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(interns)
        .where(and(where, page.after && isAfter(page.after)))
        .orderBy(desc(interns.createdAt), desc(interns.id))
        .limit(page.limit + 1),
      db.select({ total: count() }).from(interns).where(where),
    ]),
  )
}

export type InternColumns = Partial<
  Pick<
    InternRow,
    | "name"
    | "description"
    | "instructions"
    | "model"
    | "status"
    | "hostname"
    | "progress"
    | "lastFailureMessage"
    | "joinTokenHash"
    | "accessNonce"
  >
>

/** `from`: the statuses in which the change is allowed; all if empty. */
type StatusChange = {
  columns: InternColumns
  from: readonly InternStatus[]
  now: number
}

const change = (db: Db, current: Own, { columns, from, now }: StatusChange) =>
  db
    .update(interns)
    .set({ ...columns, updatedAt: now })
    .where(and(isIntern(current), from.length === 0 ? undefined : inArray(interns.status, [...from])))

/** `terms`: terms of the intern's key, which may be revoked. */
type AuditedStatusChange = StatusChange & { terms?: Partial<KeyTerms> | undefined; entry: AuditEntry }

/** If the status is in `from`; also for a revoked key. A key without a limit has no increase. */
const changeTerms = (
  db: Db,
  { id }: Own,
  terms: Partial<KeyTerms>,
  { from, now }: Pick<StatusChange, "from" | "now">,
) =>
  db
    .update(apiKeys)
    .set({ ...terms, ...(terms.limitNano === null && { limitIncrease: null }), updatedAt: now })
    .where(
      sql`(${apiKeys.organizationId}, ${apiKeys.hash}) = (SELECT organization_id, key_hash FROM interns
        WHERE id = ${id} AND status IN (SELECT value FROM json_each(${JSON.stringify(from)})))`,
    )

/**
 * A change by a principal. Undefined if the intern is gone or its status is not in `from`. Rejects if the new name is
 * taken.
 */
export async function changeIntern(
  binding: D1Database,
  current: Own,
  { columns, from, now, terms, entry }: AuditedStatusChange,
): Promise<InternRow | undefined> {
  const db = openDb(binding)
  const [changed] = await db.batch([
    change(db, current, { columns, from, now }).returning(),
    auditIfChanged(db, entry),
    ...(terms && Object.keys(terms).length > 0 ? [changeTerms(db, current, terms, { from, now })] : []),
  ])
  return changed[0]
}

/** Status changes by the intern's own object. No principal acts, so there is no audit entry. */
export async function moveIntern(db: D1Database, current: Own, { from, columns, now }: StatusChange): Promise<void> {
  await change(openDb(db), current, { columns, from, now })
}

/** Deletes the key, the vault and the row of an intern, whose deletion is in the audit log. */
export async function deleteInternRows(binding: D1Database, row: InternRow, now: number): Promise<void> {
  const db = openDb(binding)
  await db.batch([
    ...deleteVaultQueries(db, row, row.vaultId),
    db.update(interns).set({ attachedVaultId: null }).where(eq(interns.attachedVaultId, row.vaultId)),
    db
      .update(apiKeys)
      .set({ deletedAt: now })
      .where(
        and(eq(apiKeys.internId, row.id), eq(apiKeys.organizationId, row.organizationId), isNull(apiKeys.deletedAt)),
      ),
    db.delete(interns).where(isIntern(row)),
    reviseStatement(db, { organizationId: row.organizationId, action: "intern.delete", resourceId: row.id }),
  ])
}
