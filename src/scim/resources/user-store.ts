import { columnNames } from "../../support/db.ts"
import { scimUsers } from "../table.ts"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../../audit/store.ts"
import type { DirectoryId } from "../directory.ts"
import type { ResourcePage } from "../schemas.ts"
import { disabledHashes, applyUserStatus } from "../apply-store.ts"
import type { Reference, UserFields, UserRow } from "./user.ts"
import { type Counted, toPage } from "../../support/rows.ts"

const columns = columnNames(scimUsers, ["remote_id"])
const COLUMNS = columns.join(", ")

export async function listUsers(
  db: D1Database,
  { id, organizationId }: DirectoryId,
  { condition, order, limit, offset }: ResourcePage,
): Promise<{ rows: UserRow[]; total: number }> {
  const where = `organization_id = ? AND directory_id = ? AND ${condition.sql}`
  const scope = [organizationId, id, ...condition.values]
  return toPage(
    await db.batch<Counted<UserRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM scim_users WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`)
        .bind(...scope, limit, offset),
      db.prepare(`SELECT count(*) AS total FROM scim_users WHERE ${where}`).bind(...scope),
    ]),
  )
}

export async function findUser(db: D1Database, directory: DirectoryId, id: string): Promise<UserRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM scim_users WHERE organization_id = ? AND id = ? AND directory_id = ?`)
    .bind(directory.organizationId, id, directory.id)
    .first<UserRow>()
  return row ?? undefined
}

/** Whether another user of the directory has the name in one of these spellings. */
export async function isNameTaken(
  db: D1Database,
  { id, organizationId }: DirectoryId,
  { spellings, userId }: { spellings: readonly string[]; userId: string },
): Promise<boolean> {
  const row = await db
    .prepare(
      `SELECT 1 FROM scim_users WHERE organization_id = ? AND directory_id = ? AND id <> ?
         AND lower(user_name) IN (SELECT value FROM json_each(?)) LIMIT 1`,
    )
    .bind(organizationId, id, userId, JSON.stringify(spellings))
    .first()
  return row !== null
}

/** The groups of each of these users. */
export async function findGroupsOf(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, Reference[]>> {
  const { results } = await db
    .prepare(
      `SELECT m.user_id, g.id AS value, g.display_name AS display FROM scim_group_members m
       JOIN scim_groups g ON g.id = m.group_id
       WHERE m.organization_id = ?1 AND m.user_id IN (SELECT value FROM json_each(?2)) ORDER BY g.id`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<Reference & { user_id: string }>()
  const groups = new Map<string, Reference[]>()
  for (const { user_id: id, ...group } of results) groups.set(id, [...(groups.get(id) ?? []), group])
  return groups
}

/** The existing member with this email address, who then belongs to the directory. */
export async function findMemberId(db: D1Database, organizationId: string, email: string): Promise<string | undefined> {
  const row = await db
    .prepare("SELECT user_id FROM members WHERE organization_id = ? AND email = ?")
    .bind(organizationId, email)
    .first<{ user_id: string }>()
  return row?.user_id
}

/** Returns the keys that it disabled. Throws D1's constraint error if the name, user or email is taken. */
export async function insertUser(db: D1Database, row: UserRow, entry: AuditEntry): Promise<string[]> {
  const results = await db.batch([
    db
      .prepare(`INSERT INTO scim_users (${COLUMNS}) VALUES (${columns.map(() => "?").join(", ")})`)
      .bind(...columns.map((column) => row[column])),
    auditStatement(db, entry),
    ...applyUserStatus(db, row.organization_id, [row.id], row.updated_at),
  ])
  return disabledHashes(results)
}

type Written = { row: UserRow | undefined; disabled: string[] }

/** Undefined if the user no longer has the version of `before`. Throws as insertUser does. */
export async function updateUser(
  db: D1Database,
  { before, fields, now, entry }: { before: UserRow; fields: UserFields; now: number; entry: AuditEntry },
): Promise<Written> {
  const results = await db.batch([
    db
      .prepare(
        `UPDATE scim_users SET user_name = ?4, external_id = ?5, active = ?6, email = ?7, first_name = ?8, last_name = ?9,
           attributes = ?10, updated_at = ?11, version = version + 1
         WHERE organization_id = ?1 AND id = ?2 AND version = ?3 RETURNING ${COLUMNS}`,
      )
      .bind(
        before.organization_id,
        before.id,
        before.version,
        fields.user_name,
        fields.external_id,
        fields.active,
        fields.email,
        fields.first_name,
        fields.last_name,
        fields.attributes,
        now,
      ),
    auditIfChanged(db, entry),
    ...applyUserStatus(db, before.organization_id, [before.id], now),
  ])
  return { row: results[0]?.results[0] as UserRow | undefined, disabled: disabledHashes(results) }
}

/** Undefined if the user no longer has the version of `before`; otherwise the keys that it disabled. */
export async function deleteUser(
  db: D1Database,
  before: UserRow,
  now: number,
  entry: AuditEntry,
): Promise<string[] | undefined> {
  const results = await db.batch([
    db
      .prepare(
        `UPDATE scim_groups SET version = version + 1, updated_at = ?3 WHERE organization_id = ?1
           AND id IN (SELECT group_id FROM scim_group_members WHERE organization_id = ?1 AND user_id = ?2)`,
      )
      .bind(before.organization_id, before.id, now),
    db
      .prepare("DELETE FROM scim_users WHERE organization_id = ? AND id = ? AND version = ?")
      .bind(before.organization_id, before.id, before.version),
    auditIfChanged(db, entry),
    ...applyUserStatus(db, before.organization_id, [before.id], now),
  ])
  return results[1]?.meta.changes ? disabledHashes(results) : undefined
}
