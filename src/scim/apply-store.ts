import { isObject } from "../support/text/json.ts"
import type { DirectoryId } from "./directory.ts"

/**
 * Effects of a directory's rows: members, keys and memberships. Statements for the batch of the change that causes
 * them; they read the directory as that change left it, so running them again changes nothing.
 */

const LISTED = "SELECT value FROM json_each(?2)"
/** The affected users: a JSON array of ids, or all of a directory. */
const LISTS = {
  listed: "json_each(?2)",
  directory: "(SELECT id AS value FROM scim_users WHERE directory_id = ?2)",
} as const
const isActive = "EXISTS (SELECT 1 FROM scim_users u WHERE u.organization_id = ?1 AND u.id = j.value AND u.active = 1)"

/**
 * For users that are or were in a directory. Active users are members of the organization; for all others, every key is
 * disabled and every membership ends. An owner stays a member. A user who is active again can sign in to the console;
 * other keys stay disabled. The statement for the keys returns `disabled_hash`.
 */
export function applyUserStatus(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
  now: number,
): D1PreparedStatement[] {
  return applyUsers(db, { kind: "listed", organizationId, of: JSON.stringify(ids), now })
}

/** The same for all users of a directory. */
export function applyDirectory(db: D1Database, { id, organizationId }: DirectoryId, now: number) {
  return applyUsers(db, { kind: "directory", organizationId, of: id, now })
}

function applyUsers(
  db: D1Database,
  { kind, organizationId, of, now }: { kind: keyof typeof LISTS; organizationId: string; of: string; now: number },
): D1PreparedStatement[] {
  const listed = [organizationId, of]
  const list = LISTS[kind]
  // Listed users who are not active in the directory.
  const gone = `(SELECT l.user_id FROM scim_leavers l JOIN ${list} j ON j.value = l.user_id WHERE l.organization_id = ?1)`
  const where = `organization_id = ?1 AND user_id IN ${gone}`
  return [
    db
      .prepare(
        `INSERT INTO scim_leavers (organization_id, user_id, left_at)
         SELECT ?1, j.value, ?3 FROM ${list} j WHERE NOT ${isActive} ON CONFLICT DO NOTHING`,
      )
      .bind(...listed, now),
    // The key of the user's console sessions, which blocks the sign-in, unless it was disabled by hand: that changed
    // its updated_at before or after the user left.
    db
      .prepare(
        `UPDATE api_keys SET disabled = 0, updated_at = ?3 FROM (
           SELECT p.key_hash, l.left_at FROM ${list} j
           CROSS JOIN scim_leavers l ON l.organization_id = ?1 AND l.user_id = j.value
           CROSS JOIN console_people p ON p.organization_id = ?1 AND p.user_id = j.value WHERE ${isActive}) r
         WHERE hash = r.key_hash AND updated_at = r.left_at AND organization_id = ?1 AND disabled = 1
           AND deleted_at IS NULL`,
      )
      .bind(...listed, now),
    db
      .prepare(
        `DELETE FROM scim_leavers WHERE organization_id = ?1
           AND user_id IN (SELECT j.value FROM ${list} j WHERE ${isActive})`,
      )
      .bind(...listed),
    db
      .prepare(
        `UPDATE api_keys SET disabled = 1, updated_at = ?3 WHERE organization_id = ?1 AND creator_user_id IN ${gone}
           AND deleted_at IS NULL AND disabled = 0 RETURNING hash AS disabled_hash`,
      )
      .bind(...listed, now),
    db.prepare(`DELETE FROM oauth_codes WHERE ${where} AND key_hash IS NULL`).bind(...listed),
    db.prepare(`DELETE FROM workspace_members WHERE ${where}`).bind(...listed),
    db.prepare(`DELETE FROM members WHERE ${where} AND role <> 'owner'`).bind(...listed),
    db
      .prepare(
        `INSERT INTO members (organization_id, user_id, role, email, first_name, last_name, source, created_at)
         SELECT organization_id, id, 'member', email, first_name, last_name, 'scim', ?3 FROM scim_users
         WHERE organization_id = ?1 AND id IN (SELECT value FROM ${list}) AND active = 1
         ON CONFLICT (organization_id, user_id) DO UPDATE SET email = excluded.email, first_name = excluded.first_name,
           last_name = excluded.last_name, source = iif(role = 'owner', source, 'scim')`,
      )
      .bind(...listed, now),
    ...applyMemberships(db, { scope: kind === "listed" ? "users" : "directory", organizationId, of, now }),
  ]
}

/** The hashes of keys that the statements of applyUserStatus disabled. */
export function disabledHashes(results: readonly D1Result<unknown>[]): string[] {
  return results.flatMap(({ results: rows }) =>
    rows.flatMap((row) => (isObject(row) && typeof row["disabled_hash"] === "string" ? [row["disabled_hash"]] : [])),
  )
}

/**
 * Which groups give which memberships, one row per mapping: `m` is the mapping, `gm` the membership in its group. The
 * order of the joins is fixed, from users or from workspaces: the planner has no statistics and would try every user of
 * the organization with every mapping.
 */
const giving = `CROSS JOIN workspaces w ON w.id = m.workspace_id AND w.deleted_at IS NULL
  CROSS JOIN scim_users u ON u.organization_id = m.organization_id AND u.id = gm.user_id AND u.active = 1
  CROSS JOIN members p ON p.organization_id = u.organization_id AND p.user_id = u.id`
const FROM_USERS = `scim_group_members gm CROSS JOIN scim_group_mappings m
  ON m.scim_group_id = gm.group_id AND m.organization_id = gm.organization_id ${giving}`
export const FROM_MAPPINGS = `scim_group_mappings m CROSS JOIN scim_group_members gm
  ON gm.group_id = m.scim_group_id AND gm.organization_id = m.organization_id ${giving}`

/** Whether no mapping gives a row of workspace_members. */
export const IS_NOT_MAPPED = `NOT EXISTS (SELECT 1 FROM ${FROM_USERS}
  WHERE gm.organization_id = workspace_members.organization_id AND gm.user_id = workspace_members.user_id
    AND m.workspace_id = workspace_members.workspace_id)`

const conditionsOfUsers = (ids: string) => ({
  memberships: `organization_id = ?1 AND user_id IN (${ids})`,
  mappings: `${FROM_USERS} WHERE gm.organization_id = ?1 AND gm.user_id IN (${ids})`,
})
// The unary plus keeps the planner from using the index of the organization's members.
const conditionsOfWorkspaces = (ids: string) => ({
  memberships: `+organization_id = ?1 AND workspace_id IN (${ids})`,
  mappings: `${FROM_MAPPINGS} WHERE +m.organization_id = ?1 AND m.workspace_id IN (${ids})`,
})

/**
 * Scopes of memberships: of users, of a directory, in workspaces, of members of groups (JSON arrays of ids), or in the
 * workspaces that a group is mapped to.
 */
const SCOPE_CONDITIONS = {
  users: conditionsOfUsers(LISTED),
  directory: conditionsOfUsers("SELECT id FROM scim_users WHERE directory_id = ?2"),
  groups: conditionsOfUsers(`SELECT user_id FROM scim_group_members WHERE group_id IN (${LISTED})`),
  workspaces: conditionsOfWorkspaces(LISTED),
  group: conditionsOfWorkspaces("SELECT workspace_id FROM scim_group_mappings WHERE scim_group_id = ?2"),
} as const

/**
 * Makes the memberships from a directory follow its groups and their mappings; memberships added by hand are unchanged.
 */
export function applyMemberships(
  db: D1Database,
  {
    scope,
    organizationId,
    of,
    now,
  }: { scope: keyof typeof SCOPE_CONDITIONS; organizationId: string; of: string; now: number },
): D1PreparedStatement[] {
  const { memberships, mappings } = SCOPE_CONDITIONS[scope]
  return [
    db
      .prepare(`DELETE FROM workspace_members WHERE source = 'scim' AND ${memberships} AND ${IS_NOT_MAPPED}`)
      .bind(organizationId, of),
    // The highest role of several groups counts; "admin" sorts before "member".
    db
      .prepare(
        `INSERT INTO workspace_members (workspace_id, organization_id, user_id, role, source, created_at)
         SELECT m.workspace_id, m.organization_id, gm.user_id, min(m.role), 'scim', ?3 FROM ${mappings}
         GROUP BY m.workspace_id, gm.user_id ON CONFLICT (workspace_id, user_id, source) DO UPDATE SET role = excluded.role
         WHERE role <> excluded.role`,
      )
      .bind(organizationId, of, now),
  ]
}
