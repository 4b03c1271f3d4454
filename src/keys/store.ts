import { and, count, desc, eq, isNotNull, isNull, not, type SQL, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { scimLeavers } from "../members/table.ts"
import type { RateLimits } from "../money/rate-limits.ts"
import { containsText, type Db, openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { apiKeys, type KeyRow, type NewKeyRow } from "./table.ts"

/** A key of the organization that is not deleted. */
const isInOrganization = (organizationId: string, hash: string) =>
  and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.hash, hash), isNull(apiKeys.deletedAt))

/**
 * Inserts nothing if the workspace was deleted concurrently, if a directory deactivated its user, or unless `onlyIf` is
 * true.
 */
export function insertKeyQuery(db: Db, row: NewKeyRow, onlyIf?: SQL) {
  const conditions = [
    sql`EXISTS (SELECT 1 FROM workspaces
      WHERE id = ${row.workspaceId} AND organization_id = ${row.organizationId} AND deleted_at IS NULL)`,
    sql`NOT EXISTS (SELECT 1 FROM scim_leavers
      WHERE organization_id = ${row.organizationId} AND user_id = ${row.creatorUserId ?? null})`,
    ...(onlyIf ? [onlyIf] : []),
  ]
  return db.insert(apiKeys).select(selectRow(apiKeys, row, sql.join(conditions, sql` AND `)))
}

/** Undefined if the workspace is deleted or the user deactivated. Throws D1's constraint error if the hash is taken. */
export async function insertKey(binding: D1Database, row: NewKeyRow, entry: AuditEntry): Promise<KeyRow | undefined> {
  const db = openDb(binding)
  const [inserted] = await db.batch([insertKeyQuery(db, row).returning(), auditIfChanged(db, entry)])
  return inserted[0]
}

export async function findKeyRow(db: D1Database, organizationId: string, hash: string): Promise<KeyRow | undefined> {
  const [row] = await openDb(db).select().from(apiKeys).where(isInOrganization(organizationId, hash))
  return row
}

export type KeyPage = {
  workspaceId: string
  includeDisabled: boolean
  /** Only keys whose `mcp_tools` name a tool of this server. */
  mcpServer: string | undefined
  /** Text in the name, label or user of a key. */
  q?: string | undefined
  limit: number
  offset: number
}

const namesServer = (slug: string) =>
  sql`EXISTS (SELECT 1 FROM json_each(${apiKeys.mcpTools}) WHERE substr(value, 1, ${slug.length + 1}) = ${`${slug}/`})`

/** Newest first. */
export async function listKeys(
  binding: D1Database,
  organizationId: string,
  page: KeyPage,
): Promise<{ rows: KeyRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(apiKeys.organizationId, organizationId),
    eq(apiKeys.workspaceId, page.workspaceId),
    isNull(apiKeys.deletedAt),
    page.includeDisabled ? undefined : eq(apiKeys.disabled, false),
    page.mcpServer === undefined ? undefined : namesServer(page.mcpServer),
    containsText(page.q, [apiKeys.name, apiKeys.label, apiKeys.externalUser]),
  )
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(apiKeys)
        .where(where)
        .orderBy(desc(apiKeys.createdAt), apiKeys.hash)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(apiKeys).where(where),
    ]),
  )
}

/** A column that is not listed here cannot be changed by a request. */
export type KeyChange = Partial<
  Pick<
    KeyRow,
    | "name"
    | "limitNano"
    | "limitReset"
    | "limitIncrease"
    | "includeByokInLimit"
    | "disabled"
    | "disabledBy"
    | "overBudgetModels"
    | "mcpTools"
    | keyof RateLimits
  >
>

/**
 * Keeps the last working management key of an organization: only the operator could replace it. The key of a person's
 * console sessions does not count, since its secret is known to no one.
 */
const keepsManagementKey: SQL = sql`(${apiKeys.kind} <> 'management' OR EXISTS (SELECT 1 FROM api_keys o
  WHERE o.organization_id = ${apiKeys.organizationId} AND o.kind = 'management' AND o.hash <> ${apiKeys.hash}
    AND o.disabled = 0 AND o.deleted_at IS NULL AND o.expires_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM console_people p WHERE p.key_hash = o.hash)))`

/** Whether, without this one, the organization would have no management key that does not expire. */
export async function isLastManagementKey(db: D1Database, organizationId: string, hash: string): Promise<boolean> {
  const last = await openDb(db)
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), eq(apiKeys.hash, hash), not(keepsManagementKey)))
  return last.length > 0
}

const creatorIsPresent = sql`NOT EXISTS (SELECT 1 FROM scim_leavers l
  WHERE l.organization_id = ${apiKeys.organizationId} AND l.user_id = ${apiKeys.creatorUserId})`

type KeyUpdate = {
  organizationId: string
  hash: string
  change: KeyChange
  now: number
  entry: AuditEntry
}

/**
 * The changed row. Undefined if the key does not exist, its creator was deprovisioned, or the change would disable the
 * last management key or increase a limit that was removed concurrently.
 */
export async function updateKey(
  binding: D1Database,
  { organizationId, hash, change, now, entry }: KeyUpdate,
): Promise<KeyRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(apiKeys)
      .set({ ...change, updatedAt: now })
      .where(
        and(
          isInOrganization(organizationId, hash),
          change.disabled === true ? keepsManagementKey : undefined,
          change.disabled === false ? creatorIsPresent : undefined,
          change.limitIncrease && change.limitNano === undefined ? isNotNull(apiKeys.limitNano) : undefined,
        ),
      )
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

type KeyDeletion = {
  organizationId: string
  hash: string
  mayBeLast: boolean
  now: number
  entry: AuditEntry
}

/**
 * Deleted keys keep their row, so that their generations keep a name. False for the last management key, unless
 * `mayBeLast`.
 */
export async function deleteKey(
  binding: D1Database,
  { organizationId, hash, mayBeLast, now, entry }: KeyDeletion,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db
      .update(apiKeys)
      .set({ deletedAt: now })
      .where(and(isInOrganization(organizationId, hash), mayBeLast ? undefined : keepsManagementKey)),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

/** Whether a directory of the organization deactivated or deleted this person. */
export async function isDeprovisioned(db: D1Database, organizationId: string, userId: string): Promise<boolean> {
  const [deprovisioned] = await openDb(db)
    .select({ leftAt: scimLeavers.leftAt })
    .from(scimLeavers)
    .where(and(eq(scimLeavers.organizationId, organizationId), eq(scimLeavers.userId, userId)))
  return deprovisioned !== undefined
}

/** When the latest recorded call of each key ended, by hash; in epoch milliseconds. */
export async function findLastUses(
  db: D1Database,
  organizationId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // One look-up in an index for each key: an aggregate would read all records of the keys.
  const rows = await openDb(db).all<{ hash: string; at: number | null }>(sql`
    SELECT value AS hash, (SELECT settled_at FROM generations WHERE organization_id = ${organizationId}
      AND key_hash = value ORDER BY settled_at DESC LIMIT 1) AS at FROM json_each(${JSON.stringify(hashes)})`)
  return new Map(rows.flatMap(({ hash, at }) => (at === null ? [] : [[hash, at]])))
}
