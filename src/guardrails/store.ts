import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { LINEAGE } from "../keys/lineage-store.ts"
import type { GuardrailRow, RowChange } from "./guardrail.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS =
  "id, organization_id, workspace_id, is_default, name, description, limit_nano, reset_interval, " +
  "include_byok_in_budgets, rules, created_at, updated_at"
const columns = COLUMNS.split(", ") as (keyof GuardrailRow)[]

/** Whether its workspace was still there. Rejects with D1's own error where the id is taken. */
export async function insertGuardrail(db: D1Database, row: GuardrailRow, entry: AuditEntry): Promise<boolean> {
  const [inserted] = await db.batch([
    db
      .prepare(
        `INSERT INTO guardrails (${COLUMNS}) SELECT ${columns.map(() => "?").join(", ")}
         WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL)`,
      )
      .bind(...columns.map((column) => row[column]), row.workspace_id, row.organization_id),
    auditIfChanged(db, entry),
  ])
  return (inserted?.meta.changes ?? 0) > 0
}

export async function findGuardrail(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<GuardrailRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM guardrails WHERE organization_id = ? AND id = ?`)
    .bind(organizationId, id)
    .first<GuardrailRow>()
  return row ?? undefined
}

/** Newest first. */
export async function listGuardrails(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
  page: Page,
): Promise<{ rows: GuardrailRow[]; total: number }> {
  const where = "organization_id = ? AND workspace_id = ?"
  return toPage(
    await db.batch<Counted<GuardrailRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM guardrails WHERE ${where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?`)
        .bind(organizationId, workspaceId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM guardrails WHERE ${where}`).bind(organizationId, workspaceId),
    ]),
  )
}

/** The changed row, or undefined when there is none. Rejects where a limit would be left without its interval. */
export async function updateGuardrail(
  db: D1Database,
  organizationId: string,
  id: string,
  { rules, ...change }: RowChange,
  now: number,
  entry: AuditEntry,
): Promise<GuardrailRow | undefined> {
  const changed = Object.entries(change)
  const assignments = [
    ...changed.map(([column]) => `${column} = ?`),
    "rules = json_patch(rules, ?)",
    "updated_at = ?",
  ].join(", ")
  const [updated] = await db.batch<GuardrailRow>([
    db
      .prepare(`UPDATE guardrails SET ${assignments} WHERE organization_id = ? AND id = ? RETURNING ${COLUMNS}`)
      .bind(...changed.map(([, value]) => value), rules, now, organizationId, id),
    auditIfChanged(db, entry),
  ])
  return updated?.results[0]
}

/** With its assignments, which the database takes along. */
export async function deleteGuardrail(
  db: D1Database,
  organizationId: string,
  id: string,
  entry: AuditEntry,
): Promise<boolean> {
  const [deleted] = await db.batch([
    db.prepare("DELETE FROM guardrails WHERE organization_id = ? AND id = ?").bind(organizationId, id),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

/** The workspaces of the organization, for what is known by the id of one. */
export async function listWorkspaceIds(db: D1Database, organizationId: string): Promise<string[]> {
  const { results } = await db
    .prepare("SELECT id FROM workspaces WHERE organization_id = ? AND deleted_at IS NULL")
    .bind(organizationId)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** A guardrail of a caller, or of a key that created the caller's: what it applies by, and whose counters its budget has. */
export type AppliedRow = Pick<
  GuardrailRow,
  "id" | "name" | "is_default" | "limit_nano" | "reset_interval" | "include_byok_in_budgets" | "rules"
> & { by_key: number; by_member: number; key_hash: string; user_id: string | null }

const OF_CALLER = `SELECT c.hash AS key_hash, c.creator_user_id AS user_id, g.id, g.name, g.is_default, g.limit_nano, g.reset_interval, g.include_byok_in_budgets, g.rules,
   EXISTS (SELECT 1 FROM guardrail_keys a WHERE a.key_hash = c.hash AND a.guardrail_id = g.id) AS by_key,
   EXISTS (SELECT 1 FROM guardrail_members m WHERE m.organization_id = c.organization_id
     AND m.user_id = c.creator_user_id AND m.guardrail_id = g.id) AS by_member
   FROM guardrails g JOIN caller c ON g.organization_id = c.organization_id AND g.workspace_id = c.workspace_id
   WHERE g.is_default = 1 OR by_key OR by_member ORDER BY g.created_at, g.id, c.depth`

/** The guardrails of a key and its ancestors, of their creators and workspaces, for the batch in which the key is read. */
export function keyGuardrailsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db
    .prepare(
      `WITH RECURSIVE ${LINEAGE}, caller AS (SELECT k.hash, l.depth, k.organization_id, k.workspace_id, k.creator_user_id
         FROM lineage l JOIN api_keys k ON k.hash = l.hash)
       ${OF_CALLER}`,
    )
    .bind(hash)
}

/** The same of a caller whose key is no row. */
export async function findCallerGuardrails(
  db: D1Database,
  keyHash: string,
  { organizationId, workspaceId, userId }: { organizationId: string; workspaceId: string; userId: string | null },
): Promise<AppliedRow[]> {
  const { results } = await db
    .prepare(
      `WITH caller (hash, depth, organization_id, workspace_id, creator_user_id) AS (VALUES (?, 0, ?, ?, ?)) ${OF_CALLER}`,
    )
    .bind(keyHash, organizationId, workspaceId, userId)
    .all<AppliedRow>()
  return results
}
