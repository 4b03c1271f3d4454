import { and, count, desc, eq, isNull, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page, Search } from "../http/schema.ts"
import { LINEAGE } from "../keys/lineage-store.ts"
import { apiKeys } from "../keys/table.ts"
import { containsText, openDb, readColumns, selectRow, type StoredRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import { workspaces } from "../workspaces/table.ts"
import type { RowChange } from "./guardrail.ts"
import { guardrailKeys, type GuardrailRow, guardrails, type NewGuardrailRow } from "./table.ts"

const isGuardrail = (organizationId: string, id: string) =>
  and(eq(guardrails.organizationId, organizationId), eq(guardrails.id, id))

/** Undefined if the workspace is deleted. Rejects with D1's error if the id is taken. */
export async function insertGuardrail(
  binding: D1Database,
  row: NewGuardrailRow,
  entry: AuditEntry,
): Promise<GuardrailRow | undefined> {
  const db = openDb(binding)
  const workspaceExists = sql`EXISTS (SELECT 1 FROM workspaces
    WHERE id = ${row.workspaceId} AND organization_id = ${row.organizationId} AND deleted_at IS NULL)`
  const [inserted] = await db.batch([
    db
      .insert(guardrails)
      .select(selectRow(guardrails, row, workspaceExists))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return inserted[0]
}

export async function findGuardrail(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<GuardrailRow | undefined> {
  const [row] = await openDb(db).select().from(guardrails).where(isGuardrail(organizationId, id))
  return row
}

/** Newest first. */
export async function listGuardrails(
  binding: D1Database,
  organizationId: string,
  workspaceId: string,
  page: Page & Search,
): Promise<{ rows: GuardrailRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(guardrails.organizationId, organizationId),
    eq(guardrails.workspaceId, workspaceId),
    containsText(page.q, [guardrails.name, guardrails.description]),
  )
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(guardrails)
        .where(where)
        .orderBy(desc(guardrails.createdAt), guardrails.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(guardrails).where(where),
    ]),
  )
}

type GuardrailUpdate = {
  organizationId: string
  id: string
  change: RowChange
  now: number
  entry: AuditEntry
}

/** The changed row; undefined if it does not exist. Rejects if a limit would have no interval. */
export async function updateGuardrail(
  binding: D1Database,
  { organizationId, id, change: { rules, ...change }, now, entry }: GuardrailUpdate,
): Promise<GuardrailRow | undefined> {
  const db = openDb(binding)
  const [updated] = await db.batch([
    db
      .update(guardrails)
      .set({ ...change, rules: sql`json_patch(${guardrails.rules}, ${rules})`, updatedAt: now })
      .where(isGuardrail(organizationId, id))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated[0]
}

/** Deletes a guardrail. The database also deletes its assignments. */
export async function deleteGuardrail(
  binding: D1Database,
  organizationId: string,
  id: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db.delete(guardrails).where(isGuardrail(organizationId, id)),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

/** Ids of the organization's workspaces, to find a default guardrail by its derived id. */
export async function listWorkspaceIds(db: D1Database, organizationId: string): Promise<string[]> {
  const rows = await openDb(db)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.organizationId, organizationId), isNull(workspaces.deletedAt)))
  return rows.map(({ id }) => id)
}

/** A guardrail of a key or of an ancestor of it, with its assignment. `keyHash`: the key whose counters it continues. */
export type AppliedRow = Pick<
  GuardrailRow,
  "id" | "name" | "isDefault" | "limitNano" | "resetInterval" | "includeByokInBudgets" | "rules"
> & { byKey: boolean; byMember: boolean; keyHash: string; userId: string | null }

const appliedColumns = {
  id: guardrails.id,
  name: guardrails.name,
  isDefault: guardrails.isDefault,
  limitNano: guardrails.limitNano,
  resetInterval: guardrails.resetInterval,
  includeByokInBudgets: guardrails.includeByokInBudgets,
  rules: guardrails.rules,
  keyHash: guardrailKeys.keyHash,
  userId: apiKeys.creatorUserId,
}

/** A row of `keyGuardrailsStatement`. */
export function toAppliedRow(stored: StoredRow): AppliedRow {
  return {
    ...readColumns(appliedColumns, stored),
    byKey: stored["by_key"] === 1,
    byMember: stored["by_member"] === 1,
  }
}

const OF_CALLER = `SELECT c.counter_hash AS key_hash, c.creator_user_id, g.id, g.name, g.is_default, g.limit_nano, g.reset_interval, g.include_byok_in_budgets, g.rules,
   EXISTS (SELECT 1 FROM guardrail_keys a WHERE a.key_hash = c.hash AND a.guardrail_id = g.id) AS by_key,
   EXISTS (SELECT 1 FROM guardrail_members m WHERE m.organization_id = c.organization_id
     AND m.user_id = c.creator_user_id AND m.guardrail_id = g.id) AS by_member
   FROM guardrails g JOIN caller c ON g.organization_id = c.organization_id AND g.workspace_id = c.workspace_id
   WHERE g.is_default = 1 OR by_key OR by_member ORDER BY g.created_at, g.id, c.depth`

/**
 * The guardrails of a key and its ancestors, of their creators and workspaces, for the batch in which the key is read.
 */
export function keyGuardrailsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `WITH RECURSIVE ${LINEAGE}, caller AS (SELECT k.hash, coalesce(k.counter_hash, k.hash) AS counter_hash, l.depth, k.organization_id, k.workspace_id, k.creator_user_id
         FROM lineage l JOIN api_keys k ON k.hash = l.hash)
       ${OF_CALLER}`,
    )
    .bind(hash)
}

/** Guardrails of a principal whose key has no row. */
export async function findAppliedGuardrails(
  db: D1Database,
  keyHash: string,
  { organizationId, workspaceId, userId }: { organizationId: string; workspaceId: string; userId: string | null },
): Promise<AppliedRow[]> {
  const { results } = await db
    .prepare(
      `WITH caller (hash, counter_hash, depth, organization_id, workspace_id, creator_user_id) AS (VALUES (?1, ?1, 0, ?2, ?3, ?4)) ${OF_CALLER}`,
    )
    .bind(keyHash, organizationId, workspaceId, userId)
    .all<StoredRow>()
  return results.map(toAppliedRow)
}
