import { columnNames } from "../../support/db.ts"
import { scimSyncJobs } from "../table.ts"
import type { AuditEntry } from "../../audit/entry.ts"
import { auditStatement } from "../../audit/store.ts"
import { disabledHashes, IS_NOT_MAPPED, applyMemberships, applyUserStatus } from "../apply-store.ts"
import type { SyncJobRow } from "./sync-job.ts"

const columns = columnNames(scimSyncJobs)
const COLUMNS = columns.join(", ")

/** Items of one step: each is a list of ids in one parameter, and a fraction of a second of database time. */
const STEP = { users: 500, groups: 50 } as const
/** Jobs that one run of the cron trigger continues. */
const MAX_RESUMED = 20

export async function insertSyncJob(
  db: D1Database,
  { id, organizationId, now }: { id: string; organizationId: string; now: number },
  entry: AuditEntry,
): Promise<SyncJobRow | undefined> {
  const [inserted] = await db.batch<SyncJobRow>([
    db
      .prepare(
        `INSERT INTO scim_sync_jobs (id, organization_id, status, phase, position, created_at)
         VALUES (?, ?, 'queued', 'pull', '', ?) RETURNING ${COLUMNS}`,
      )
      .bind(id, organizationId, now),
    auditStatement(db, entry),
  ])
  return inserted?.results[0]
}

export async function findSyncJob(db: D1Database, organizationId: string, id: string): Promise<SyncJobRow | undefined> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM scim_sync_jobs WHERE organization_id = ? AND id = ?`)
    .bind(organizationId, id)
    .first<SyncJobRow>()
  return row ?? undefined
}

/** Jobs of all organizations that no worker has leased. */
export async function findOpenSyncJobs(db: D1Database, now: number): Promise<SyncJobRow[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM scim_sync_jobs WHERE status IN ('queued', 'running') AND leased_until <= ?
       ORDER BY created_at LIMIT ?`,
    )
    .bind(now, MAX_RESUMED)
    .all<SyncJobRow>()
  return results
}

/**
 * Leases the job, or the oldest open one before it, to one worker: the holder of the lease (`held`) can renew it, others
 * take it after it has expired. One after the other, so that a job that waited never applies an older state of a directory
 * than a later job did.
 */
export async function leaseSyncJob(
  db: D1Database,
  {
    organizationId,
    id,
    now,
    held,
    leaseMs,
  }: { organizationId: string; id: string; now: number; held: number; leaseMs: number },
): Promise<SyncJobRow | undefined> {
  const row = await db
    .prepare(
      `UPDATE scim_sync_jobs SET status = 'running', started_at = coalesce(started_at, ?3), leased_until = ?3 + ?5
       WHERE organization_id = ?1 AND (leased_until <= ?3 OR leased_until = ?4) AND id = (
         SELECT o.id FROM scim_sync_jobs o JOIN scim_sync_jobs j ON j.organization_id = ?1 AND j.id = ?2
         WHERE o.organization_id = ?1 AND o.status IN ('queued', 'running')
           AND (o.created_at, o.id) <= (j.created_at, j.id) ORDER BY o.created_at, o.id LIMIT 1) RETURNING ${COLUMNS}`,
    )
    .bind(organizationId, id, now, held, leaseMs)
    .first<SyncJobRow>()
  return row ?? undefined
}

/** The next ids of a table, and the statement that moves the job to the last of them, or to the next phase. */
async function nextIds(
  db: D1Database,
  job: SyncJobRow,
  table: "users" | "groups",
): Promise<{ ids: string[]; isLast: boolean }> {
  const page =
    table === "users"
      ? db.prepare("SELECT id FROM scim_users WHERE organization_id = ? AND id > ? ORDER BY id LIMIT ?")
      : db.prepare(
          "SELECT id FROM scim_groups WHERE organization_id = ? AND id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?",
        )
  const { results } = await page.bind(job.organization_id, job.position, STEP[table]).all<{ id: string }>()
  return { ids: results.map(({ id }) => id), isLast: results.length < STEP[table] }
}

/** Moves a job only if it is still where this step began, so that a repeated step counts once. */
function move(
  db: D1Database,
  job: SyncJobRow,
  to: Pick<SyncJobRow, "phase" | "position" | "synced_groups">,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE scim_sync_jobs SET phase = ?5, position = ?6, synced_groups = ?7
       WHERE organization_id = ?1 AND id = ?2 AND phase = ?3 AND position = ?4 AND status = 'running'`,
    )
    .bind(job.organization_id, job.id, job.phase, job.position, to.phase, to.position, to.synced_groups)
}

/** Updates members, keys and memberships of the next users. Returns the keys that it disabled. */
export async function syncUsers(db: D1Database, job: SyncJobRow, now: number): Promise<string[]> {
  const { ids, isLast } = await nextIds(db, job, "users")
  const to = isLast
    ? ({ phase: "groups", position: "" } as const)
    : ({ phase: "users", position: ids.at(-1) ?? "" } as const)
  const results = await db.batch([
    ...(ids.length > 0 ? applyUserStatus(db, job.organization_id, ids, now) : []),
    move(db, job, { ...to, synced_groups: 0 }),
  ])
  return disabledHashes(results)
}

/** Updates memberships in the workspaces that the next groups are mapped to. */
export async function syncGroups(db: D1Database, job: SyncJobRow, now: number): Promise<void> {
  const { ids, isLast } = await nextIds(db, job, "groups")
  const to = isLast
    ? ({ phase: "leftovers", position: "" } as const)
    : ({ phase: "groups", position: ids.at(-1) ?? "" } as const)
  await db.batch([
    ...applyMemberships(db, { scope: "groups", organizationId: job.organization_id, of: JSON.stringify(ids), now }),
    move(db, job, { ...to, synced_groups: job.synced_groups + ids.length }),
  ])
}

/** Ends memberships that no group gives any more, and counts and removes groups deleted since the last job. */
export async function syncRemaining(db: D1Database, job: SyncJobRow, now: number): Promise<void> {
  await db.batch([
    db
      .prepare(`DELETE FROM workspace_members WHERE organization_id = ?1 AND source = 'scim' AND ${IS_NOT_MAPPED}`)
      .bind(job.organization_id),
    db
      .prepare("DELETE FROM scim_groups WHERE organization_id = ? AND deleted_at IS NOT NULL")
      .bind(job.organization_id),
    db
      .prepare(
        `UPDATE scim_sync_jobs SET status = 'succeeded', deleted_groups = changes(), finished_at = ?3, leased_until = 0
         WHERE organization_id = ?1 AND id = ?2 AND status = 'running'`,
      )
      .bind(job.organization_id, job.id, now),
  ])
}

export async function failSyncJob(db: D1Database, job: SyncJobRow, message: string, now: number): Promise<void> {
  await db.batch([
    db
      .prepare(
        `UPDATE scim_sync_jobs SET status = 'failed', error_message = ?3, finished_at = ?4, leased_until = 0
         WHERE organization_id = ?1 AND id = ?2 AND status = 'running'`,
      )
      .bind(job.organization_id, job.id, message, now),
    db.prepare("DELETE FROM scim_pulled WHERE job_id = ?").bind(job.id),
  ])
}
