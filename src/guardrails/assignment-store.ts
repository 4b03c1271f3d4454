import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { columnList, type StoredOf } from "../support/db.ts"
import { type Counted, toPage } from "../support/rows.ts"
import { type guardrailKeys, guardrailMembers } from "./table.ts"

const MEMBER_COLUMNS = columnList(guardrailMembers)

/** Author, time and guardrail of an assignment. */
export type AssignmentChange = {
  organizationId: string
  workspaceId: string
  guardrailId: string
  assignedBy: string | null
  /** Epoch milliseconds. */
  at: number
}

export type KeyAssignmentRow = Omit<StoredOf<typeof guardrailKeys>, "organization_id"> & {
  key_label: string
  key_name: string
}
export type MemberAssignmentRow = StoredOf<typeof guardrailMembers>

/** Hashes without a key in the organization, and keys that are in another workspace. */
export async function findUnassignableKeys(
  db: D1Database,
  { organizationId, workspaceId }: AssignmentChange,
  hashes: readonly string[],
): Promise<{ unknown: string[]; elsewhere: string[] }> {
  const { results } = await db
    .prepare(
      `SELECT value AS hash, k.workspace_id AS workspaceId FROM json_each(?2)
       LEFT JOIN api_keys k ON k.hash = value AND k.organization_id = ?1 AND k.deleted_at IS NULL
       WHERE k.workspace_id IS NULL OR k.workspace_id <> ?3 ORDER BY key`,
    )
    .bind(organizationId, JSON.stringify(hashes), workspaceId)
    .all<{ hash: string; workspaceId: string | null }>()
  return {
    unknown: results.filter((one) => one.workspaceId === null).map(({ hash }) => hash),
    elsewhere: results.filter((one) => one.workspaceId !== null).map(({ hash }) => hash),
  }
}

/** Assigns keys of the workspace, replacing their earlier assignments. Returns how many. `ids`: one per key. */
export async function assignKeys(
  db: D1Database,
  { organizationId, workspaceId, guardrailId, assignedBy, at }: AssignmentChange,
  keys: readonly { hash: string; id: string }[],
  entry: AuditEntry,
): Promise<number> {
  const [assigned] = await db.batch([
    db
      .prepare(
        `INSERT INTO guardrail_keys (key_hash, id, guardrail_id, organization_id, assigned_by, created_at)
         SELECT k.hash, value ->> 'id', g.id, k.organization_id, ?5, ?6
         FROM json_each(?4) JOIN api_keys k ON k.hash = value ->> 'hash'
           JOIN guardrails g ON g.organization_id = k.organization_id AND g.workspace_id = k.workspace_id
         WHERE g.id = ?3 AND k.organization_id = ?1 AND k.workspace_id = ?2 AND k.deleted_at IS NULL
         ON CONFLICT (key_hash) DO UPDATE SET id = iif(guardrail_id = excluded.guardrail_id, id, excluded.id),
           assigned_by = excluded.assigned_by,
           created_at = iif(guardrail_id = excluded.guardrail_id, created_at, excluded.created_at),
           guardrail_id = excluded.guardrail_id
         RETURNING 1`,
      )
      .bind(organizationId, workspaceId, guardrailId, JSON.stringify(keys), assignedBy, at),
    auditIfChanged(db, entry),
  ])
  return assigned?.results.length ?? 0
}

/** Removes assignments. Returns the number of keys that had the guardrail. */
export async function unassignKeys(
  db: D1Database,
  { organizationId, guardrailId }: AssignmentChange,
  hashes: readonly string[],
  entry: AuditEntry,
): Promise<number> {
  const [removed] = await db.batch([
    db
      .prepare(
        `DELETE FROM guardrail_keys WHERE organization_id = ? AND guardrail_id = ?
         AND key_hash IN (SELECT value FROM json_each(?)) RETURNING 1`,
      )
      .bind(organizationId, guardrailId, JSON.stringify(hashes)),
    auditIfChanged(db, entry),
  ])
  return removed?.results.length ?? 0
}

/** Newest first; of all guardrails if none is given. */
export async function listKeyAssignments(
  db: D1Database,
  organizationId: string,
  guardrailId: string | null,
  page: Page,
): Promise<{ rows: KeyAssignmentRow[]; total: number }> {
  const where =
    "a.organization_id = ?1 AND (?2 IS NULL OR a.guardrail_id = ?2) AND k.organization_id = ?1 AND k.deleted_at IS NULL"
  return toPage(
    await db.batch<Counted<KeyAssignmentRow>>([
      db
        .prepare(
          `SELECT a.id, a.guardrail_id, a.key_hash, k.label AS key_label, k.name AS key_name, a.assigned_by, a.created_at
         FROM guardrail_keys a JOIN api_keys k ON k.hash = a.key_hash WHERE ${where}
         ORDER BY a.created_at DESC, a.id LIMIT ?3 OFFSET ?4`,
        )
        .bind(organizationId, guardrailId, page.limit, page.offset),
      db
        .prepare(`SELECT count(*) AS total FROM guardrail_keys a JOIN api_keys k ON k.hash = a.key_hash WHERE ${where}`)
        .bind(organizationId, guardrailId),
    ]),
  )
}

/** Assigns the members of the organization among the users. Returns how many. */
export async function assignMembers(
  db: D1Database,
  { organizationId, guardrailId, assignedBy, at }: AssignmentChange,
  people: readonly { userId: string; id: string }[],
  entry: AuditEntry,
): Promise<number> {
  const [assigned] = await db.batch([
    db
      .prepare(
        `INSERT INTO guardrail_members (organization_id, user_id, guardrail_id, id, assigned_by, created_at)
         SELECT m.organization_id, m.user_id, g.id, value ->> 'id', ?4, ?5
         FROM json_each(?3) JOIN members m ON m.user_id = value ->> 'userId'
           JOIN guardrails g ON g.organization_id = m.organization_id
         WHERE g.id = ?2 AND m.organization_id = ?1
         ON CONFLICT DO UPDATE SET assigned_by = excluded.assigned_by RETURNING 1`,
      )
      .bind(organizationId, guardrailId, JSON.stringify(people), assignedBy, at),
    auditIfChanged(db, entry),
  ])
  return assigned?.results.length ?? 0
}

/** Removes assignments. Returns the number of members that had the guardrail. */
export async function unassignMembers(
  db: D1Database,
  { organizationId, guardrailId }: AssignmentChange,
  userIds: readonly string[],
  entry: AuditEntry,
): Promise<number> {
  const [removed] = await db.batch([
    db
      .prepare(
        `DELETE FROM guardrail_members WHERE organization_id = ? AND guardrail_id = ?
         AND user_id IN (SELECT value FROM json_each(?)) RETURNING 1`,
      )
      .bind(organizationId, guardrailId, JSON.stringify(userIds)),
    auditIfChanged(db, entry),
  ])
  return removed?.results.length ?? 0
}

/** Newest first; of all guardrails if none is given. */
export async function listMemberAssignments(
  db: D1Database,
  organizationId: string,
  guardrailId: string | null,
  page: Page,
): Promise<{ rows: MemberAssignmentRow[]; total: number }> {
  const where = "organization_id = ?1 AND (?2 IS NULL OR guardrail_id = ?2)"
  return toPage(
    await db.batch<Counted<MemberAssignmentRow>>([
      db
        .prepare(
          `SELECT ${MEMBER_COLUMNS} FROM guardrail_members WHERE ${where}
         ORDER BY created_at DESC, id LIMIT ?3 OFFSET ?4`,
        )
        .bind(organizationId, guardrailId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM guardrail_members WHERE ${where}`).bind(organizationId, guardrailId),
    ]),
  )
}
