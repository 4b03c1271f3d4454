import type { AuditEntry } from "../../audit/entry.ts"
import { auditIfChanged } from "../../audit/store.ts"
import type { WrappedKey } from "../../secrets/data-key.ts"
import { findDataKey } from "../../secrets/store.ts"
import { newId } from "../../support/ids.ts"
import type { PullRow } from "../directory.ts"
import type { Cursor, PulledPage } from "./pull.ts"
import { disabledHashes, applyDirectory } from "../apply-store.ts"
import type { SyncJobRow } from "./sync-job.ts"

/** The directory that the job is reading, otherwise the next one. */
export async function findPullDirectory(db: D1Database, job: SyncJobRow): Promise<PullRow | undefined> {
  const row = await db
    .prepare(
      `SELECT * FROM scim_directories WHERE organization_id = ? AND pull_url IS NOT NULL AND id > ? ORDER BY id LIMIT 1`,
    )
    .bind(job.organization_id, job.position)
    .first<PullRow>()
  return row ?? undefined
}

export function tokenKeyOf(db: D1Database, directory: PullRow): Promise<WrappedKey | undefined> {
  const { organization_id: organizationId, pull_workspace_id: workspaceId } = directory
  return findDataKey(db, { organizationId, workspaceId }, workspaceId)
}

const HERE = "organization_id = ?1 AND id = ?2 AND status = 'running' AND phase = 'pull' AND position = ?3"

/** `until`: the time before which no worker continues the job, if it has to wait. */
export async function moveCursor(db: D1Database, job: SyncJobRow, cursor: Cursor, until?: number): Promise<void> {
  await db
    .prepare(`UPDATE scim_sync_jobs SET pull_cursor = ?4, leased_until = coalesce(?5, leased_until) WHERE ${HERE}`)
    .bind(job.organization_id, job.id, job.position, JSON.stringify(cursor), until ?? null)
    .run()
}

export async function nextPhase(db: D1Database, job: SyncJobRow): Promise<void> {
  await db
    .prepare(`UPDATE scim_sync_jobs SET phase = 'users', position = '' WHERE ${HERE}`)
    .bind(job.organization_id, job.id, job.position)
    .run()
}

/** Deletes what was read of one part, or of a directory that no longer exists. */
export async function dropPulled(db: D1Database, job: SyncJobRow, part?: "users" | "groups"): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM scim_pulled WHERE job_id = ?1 AND (?2 IS NULL OR kind = ?2)").bind(job.id, part ?? null),
    db
      .prepare(`UPDATE scim_sync_jobs SET pull_cursor = NULL WHERE ${HERE} AND ?4`)
      .bind(job.organization_id, job.id, job.position, part === undefined ? 1 : 0),
  ])
}

export async function savePage(
  db: D1Database,
  job: SyncJobRow,
  part: "users" | "groups",
  items: readonly PulledPage[],
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO scim_pulled (job_id, kind, remote_id, new_id, name, external_id, active, email, first_name, last_name,
         attributes, members)
       SELECT ?1, ?2, value ->> 'remote_id', value ->> 'new_id', value ->> 'name', value ->> 'external_id',
         value ->> 'active', value ->> 'email', value ->> 'first_name', value ->> 'last_name', value ->> 'attributes',
         value ->> 'members'
       FROM json_each(?3) WHERE true ON CONFLICT DO NOTHING`,
    )
    .bind(job.id, part, JSON.stringify(items.map((item) => ({ ...item, new_id: newId() }))))
    .run()
}

export async function countPulled(db: D1Database, job: SyncJobRow, part: "users" | "groups"): Promise<number> {
  const row = await db
    .prepare("SELECT count(*) AS count FROM scim_pulled WHERE job_id = ? AND kind = ?")
    .bind(job.id, part)
    .first<{ count: number }>()
  return row?.count ?? 0
}

const missingIn = (table: string, isPresent: string) =>
  `SELECT remote_id AS id FROM ${table} WHERE organization_id = ?1 AND directory_id = ?2 AND ${isPresent}
     AND remote_id > ?4 AND remote_id NOT IN (SELECT remote_id FROM scim_pulled WHERE job_id = ?3 AND kind = ?6)
   ORDER BY remote_id LIMIT ?5`
const MISSING = {
  users: missingIn("scim_users", "active = 1"),
  groups: missingIn("scim_groups", "deleted_at IS NULL"),
} as const

type Position = { job: SyncJobRow; directoryId: string; after: string; limit: number }

/** Active users or groups of the directory that were not read, by their ids at the service. */
export async function findMissing(
  db: D1Database,
  kind: "users" | "groups",
  { job, directoryId, after, limit }: Position,
): Promise<string[]> {
  const { results } = await db
    .prepare(MISSING[kind])
    .bind(job.organization_id, directoryId, job.id, after, limit, kind)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** Groups that were listed without members. */
export async function findWithoutMembers(db: D1Database, { job, after, limit }: Position): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT remote_id AS id FROM scim_pulled WHERE job_id = ? AND kind = 'groups' AND members IS NULL
         AND remote_id > ? ORDER BY remote_id LIMIT ?`,
    )
    .bind(job.id, after, limit)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

export async function saveMembers(
  db: D1Database,
  job: SyncJobRow,
  read: readonly { id: string; members: string }[],
): Promise<void> {
  if (read.length === 0) return
  await db
    .prepare(
      `UPDATE scim_pulled SET members = r.value ->> 'members' FROM json_each(?2) r
       WHERE job_id = ?1 AND kind = 'groups' AND remote_id = r.value ->> 'id'`,
    )
    .bind(job.id, JSON.stringify(read))
    .run()
}

/** A second run of the same step, by a worker whose lease expired, finds the job advanced and changes nothing. */
const GUARD = `EXISTS (SELECT 1 FROM scim_sync_jobs j WHERE j.organization_id = ?1 AND j.id = ?3 AND j.status = 'running'
  AND j.phase = 'pull' AND j.position < ?2 AND j.pull_cursor IS NOT NULL)`
const MINE = "organization_id = ?1 AND directory_id = ?2"
const READ_USERS = "SELECT remote_id FROM scim_pulled WHERE job_id = ?3 AND kind = 'users'"
const READ_GROUPS = "SELECT remote_id FROM scim_pulled WHERE job_id = ?3 AND kind = 'groups'"
const USER_FIELDS = "external_id, active, email, first_name, last_name, attributes"
const fieldsOf = (table: string) => USER_FIELDS.split(", ").map((field) => `${table}.${field}`)
const IS_OTHER = `(${["name", ...USER_FIELDS.split(", ")]
  .map((field) => `p.${field} IS NOT scim_users.${field === "name" ? "user_name" : field}`)
  .join(" OR ")})`
const READ_AS = `p.job_id = ?3 AND p.kind = 'users' AND p.remote_id = scim_users.remote_id`

/** In this order, so that names that move between users are free in between. */
const USERS = [
  // A user who was deleted and created again has the same name and stays the same user here.
  `UPDATE scim_users SET remote_id = p.remote_id FROM scim_pulled p WHERE ${MINE} AND p.job_id = ?3 AND p.kind = 'users'
     AND lower(p.name) = lower(scim_users.user_name) AND scim_users.remote_id NOT IN (${READ_USERS})
     AND p.remote_id NOT IN (SELECT remote_id FROM scim_users WHERE ${MINE}) AND ${GUARD}`,
  `UPDATE scim_users SET active = 0, attributes = json_set(attributes, '$.active', json('false')), version = version + 1,
     updated_at = ?4 WHERE ${MINE} AND active = 1 AND remote_id NOT IN (${READ_USERS}) AND ${GUARD}`,
  `UPDATE scim_users SET user_name = ': ' || id FROM scim_pulled p WHERE ${MINE} AND ${READ_AS}
     AND p.name <> scim_users.user_name AND ${GUARD}`,
  `UPDATE scim_users SET user_name = p.name, ${fieldsOf("p")
    .map((field) => `${field.slice(2)} = ${field}`)
    .join(", ")}, version = version + 1, updated_at = ?4
   FROM scim_pulled p WHERE ${MINE} AND ${READ_AS} AND ${IS_OTHER} AND ${GUARD}`,
  // The existing member with this email address, who may have joined before the directory.
  `INSERT INTO scim_users (organization_id, id, directory_id, remote_id, user_name, ${USER_FIELDS}, created_at, updated_at)
   SELECT ?1, coalesce((SELECT m.user_id FROM members m WHERE m.organization_id = ?1 AND m.email = p.email
       AND NOT EXISTS (SELECT 1 FROM scim_users s WHERE s.organization_id = ?1 AND s.id = m.user_id)), p.new_id),
     ?2, p.remote_id, p.name, ${fieldsOf("p").join(", ")}, ?4, ?4
   FROM scim_pulled p WHERE p.job_id = ?3 AND p.kind = 'users'
     AND p.remote_id NOT IN (SELECT remote_id FROM scim_users WHERE ${MINE}) AND ${GUARD}`,
]

const LIVE_GROUPS = `SELECT id FROM scim_groups WHERE ${MINE} AND deleted_at IS NULL`
const READ_MEMBERS = `SELECT g.id AS group_id, u.id AS user_id FROM scim_pulled p JOIN json_each(p.members) m
  CROSS JOIN scim_groups g ON g.directory_id = ?2 AND g.remote_id = p.remote_id AND g.deleted_at IS NULL
  CROSS JOIN scim_users u ON u.directory_id = ?2 AND u.remote_id = m.value
  WHERE p.job_id = ?3 AND p.kind = 'groups'`

const GROUPS = [
  `UPDATE scim_groups SET deleted_at = ?4, stamp = ?3 WHERE ${MINE} AND deleted_at IS NULL
     AND remote_id NOT IN (${READ_GROUPS}) AND ${GUARD}`,
  `DELETE FROM scim_group_members WHERE group_id IN (SELECT id FROM scim_groups WHERE ${MINE} AND deleted_at IS NOT NULL)
     AND ${GUARD}`,
  `DELETE FROM scim_group_mappings WHERE scim_group_id IN (SELECT id FROM scim_groups WHERE ${MINE}
     AND deleted_at IS NOT NULL) AND ${GUARD}`,
  `UPDATE scim_groups SET display_name = p.name, external_id = p.external_id, version = version + 1, updated_at = ?4
   FROM scim_pulled p WHERE ${MINE} AND p.job_id = ?3 AND p.kind = 'groups' AND p.remote_id = scim_groups.remote_id
     AND scim_groups.deleted_at IS NULL
     AND (p.name <> scim_groups.display_name OR p.external_id IS NOT scim_groups.external_id) AND ${GUARD}`,
  `INSERT INTO scim_groups (id, organization_id, directory_id, remote_id, display_name, external_id, stamp, created_at,
     updated_at)
   SELECT p.new_id, ?1, ?2, p.remote_id, p.name, p.external_id, ?3, ?4, ?4 FROM scim_pulled p
   WHERE p.job_id = ?3 AND p.kind = 'groups'
     AND p.remote_id NOT IN (SELECT remote_id FROM scim_groups WHERE ${MINE} AND deleted_at IS NULL) AND ${GUARD}`,
  `DELETE FROM scim_group_members WHERE group_id IN (${LIVE_GROUPS}) AND (group_id, user_id) NOT IN (${READ_MEMBERS})
     AND ${GUARD}`,
  `INSERT INTO scim_group_members (group_id, user_id, organization_id) SELECT group_id, user_id, ?1
   FROM (${READ_MEMBERS}) WHERE ${GUARD}
   ON CONFLICT DO NOTHING`,
]

/** Frees email addresses that move between users. */
const FREE_ADDRESSES = `UPDATE members SET email = NULL WHERE organization_id = ?1 AND user_id IN (SELECT s.id FROM scim_users s
  WHERE s.organization_id = ?1 AND s.directory_id = ?2 AND s.email IS NOT members.email) AND ${GUARD}`

/** Applies everything that was read, with its effects, in one transaction. Returns the keys that it disabled. */
export async function applyPull(
  db: D1Database,
  { job, directoryId, now, entry }: { job: SyncJobRow; directoryId: string; now: number; entry: AuditEntry },
): Promise<string[]> {
  const bound = [job.organization_id, directoryId, job.id, now]
  const results = await db.batch([
    ...[...USERS, ...GROUPS, FREE_ADDRESSES].map((sql) => {
      const parameterCount = Math.max(...[...sql.matchAll(/\?(\d)/g)].map(([, number]) => Number(number)))
      return db.prepare(sql).bind(...bound.slice(0, parameterCount))
    }),
    ...applyDirectory(db, { id: directoryId, organizationId: job.organization_id }, now),
    db.prepare("DELETE FROM scim_pulled WHERE job_id = ?").bind(job.id),
    db
      .prepare(`UPDATE scim_sync_jobs SET position = ?4, pull_cursor = NULL WHERE ${HERE} AND pull_cursor IS NOT NULL`)
      .bind(job.organization_id, job.id, job.position, directoryId),
    auditIfChanged(db, entry),
  ])
  return disabledHashes(results)
}
