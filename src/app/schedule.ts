import { requeueAlerts } from "../alerts/record.ts"
import { pruneAlerts } from "../alerts/store.ts"
import { watchDestinations, watchProviders, watchSpend } from "../alerts/watch.ts"
import { auditRetentionDays } from "../audit/retention.ts"
import { pruneAudit } from "../audit/store.ts"
import { pruneRejectedCalls } from "../calls/rejected-store.ts"
import { wakeStalledBatches } from "../batches/open-batch.ts"
import { pruneLinks } from "../connect/store.ts"
import { refreshSessionCost } from "../datasets/store.ts"
import type { Env } from "../config/env.ts"
import { pruneContents } from "../generations/content.ts"
import { destroyOrphans } from "../interns/lifecycle/open-intern.ts"
import { refreshDiscovered } from "../models/discovery/discover.ts"
import { sweepBatches } from "../observability/delivery/backlog.ts"
import { CALL_CONTENT_DAYS, CALL_CONTENT_PREFIX } from "../observability/call-content.ts"
import { pruneOauth } from "../oauth/store.ts"
import { clearFiles } from "../files/bytes.ts"
import { requireJurisdiction } from "../organizations/jurisdiction.ts"
import { reconcileStalest } from "../reconciliation/reconcile.ts"
import { pruneResponses } from "../response-cache/store.ts"
import { resumeSyncJobs } from "../scim/sync/sync.ts"
import { logError } from "../support/log.ts"
import { DAY_MS } from "../support/time/time.ts"
import { generationRetentionDays } from "../usage/retention.ts"
import { pruneGenerations, sumDays } from "../usage/store.ts"

/** Jobs of the cron triggers in wrangler.toml. A failing job does not stop the others. */
const JOBS: Readonly<Record<string, readonly { name: string; run: (env: Env, now: number) => Promise<unknown> }[]>> = {
  "0 2 * * *": [
    { name: "sum-days", run: (env, now) => sumDays(env.DB, now) },
    {
      name: "prune-generations",
      run: (env, now) => pruneGenerations(env.DB, now, generationRetentionDays(env)),
    },
    {
      name: "prune-rejected-calls",
      run: (env, now) => pruneRejectedCalls(env.DB, now, generationRetentionDays(env)),
    },
    { name: "prune-contents", run: (env, now) => pruneContents(env.FILES, now, generationRetentionDays(env)) },
    {
      name: "prune-broadcasts",
      run: (env, now) => pruneContents(env.FILES, now, CALL_CONTENT_DAYS, CALL_CONTENT_PREFIX),
    },
    { name: "prune-response-cache", run: (env, now) => pruneResponses(env.FILES, now) },
    { name: "prune-oauth", run: (env, now) => pruneOauth(env.DB, now) },
    { name: "prune-files", run: (env, now) => clearFiles(env, now) },
    {
      name: "prune-alerts",
      run: (env, now) => pruneAlerts(env.DB, now - auditRetentionDays(env) * DAY_MS),
    },
    { name: "prune-audit", run: (env, now) => pruneAudit(env.DB, now, auditRetentionDays(env)) },
  ],
  "30 * * * *": [
    { name: "wake-batches", run: (env, now) => wakeStalledBatches(env, now) },
    { name: "sweep-broadcasts", run: (env, now) => sweepBatches(env, now) },
    { name: "watch-spend", run: (env, now) => watchSpend(env, now) },
    { name: "discover-models", run: (env) => refreshDiscovered(env) },
    { name: "destroy-orphaned-interns", run: (env) => destroyOrphans(env) },
    { name: "resume-directory-syncs", run: (env, now) => resumeSyncJobs(env, now) },
  ],
  "*/5 * * * *": [
    { name: "watch-providers", run: (env, now) => watchProviders(env, now) },
    { name: "watch-destinations", run: (env, now) => watchDestinations(env, now) },
    { name: "requeue-alerts", run: (env, now) => requeueAlerts(env, now) },
    // Deleted rows contain sealed secrets that are no longer needed.
    { name: "prune-connect-links", run: (env, now) => pruneLinks(env.DB, now) },
  ],
  "0 4 * * *": [{ name: "reconcile", run: (env) => reconcileStalest(env) }],
  "0 3 * * 1": [{ name: "session-cost", run: (env, now) => refreshSessionCost(env.DB, now) }],
}

/** `cron`: the expression that fired; an empty one, from a manual run, runs every job. */
export async function runSchedule(cron: string, env: Env, now: number): Promise<void> {
  await requireJurisdiction(env)
  const jobs = cron === "" ? Object.values(JOBS).flat() : (JOBS[cron] ?? [])
  for (const job of jobs) {
    await job.run(env, now).catch((cause: unknown) => logError("a scheduled job failed", { job: job.name }, cause))
  }
}
