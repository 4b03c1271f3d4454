import { dayOf, startOf } from "../support/time/day.ts"
import { DAY_MS } from "../support/time/time.ts"

/** `statuses`: failed attempts per status, as JSON; `0` without a response. */
export type Outage = { organization_id: string; provider: string; attempts: number; failed: number; statuses: string }

/**
 * Providers with at least half of the attempts since `from` failed, per organization. A request rejected for its
 * content is not a failure of the provider.
 */
export async function listOutages(db: D1Database, from: number, leastAttempts: number): Promise<Outage[]> {
  const { results } = await db
    .prepare(
      `WITH tried AS (
         SELECT g.organization_id, a.value ->> 'provider' AS provider, coalesce(a.value ->> 'status', 0) AS status,
           count(*) AS attempts
         FROM organizations o JOIN generations g ON g.organization_id = o.id AND g.settled_at >= ?1,
           json_each(g.record, '$.attempts') a
         WHERE coalesce(a.value ->> 'isByok', 0) = 0
           AND coalesce(o.alert_settings ->> '$.provider_outages', 1) = 1
         GROUP BY 1, 2, 3),
       judged AS (SELECT *, status IN (0, 401, 402, 403, 408, 429) OR status >= 500 AS is_failure FROM tried)
       SELECT organization_id, provider, sum(attempts) AS attempts, sum(iif(is_failure, attempts, 0)) AS failed,
         json_group_object(cast(status AS TEXT), attempts) FILTER (WHERE is_failure) AS statuses
       FROM judged GROUP BY 1, 2 HAVING sum(attempts) >= ?2 AND failed * 2 >= sum(attempts)`,
    )
    .bind(from, leastAttempts)
    .all<Outage>()
  return results
}

export type FailingDestination = {
  id: string
  organization_id: string
  workspace_id: string
  workspace_name: string
  name: string
  type: string
  last_error: string | null
  last_success_at: number | null
  failures: number
  backlog: number
}

/** Destinations that have failed since `before` or longer, without a success in between. */
export async function listFailingDestinations(
  db: D1Database,
  before: number,
  leastFailures: number,
): Promise<FailingDestination[]> {
  const { results } = await db
    .prepare(
      `SELECT d.id, d.organization_id, d.workspace_id, w.name AS workspace_name, d.name, d.type, d.last_error, d.last_success_at, d.failures,
         (SELECT coalesce(sum(calls), 0) FROM broadcast_batches b WHERE b.destination_id = d.id AND b.state = 'pending') AS backlog
       FROM destinations d JOIN organizations o ON o.id = d.organization_id JOIN workspaces w ON w.id = d.workspace_id
       WHERE d.deleted_at IS NULL AND d.enabled = 1 AND d.failures >= ?2
         AND coalesce(d.last_success_at, d.created_at) < ?1
         AND coalesce(o.alert_settings ->> '$.failing_destinations', 1) = 1`,
    )
    .bind(before, leastFailures)
    .all<FailingDestination>()
  return results
}

/** Nano-USD of a workspace: today, and for earlier days with spend: average, maximum and number of days. */
export type Spend = {
  organization_id: string
  workspace_id: string
  name: string
  today: number
  average: number
  most: number
  days: number
}

/** Workspaces that spent more today than on any of the `days` before. */
export async function listUnusualSpend(db: D1Database, now: number, days: number): Promise<Spend[]> {
  const today = dayOf(now)
  const { results } = await db
    .prepare(
      `WITH today AS (
         SELECT g.organization_id, g.workspace_id, sum(g.cost_nano) AS cost
         FROM organizations o JOIN generations g ON g.organization_id = o.id AND g.settled_at >= ?1
         WHERE coalesce(o.alert_settings ->> '$.unusual_spend', 1) = 1 GROUP BY 1, 2),
       past AS (
         SELECT organization_id, workspace_id, day, sum(cost_nano) AS cost FROM usage_days
         WHERE day >= ?2 AND day < ?3 GROUP BY 1, 2, 3 HAVING cost > 0)
       SELECT t.organization_id, t.workspace_id, w.name, t.cost AS today, avg(p.cost) AS average, max(p.cost) AS most,
         count(*) AS days
       FROM today t JOIN past p ON p.organization_id = t.organization_id AND p.workspace_id = t.workspace_id
         JOIN workspaces w ON w.id = t.workspace_id
       GROUP BY 1, 2 HAVING t.cost > max(p.cost)`,
    )
    .bind(startOf(today), dayOf(now - days * DAY_MS), today)
    .all<Spend>()
  return results
}
