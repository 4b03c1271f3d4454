import type { Env } from "../env.ts"
import { forgetKey } from "../access/authenticate.ts"
import { logError } from "../support/log.ts"
import { failSyncJob, findOpenSyncJobs, leaseSyncJob, syncGroups, syncLeftovers, syncUsers } from "./sync-store.ts"

/** A row of scim_sync_jobs. `position`: the last id that is done in this phase. */
export type SyncJobRow = {
  id: string
  organization_id: string
  status: "queued" | "running" | "succeeded" | "failed"
  phase: "users" | "groups" | "leftovers"
  position: string
  synced_groups: number
  deleted_groups: number
  error_message: string | null
  leased_until: number
  created_at: number
  started_at: number | null
  finished_at: number | null
}

/** How long a step may take before another request or the clock may go on in its place: every step is safe twice. */
const LEASE_MS = 30_000
/** What one request or run of the clock does at most; each step is of a bounded number of users or groups. */
const MAX_STEPS = 200

/** Goes on with a job until it is done, or for as long as one request may. */
export async function runSyncJob(env: Env, organizationId: string, id: string): Promise<void> {
  let lease = 0
  for (let step = 0; step < MAX_STEPS; step++) {
    const now = Date.now()
    const job = await leaseSyncJob(env.DB, organizationId, id, now, lease, LEASE_MS)
    if (!job) return
    lease = job.leased_until
    try {
      await advance(env.DB, job, now)
    } catch (cause) {
      logError("a step of a directory sync failed", { job: id }, cause)
      await failSyncJob(env.DB, job, Date.now())
      return
    }
  }
}

async function advance(db: D1Database, job: SyncJobRow, now: number): Promise<void> {
  switch (job.phase) {
    case "users":
      for (const hash of await syncUsers(db, job, now)) forgetKey(hash)
      return
    case "groups":
      return syncGroups(db, job, now)
    case "leftovers":
      return syncLeftovers(db, job, now)
  }
}

/** Goes on with the jobs that a request left unfinished, the oldest first. */
export async function resumeSyncJobs(env: Env, now: number): Promise<void> {
  for (const { organization_id: organizationId, id } of await findOpenSyncJobs(env.DB, now)) {
    await runSyncJob(env, organizationId, id)
  }
}
