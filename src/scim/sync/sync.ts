import type { Env } from "../../config/env.ts"
import { invalidateKey } from "../../access/key-cache.ts"
import { logError } from "../../support/log.ts"
import { pullStep } from "./pull-run.ts"
import { PullFailure, type SyncJobRow } from "./sync-job.ts"
import { failSyncJob, findOpenSyncJobs, leaseSyncJob, syncGroups, syncRemaining, syncUsers } from "./sync-store.ts"

/** After this time another request or the cron trigger may take over a step: every step can be repeated. */
const LEASE_MS = 30_000
/**
 * Steps per request or cron run. A step has a bounded number of users or groups and at most 13 statements: together
 * they stay below the 1,000 queries that D1 allows per invocation on Workers Paid.
 */
const MAX_STEPS = 60

/** Continues a job, after those before it, until it is done or the steps are used up. Returns how many steps it ran. */
export async function runSyncJob(env: Env, organizationId: string, id: string, steps = MAX_STEPS): Promise<number> {
  let lease = 0
  for (let step = 0; step < steps; step++) {
    const now = Date.now()
    const job = await leaseSyncJob(env.DB, { organizationId, id, now, held: lease, leaseMs: LEASE_MS })
    if (!job) return step
    lease = job.leased_until
    try {
      await advance(env, job, now)
    } catch (cause) {
      if (!(cause instanceof PullFailure)) logError("a step of a directory sync failed", { job: id }, cause)
      const text = cause instanceof PullFailure ? cause.message : FAILED
      await failSyncJob(env.DB, job, text, Date.now())
      if (job.id === id) return step + 1
    }
  }
  return steps
}

const FAILED = "A step of the sync failed inside the gateway. Start another job."

async function advance(env: Env, job: SyncJobRow, now: number): Promise<void> {
  const db = env.DB
  switch (job.phase) {
    case "pull":
      return pullStep(env, job, now)
    case "users":
      for (const hash of await syncUsers(db, job, now)) invalidateKey(hash)
      return
    case "groups":
      return syncGroups(db, job, now)
    case "leftovers":
      return syncRemaining(db, job, now)
  }
}

/** Continues the jobs that a request left unfinished, oldest first. */
export async function resumeSyncJobs(env: Env, now: number): Promise<void> {
  let remainingSteps = MAX_STEPS
  for (const { organization_id: organizationId, id } of await findOpenSyncJobs(env.DB, now)) {
    if (remainingSteps > 0) remainingSteps -= await runSyncJob(env, organizationId, id, remainingSteps)
  }
}
