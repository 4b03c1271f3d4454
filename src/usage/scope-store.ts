import { DAY_MS } from "../support/time/time.ts"
import { windowStart } from "../money/windows.ts"
import { dayOf, startOf } from "../support/time/day.ts"
import { daysOfWindows, WINDOW_COLUMNS, type WindowSums } from "./sums.ts"

/** Sums by the scopes that generations were counted in, beyond account, key and workspace. */

/**
 * Sums one day of one organization. A call that was never settled counts fully in `countedIn`, and partly at each
 * provider of `atProviders`. Sums only grow, so days whose generations are deleted keep them.
 */
export function sumScopesStatement(db: D1Database, organizationId: string, day: string): D1PreparedStatement {
  const from = startOf(day)
  return db
    .prepare(
      `INSERT INTO scope_days (organization_id, day, scope, cost_nano, byok_cost_nano)
       SELECT ?1, ?2, scope, sum(cost), sum(byok) FROM (
         SELECT each.value AS scope, cost_nano AS cost, byok_cost_nano AS byok
         FROM generations, json_each(record, '$.countedIn') AS each
         WHERE organization_id = ?1 AND settled_at >= ?3 AND settled_at < ?4
         UNION ALL
         SELECT 'provider:' || each.key, iif(record ->> 'isByok', 0, each.value), iif(record ->> 'isByok', each.value, 0)
         FROM generations, json_each(record, '$.atProviders') AS each
         WHERE organization_id = ?1 AND settled_at >= ?3 AND settled_at < ?4 AND record -> 'countedIn' IS NOT NULL)
       GROUP BY scope
       ON CONFLICT DO UPDATE SET cost_nano = excluded.cost_nano, byok_cost_nano = excluded.byok_cost_nano
       WHERE excluded.cost_nano + excluded.byok_cost_nano > scope_days.cost_nano + scope_days.byok_cost_nano`,
    )
    .bind(organizationId, day, from, from + DAY_MS)
}

export type ScopeSums = { scope: string } & WindowSums

/** By scope, in the windows that contain `now`. Past days must be summed before. */
export async function readScopeSums(db: D1Database, organizationId: string, now: number): Promise<ScopeSums[]> {
  const today = windowStart("daily", now)
  const { results } = await db
    .prepare(
      `WITH counted AS (
         SELECT scope, day, cost_nano AS cost, byok_cost_nano AS byok FROM scope_days
         WHERE organization_id = ?1 AND day < ?2
         UNION ALL
         SELECT each.value, date(settled_at / 1000, 'unixepoch'), cost_nano, byok_cost_nano
         FROM generations, json_each(record, '$.countedIn') AS each
         WHERE organization_id = ?1 AND settled_at >= ?3
         UNION ALL
         SELECT 'provider:' || each.key, date(settled_at / 1000, 'unixepoch'),
           iif(record ->> 'isByok', 0, each.value), iif(record ->> 'isByok', each.value, 0)
         FROM generations, json_each(record, '$.atProviders') AS each
         WHERE organization_id = ?1 AND settled_at >= ?3 AND record -> 'countedIn' IS NOT NULL)
       SELECT scope, sum(cost) AS total_spent, sum(byok) AS total_byok,
         ${WINDOW_COLUMNS}
       FROM counted GROUP BY scope`,
    )
    .bind(organizationId, dayOf(now), today, ...daysOfWindows(now))
    .all<ScopeSums>()
  return results
}
