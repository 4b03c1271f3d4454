import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import { type MemberRow, toStoredRole, type WorkspaceMemberRow } from "./member.ts"
import type { MemberChange } from "./schemas.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS = "organization_id, user_id, role, email, first_name, last_name, source, created_at"
const columns = COLUMNS.split(", ") as (keyof MemberRow)[]

/** Newest first. */
export async function listMembers(
  db: D1Database,
  organizationId: string,
  page: Page,
): Promise<{ rows: MemberRow[]; total: number }> {
  const where = "organization_id = ?"
  return toPage(
    await db.batch<Counted<MemberRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM members WHERE ${where} ORDER BY created_at DESC, user_id LIMIT ? OFFSET ?`)
        .bind(organizationId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM members WHERE ${where}`).bind(organizationId),
    ]),
  )
}

export async function findMember(
  db: D1Database,
  organizationId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM members WHERE organization_id = ? AND user_id = ?`)
    .bind(organizationId, userId)
    .first<MemberRow>()
  return row ?? undefined
}

/** Rejects with D1's own error where the id or the email is taken. */
export async function insertMember(db: D1Database, row: MemberRow, entry: AuditEntry): Promise<void> {
  await db.batch([
    db
      .prepare(`INSERT INTO members (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
      .bind(...columns.map((column) => row[column])),
    auditStatement(db, entry),
    // Whom a directory took out is back by hand.
    db
      .prepare("DELETE FROM scim_leavers WHERE organization_id = ? AND user_id = ?")
      .bind(row.organization_id, row.user_id),
  ])
}

/** Of a member whom no directory manages; an owner stays one. The role in workspaces follows the one here. */
export async function updateMember(
  db: D1Database,
  organizationId: string,
  userId: string,
  change: MemberChange,
  entry: AuditEntry,
): Promise<MemberRow | undefined> {
  const role = change.role && toStoredRole(change.role)
  const [updated] = await db.batch<MemberRow>([
    db
      .prepare(
        `UPDATE members SET email = coalesce(?3, email), first_name = iif(?4, ?5, first_name),
           last_name = iif(?6, ?7, last_name), role = iif(role = 'owner', role, coalesce(?8, role))
         WHERE organization_id = ?1 AND user_id = ?2 AND source = 'manual' RETURNING ${COLUMNS}`,
      )
      .bind(
        organizationId,
        userId,
        change.email?.toLowerCase() ?? null,
        change.first_name === undefined ? 0 : 1,
        change.first_name ?? null,
        change.last_name === undefined ? 0 : 1,
        change.last_name ?? null,
        role ?? null,
      ),
    auditIfChanged(db, entry),
    db
      .prepare(
        `UPDATE workspace_members SET role = (SELECT iif(m.role = 'member', 'member', 'admin') FROM members m
           WHERE m.organization_id = ?1 AND m.user_id = ?2)
         WHERE organization_id = ?1 AND user_id = ?2 AND source = 'manual' AND ?3`,
      )
      .bind(organizationId, userId, role === undefined ? 0 : 1),
  ])
  return updated?.results[0]
}

/** With the memberships in workspaces, which the database takes along. Neither an owner nor one of the directory's. */
export async function deleteMember(
  db: D1Database,
  organizationId: string,
  userId: string,
  entry: AuditEntry,
): Promise<boolean> {
  const [deleted] = await db.batch([
    db
      .prepare(
        "DELETE FROM members WHERE organization_id = ? AND user_id = ? AND role <> 'owner' AND source = 'manual'",
      )
      .bind(organizationId, userId),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

const IN_WORKSPACE = "organization_id = ?1 AND workspace_id = ?2"
/**
 * A workspace has those it was given, the default workspace all of the organization. Who is there by hand and by a group
 * of the directory has the higher of the roles: admin is before member in the alphabet.
 */
const PEOPLE = `SELECT user_id, min(role) AS role, min(created_at) AS created_at FROM (
  SELECT user_id, role, created_at FROM workspace_members WHERE ${IN_WORKSPACE}
  UNION ALL SELECT user_id, iif(role = 'member', 'member', 'admin'), created_at FROM members
  WHERE organization_id = ?1 AND EXISTS (SELECT 1 FROM workspaces WHERE id = ?2 AND is_default = 1)) GROUP BY user_id`

/** Newest first. */
export async function listWorkspaceMembers(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
  page: Page,
): Promise<{ rows: WorkspaceMemberRow[]; total: number }> {
  return toPage(
    await db.batch<Counted<WorkspaceMemberRow>>([
      db
        .prepare(`${PEOPLE} ORDER BY created_at DESC, user_id LIMIT ?3 OFFSET ?4`)
        .bind(organizationId, workspaceId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM (${PEOPLE})`).bind(organizationId, workspaceId),
    ]),
  )
}

/** Those of the ids who are no members of the organization. */
export async function findStrangers(db: D1Database, organizationId: string, ids: readonly string[]): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT value AS id FROM json_each(?2)
       WHERE value NOT IN (SELECT user_id FROM members WHERE organization_id = ?1) ORDER BY key`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** Adds those who are not in the workspace yet, in the role that they have in the organization. Returns whom it added. */
export async function insertWorkspaceMembers(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
  ids: readonly string[],
  now: number,
  entry: AuditEntry,
): Promise<WorkspaceMemberRow[]> {
  const [inserted] = await db.batch<WorkspaceMemberRow>([
    db
      .prepare(
        `INSERT INTO workspace_members (workspace_id, organization_id, user_id, role, created_at)
         SELECT w.id, m.organization_id, m.user_id, iif(m.role = 'member', 'member', 'admin'), ?4
         FROM members m JOIN workspaces w ON w.organization_id = m.organization_id AND w.id = ?2
           AND w.deleted_at IS NULL AND w.is_default = 0
         WHERE m.organization_id = ?1 AND m.user_id IN (SELECT value FROM json_each(?3))
         ON CONFLICT DO NOTHING RETURNING user_id, role, created_at`,
      )
      .bind(organizationId, workspaceId, JSON.stringify(ids), now),
    auditIfChanged(db, entry),
  ])
  return inserted?.results ?? []
}

const BOUND = `source = 'scim' OR EXISTS (SELECT 1 FROM api_keys k WHERE k.organization_id = ?1 AND k.workspace_id = ?2
  AND k.creator_user_id = workspace_members.user_id AND k.deleted_at IS NULL AND k.disabled = 0
  AND (k.expires_at IS NULL OR k.expires_at > ?4))`

/** Those of the ids whom the directory keeps in the workspace, or their keys do. */
export async function findBoundMembers(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
  ids: readonly string[],
  now: number,
): Promise<{ user_id: string; source: "manual" | "scim" }[]> {
  const { results } = await db
    .prepare(
      `SELECT user_id, source FROM workspace_members
       WHERE ${IN_WORKSPACE} AND user_id IN (SELECT value FROM json_each(?3)) AND (${BOUND})
       ORDER BY source DESC, user_id`,
    )
    .bind(organizationId, workspaceId, JSON.stringify(ids), now)
    .all<{ user_id: string; source: "manual" | "scim" }>()
  return results
}

/** Removes those of the ids who are there and not bound. Returns how many. */
export async function deleteWorkspaceMembers(
  db: D1Database,
  organizationId: string,
  workspaceId: string,
  ids: readonly string[],
  now: number,
  entry: AuditEntry,
): Promise<number> {
  const [deleted] = await db.batch([
    db
      .prepare(
        `DELETE FROM workspace_members
         WHERE ${IN_WORKSPACE} AND user_id IN (SELECT value FROM json_each(?3)) AND NOT (${BOUND})`,
      )
      .bind(organizationId, workspaceId, JSON.stringify(ids), now),
    auditIfChanged(db, entry),
  ])
  return deleted?.meta.changes ?? 0
}
