import { and, count, desc, eq, ne, not, type SQL, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Page, Search } from "../http/schema.ts"
import { containsText, openDb, readColumns, type StoredRow, toStatement } from "../support/db.ts"
import { type Counted, toCountedPage, toPage } from "../support/rows.ts"
import { toStoredRole, type WorkspaceMemberRow } from "./member.ts"
import type { MemberChange } from "./schemas.ts"
import {
  type MemberRow,
  members,
  type NewMemberRow,
  scimLeavers,
  type WorkspaceRole,
  workspaceMembers,
} from "./table.ts"

const isMember = (organizationId: string, userId: string) =>
  and(eq(members.organizationId, organizationId), eq(members.userId, userId))

/** Newest first. */
export async function listMembers(
  binding: D1Database,
  organizationId: string,
  page: Page & Search,
): Promise<{ rows: MemberRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(
    eq(members.organizationId, organizationId),
    containsText(page.q, [
      sql`coalesce(${members.firstName}, '') || ' ' || coalesce(${members.lastName}, '')`,
      members.email,
      members.userId,
    ]),
  )
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(members)
        .where(where)
        .orderBy(desc(members.createdAt), members.userId)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(members).where(where),
    ]),
  )
}

export async function findMember(
  db: D1Database,
  organizationId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  const [row] = await openDb(db).select().from(members).where(isMember(organizationId, userId))
  return row
}

/** Throws D1's constraint error if the id or the email is taken. */
export async function insertMember(binding: D1Database, row: NewMemberRow, entry: AuditEntry): Promise<MemberRow> {
  const db = openDb(binding)
  const [[inserted]] = await db.batch([
    db.insert(members).values(row).returning(),
    auditStatement(db, entry),
    // A member whom a directory deprovisioned is added again manually.
    db
      .delete(scimLeavers)
      .where(and(eq(scimLeavers.organizationId, row.organizationId), eq(scimLeavers.userId, row.userId))),
  ])
  if (!inserted) throw new Error("An inserted row was not returned.")
  return inserted
}

/** The role in a workspace of a member with this role in the organization. */
const workspaceRole = (role: typeof members.role) => sql<WorkspaceRole>`iif(${role} = 'member', 'member', 'admin')`

type MemberUpdate = {
  organizationId: string
  userId: string
  change: MemberChange
  entry: AuditEntry
}

/** Only for a member whom no directory manages; an owner stays one. The role in workspaces follows the one here. */
export async function updateMember(
  binding: D1Database,
  { organizationId, userId, change, entry }: MemberUpdate,
): Promise<MemberRow | undefined> {
  const db = openDb(binding)
  const role = change.role && toStoredRole(change.role)
  const newRole = sql`SELECT ${workspaceRole(members.role)} FROM ${members} WHERE ${isMember(organizationId, userId)}`
  const [updated] = await db.batch([
    db
      .update(members)
      .set({
        email: change.email?.toLowerCase(),
        firstName: change.first_name,
        lastName: change.last_name,
        role: sql`iif(${members.role} = 'owner', ${members.role}, coalesce(${role ?? null}, ${members.role}))`,
      })
      .where(and(isMember(organizationId, userId), eq(members.source, "manual")))
      .returning(),
    auditIfChanged(db, entry),
    db
      .update(workspaceMembers)
      .set({ role: sql`(${newRole})` })
      .where(
        and(
          eq(workspaceMembers.organizationId, organizationId),
          eq(workspaceMembers.userId, userId),
          eq(workspaceMembers.source, "manual"),
          role === undefined ? sql`FALSE` : undefined,
        ),
      ),
  ])
  return updated[0]
}

/** The database also deletes memberships in workspaces. Deletes neither an owner nor a member of a directory. */
export async function deleteMember(
  binding: D1Database,
  organizationId: string,
  userId: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db
      .delete(members)
      .where(and(isMember(organizationId, userId), ne(members.role, "owner"), eq(members.source, "manual"))),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

const isInWorkspace = (organizationId: string, workspaceId: string) =>
  and(eq(workspaceMembers.organizationId, organizationId), eq(workspaceMembers.workspaceId, workspaceId))

/**
 * A workspace has its added members, the default workspace all of the organization. Someone who was added both by hand
 * and by a group has the higher role: "admin" sorts before "member".
 */
function peopleOf(organizationId: string, workspaceId: string): SQL {
  return sql`SELECT user_id, min(role) AS role, min(created_at) AS created_at FROM (
    SELECT user_id, role, created_at FROM ${workspaceMembers} WHERE ${isInWorkspace(organizationId, workspaceId)}
    UNION ALL SELECT user_id, ${workspaceRole(members.role)}, created_at FROM ${members}
    WHERE ${members.organizationId} = ${organizationId}
      AND EXISTS (SELECT 1 FROM workspaces WHERE id = ${workspaceId} AND is_default = 1)) GROUP BY user_id`
}

const personColumns = {
  userId: workspaceMembers.userId,
  role: workspaceMembers.role,
  createdAt: workspaceMembers.createdAt,
}

/** Newest first. */
export async function listWorkspaceMembers(
  binding: D1Database,
  organizationId: string,
  workspaceId: string,
  page: Page,
): Promise<{ rows: WorkspaceMemberRow[]; total: number }> {
  const people = peopleOf(organizationId, workspaceId)
  const { rows, total } = toPage(
    await binding.batch<Counted<StoredRow>>([
      toStatement(binding, sql`${people} ORDER BY created_at DESC, user_id LIMIT ${page.limit} OFFSET ${page.offset}`),
      toStatement(binding, sql`SELECT count(*) AS total FROM (${people})`),
    ]),
  )
  return { rows: rows.map((row) => readColumns(personColumns, row)), total }
}

/** The ids that are not members of the organization. */
export async function findNonMembers(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await openDb(db).all<{ id: string }>(
    sql`SELECT value AS id FROM json_each(${JSON.stringify(ids)})
      WHERE value NOT IN (SELECT ${members.userId} FROM ${members} WHERE ${members.organizationId} = ${organizationId})
      ORDER BY key`,
  )
  return rows.map(({ id }) => id)
}

const isOneOf = (column: typeof members.userId | typeof workspaceMembers.userId, ids: readonly string[]) =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`

type WorkspaceMembersChange = {
  organizationId: string
  workspaceId: string
  ids: readonly string[]
  now: number
  entry: AuditEntry
}

/** Adds those who are not in the workspace yet, with their role in the organization. Returns the added ones. */
export async function insertWorkspaceMembers(
  binding: D1Database,
  { organizationId, workspaceId, ids, now, entry }: WorkspaceMembersChange,
): Promise<WorkspaceMemberRow[]> {
  const db = openDb(binding)
  const [inserted] = await db.batch([
    db
      .insert(workspaceMembers)
      .select(
        sql`SELECT w.id, ${members.organizationId}, ${members.userId}, ${workspaceRole(members.role)}, 'manual', ${now}
          FROM ${members} JOIN workspaces w ON w.organization_id = ${members.organizationId} AND w.id = ${workspaceId}
            AND w.deleted_at IS NULL AND w.is_default = 0
          WHERE ${members.organizationId} = ${organizationId} AND ${isOneOf(members.userId, ids)}`,
      )
      .onConflictDoNothing()
      .returning(personColumns),
    auditIfChanged(db, entry),
  ])
  return inserted
}

const isBound = (organizationId: string, workspaceId: string, now: number) =>
  sql`(${workspaceMembers.source} = 'scim' OR EXISTS (SELECT 1 FROM api_keys k
    WHERE k.organization_id = ${organizationId} AND k.workspace_id = ${workspaceId}
      AND k.creator_user_id = ${workspaceMembers.userId} AND k.deleted_at IS NULL AND k.disabled = 0
      AND (k.expires_at IS NULL OR k.expires_at > ${now})))`

type BoundMembersQuery = {
  organizationId: string
  workspaceId: string
  ids: readonly string[]
  now: number
}

/** The ids that cannot be removed, because of the directory or of keys in the workspace. */
export async function findBoundMembers(db: D1Database, { organizationId, workspaceId, ids, now }: BoundMembersQuery) {
  return openDb(db)
    .select({ userId: workspaceMembers.userId, source: workspaceMembers.source })
    .from(workspaceMembers)
    .where(
      and(
        isInWorkspace(organizationId, workspaceId),
        isOneOf(workspaceMembers.userId, ids),
        isBound(organizationId, workspaceId, now),
      ),
    )
    .orderBy(desc(workspaceMembers.source), workspaceMembers.userId)
}

/** Removes the members among these ids that are not bound. Returns how many. */
export async function deleteWorkspaceMembers(
  binding: D1Database,
  { organizationId, workspaceId, ids, now, entry }: WorkspaceMembersChange,
): Promise<number> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db
      .delete(workspaceMembers)
      .where(
        and(
          isInWorkspace(organizationId, workspaceId),
          isOneOf(workspaceMembers.userId, ids),
          not(isBound(organizationId, workspaceId, now)),
        ),
      ),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes
}
