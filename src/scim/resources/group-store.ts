import { columnNames } from "../../support/db.ts"
import { scimGroups } from "../table.ts"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../../audit/store.ts"
import type { DirectoryId } from "../directory.ts"
import type { GroupChange, GroupRow } from "./group.ts"
import type { ResourcePage } from "../schemas.ts"
import { applyMemberships } from "../apply-store.ts"
import type { Reference } from "./user.ts"
import { type Counted, toPage } from "../../support/rows.ts"

const columns = columnNames(scimGroups, ["deleted_at", "remote_id"])
const COLUMNS = columns.join(", ")
const SIZE = "(SELECT count(*) FROM scim_group_members m WHERE m.group_id = scim_groups.id) AS size"

type SizedRow = GroupRow & { size: number }

export async function listGroups(
  db: D1Database,
  { id, organizationId }: DirectoryId,
  { condition, order, limit, offset }: ResourcePage,
): Promise<{ rows: SizedRow[]; total: number }> {
  const where = `organization_id = ? AND directory_id = ? AND deleted_at IS NULL AND ${condition.sql}`
  const scope = [organizationId, id, ...condition.values]
  return toPage(
    await db.batch<Counted<SizedRow>>([
      db
        .prepare(`SELECT ${COLUMNS}, ${SIZE} FROM scim_groups WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`)
        .bind(...scope, limit, offset),
      db.prepare(`SELECT count(*) AS total FROM scim_groups WHERE ${where}`).bind(...scope),
    ]),
  )
}

export async function findGroup(db: D1Database, directory: DirectoryId, id: string): Promise<GroupRow | undefined> {
  const where = "organization_id = ? AND directory_id = ? AND id = ? AND deleted_at IS NULL"
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM scim_groups WHERE ${where}`)
    .bind(directory.organizationId, directory.id, id)
    .first<GroupRow>()
  return row ?? undefined
}

/** The members of each of these groups. */
export async function findMembersOf(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, Reference[]>> {
  const { results } = await db
    .prepare(
      `SELECT m.group_id, u.id AS value, u.user_name AS display FROM scim_group_members m
       JOIN scim_users u ON u.organization_id = m.organization_id AND u.id = m.user_id
       WHERE m.organization_id = ?1 AND m.group_id IN (SELECT value FROM json_each(?2)) ORDER BY m.group_id, u.id`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<Reference & { group_id: string }>()
  const members = new Map<string, Reference[]>()
  for (const { group_id: id, ...member } of results) {
    const groupMembers = members.get(id)
    if (groupMembers) groupMembers.push(member)
    else members.set(id, [member])
  }
  return members
}

/** The ids that are not users of the directory. */
export async function findUnknownUsers(
  db: D1Database,
  { id, organizationId }: DirectoryId,
  ids: readonly string[],
): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT value AS id FROM json_each(?3) WHERE value NOT IN
         (SELECT id FROM scim_users WHERE organization_id = ?1 AND directory_id = ?2) ORDER BY key LIMIT 5`,
    )
    .bind(organizationId, id, JSON.stringify(ids))
    .all<{ id: string }>()
  return results.map((row) => row.id)
}

/** Writes the members of a change, if the write with this stamp was made. */
function memberStatements(
  db: D1Database,
  {
    directory,
    groupId,
    stamp,
    members: { replacesAll, added, removed },
  }: { directory: DirectoryId; groupId: string; stamp: string; members: GroupChange["members"] },
): D1PreparedStatement[] {
  const where = "EXISTS (SELECT 1 FROM scim_groups WHERE id = ?1 AND stamp = ?2)"
  const addedIds = JSON.stringify([...added])
  return [
    db
      .prepare(
        `DELETE FROM scim_group_members WHERE group_id = ?1 AND (user_id IN (SELECT value FROM json_each(?3))
           OR ?4 AND user_id NOT IN (SELECT value FROM json_each(?5))) AND ${where}`,
      )
      .bind(groupId, stamp, JSON.stringify([...removed]), replacesAll ? 1 : 0, addedIds),
    db
      .prepare(
        `INSERT INTO scim_group_members (group_id, organization_id, user_id)
         SELECT ?1, organization_id, id FROM scim_users WHERE organization_id = ?4 AND directory_id = ?5
           AND id IN (SELECT value FROM json_each(?3)) AND ${where} ON CONFLICT DO NOTHING`,
      )
      .bind(groupId, stamp, addedIds, directory.organizationId, directory.id),
  ]
}

export async function insertGroup(
  db: D1Database,
  row: GroupRow,
  members: GroupChange["members"],
  entry: AuditEntry,
): Promise<void> {
  const directory = { id: row.directory_id, organizationId: row.organization_id }
  await db.batch([
    db
      .prepare(`INSERT INTO scim_groups (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
      .bind(...columns.map((column) => row[column])),
    auditStatement(db, entry),
    ...memberStatements(db, { directory, groupId: row.id, stamp: row.stamp, members }),
  ])
}

/** Undefined if there is no such group, or not with this version. */
export async function updateGroup(
  db: D1Database,
  {
    directory,
    id,
    change,
    write,
    entry,
  }: {
    directory: DirectoryId
    id: string
    change: GroupChange
    write: { version: number | undefined; stamp: string; now: number }
    entry: AuditEntry
  },
): Promise<GroupRow | undefined> {
  const [updated] = await db.batch([
    db
      .prepare(
        `UPDATE scim_groups SET display_name = coalesce(?4, display_name), external_id = iif(?5, ?6, external_id),
           version = version + 1, stamp = ?7, updated_at = ?8
         WHERE organization_id = ?1 AND directory_id = ?2 AND id = ?3 AND deleted_at IS NULL
           AND (?9 IS NULL OR version = ?9) RETURNING ${COLUMNS}`,
      )
      .bind(
        directory.organizationId,
        directory.id,
        id,
        change.displayName ?? null,
        change.externalId === undefined ? 0 : 1,
        change.externalId ?? null,
        write.stamp,
        write.now,
        write.version ?? null,
      ),
    auditIfChanged(db, entry),
    ...memberStatements(db, { directory, groupId: id, stamp: write.stamp, members: change.members }),
    ...applyMemberships(db, { scope: "group", organizationId: directory.organizationId, of: id, now: write.now }),
  ])
  return updated?.results[0] as GroupRow | undefined
}

/**
 * Deletes the group with its mappings and their memberships. False if there is no such group, or not with this version.
 */
export async function deleteGroup(
  db: D1Database,
  {
    directory,
    id,
    write,
    entry,
  }: {
    directory: DirectoryId
    id: string
    write: { version: number | undefined; stamp: string; now: number }
    entry: AuditEntry
  },
): Promise<boolean> {
  const where = "EXISTS (SELECT 1 FROM scim_groups WHERE id = ?1 AND stamp = ?2)"
  const [deleted] = await db.batch([
    db
      .prepare(
        `UPDATE scim_groups SET deleted_at = ?4, stamp = ?5 WHERE organization_id = ?1 AND directory_id = ?2 AND id = ?3
           AND deleted_at IS NULL AND (?6 IS NULL OR version = ?6)`,
      )
      .bind(directory.organizationId, directory.id, id, write.now, write.stamp, write.version ?? null),
    auditIfChanged(db, entry),
    db.prepare(`DELETE FROM scim_group_members WHERE group_id = ?1 AND ${where}`).bind(id, write.stamp),
    ...applyMemberships(db, { scope: "group", organizationId: directory.organizationId, of: id, now: write.now }),
    db.prepare(`DELETE FROM scim_group_mappings WHERE scim_group_id = ?1 AND ${where}`).bind(id, write.stamp),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}
