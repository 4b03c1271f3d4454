import type { Env } from "../config/env.ts"
import { formatUsd, nanoToUsd } from "../money/money.ts"
import { FAILURES_TO_OPEN } from "../observability/delivery/retry.ts"
import { dayOf, startOf } from "../support/time/day.ts"
import { derivedIdAt } from "../support/ids.ts"
import { parseStored } from "../support/text/json.ts"
import { HOUR_MS, toTimestamp } from "../support/time/time.ts"
import type { Alert } from "./alert.ts"
import { recordAlerts } from "./record.ts"
import { listFailingDestinations, listOutages, listUnusualSpend } from "./watch-store.ts"

/**
 * Alerts that do not follow from a single charge. Ids are derived, so that each is recorded once however often it is
 * found.
 */

const OUTAGE_WINDOW_MS = 10 * 60_000
const MIN_ATTEMPTS = 20

/** Providers that fail at least half of the attempts of the last ten minutes; repeated each hour while it lasts. */
export async function watchProviders(env: Env, now: number): Promise<void> {
  const outages = await listOutages(env.DB, now - OUTAGE_WINDOW_MS, MIN_ATTEMPTS)
  await recordAlerts(
    env,
    outages.map(({ organization_id: organizationId, provider, attempts, failed, statuses }): Alert => {
      const failures = failuresOf(statuses)
      const hour = now - (now % HOUR_MS)
      return {
        id: derivedIdAt(hour, "provider outage", organizationId, provider, String(hour)),
        organizationId,
        workspaceId: null,
        kind: "provider_outage",
        message: `${provider} failed ${failed} of ${attempts} attempts in the last ten minutes: ${describeFailures(failures)}.`,
        data: { provider, attempts, failed_attempts: failed, failures },
        createdAt: now,
      }
    }),
  )
}

/** Status null: no response. */
type Failures = { status: number | null; attempts: number }[]

/** By status, the most frequent one first. */
function failuresOf(statuses: string): Failures {
  const counts = Object.entries(parseStored<Record<string, number>>(statuses))
  return counts
    .map(([status, attempts]) => ({ status: Number(status) || null, attempts }))
    .sort((a, b) => b.attempts - a.attempts)
}

const NAMED_STATUSES = 3

function describeFailures(failures: Failures): string {
  const named = failures.slice(0, NAMED_STATUSES).map(({ status, attempts }) => {
    return status === null ? `${attempts} without a response` : `${attempts} with status ${status}`
  })
  const others = failures.slice(NAMED_STATUSES).reduce((sum, { attempts }) => sum + attempts, 0)
  return [...named, ...(others === 0 ? [] : [`${others} with others`])].join(", ")
}

const ALERT_AFTER_FAILING_MS = 15 * 60_000

/** Destinations without a success for 15 minutes, once per outage. */
export async function watchDestinations(env: Env, now: number): Promise<void> {
  const failing = await listFailingDestinations(env.DB, now - ALERT_AFTER_FAILING_MS, FAILURES_TO_OPEN)
  await recordAlerts(
    env,
    failing.map((row): Alert => {
      const since = row.last_success_at ?? 0
      const last = since === 0 ? "It has never succeeded" : `Its last success was at ${toTimestamp(since)}`
      const reason = row.last_error === null ? "" : `; ${row.last_error}`
      return {
        id: derivedIdAt(since, "destination failing", row.id, String(since)),
        organizationId: row.organization_id,
        workspaceId: row.workspace_id,
        kind: "destination_failing",
        message: `Destination "${row.name}" (${row.type}) of workspace "${row.workspace_name}" fails. ${last}${reason}. ${row.backlog} calls wait for it.`,
        data: { destination_id: row.id, name: row.name, type: row.type, failures: row.failures, backlog: row.backlog },
        createdAt: now,
      }
    }),
  )
}

const COMPARED_DAYS = 28
const MIN_DAYS = 5
const UNUSUAL_FACTOR = 3
/** One USD. */
const MIN_NANO = 1_000_000_000

/**
 * Workspaces that spent more today than on any of the last 28 days and at least three times their average, once a day.
 * At least five days with spend are needed for comparison.
 */
export async function watchSpend(env: Env, now: number): Promise<void> {
  const found = await listUnusualSpend(env.DB, now, COMPARED_DAYS)
  const unusual = found.filter(
    ({ today, average, days }) => days >= MIN_DAYS && today >= MIN_NANO && today >= UNUSUAL_FACTOR * average,
  )
  const day = dayOf(now)
  await recordAlerts(
    env,
    unusual.map(({ organization_id: organizationId, workspace_id: workspaceId, name, today, average, most }): Alert => {
      const usual = Math.round(average)
      return {
        id: derivedIdAt(startOf(day), "unusual spend", workspaceId, day),
        organizationId,
        workspaceId,
        kind: "unusual_spend",
        message: `Workspace "${name}" spent ${formatUsd(today)} USD today; on a day with spend it spent ${formatUsd(usual)} USD on average in the last four weeks.`,
        data: { day, spent_usd: nanoToUsd(today), average_usd: nanoToUsd(usual), most_usd: nanoToUsd(most) },
        createdAt: now,
      }
    }),
  )
}
