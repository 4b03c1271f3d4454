import { DAY_MS } from "../support/time/time.ts"
import { windowStart } from "../money/windows.ts"
import { dayOf, startOf } from "../support/time/day.ts"
import type { StoredOf } from "../support/db.ts"
import { sumScopesStatement } from "./scope-store.ts"
import { daysOfWindows, WINDOW_COLUMNS, type WindowSums } from "./sums.ts"
import type { usageDays } from "./table.ts"

/**
 * Sums one day of one organization from its generations. Sums only grow, so days whose generations are deleted keep
 * them.
 */
function sumDayStatements(db: D1Database, organizationId: string, day: string): D1PreparedStatement[] {
  const from = startOf(day)
  return [
    db
      .prepare(
        `INSERT INTO usage_days (organization_id, day, workspace_id, key_hash, model, provider, app, api_type, requests,
           refused, cost_nano, byok_cost_nano, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens,
           cache_write_tokens, latency_ms, latency_count, generation_ms, generation_count)
         SELECT organization_id, ?2, workspace_id, key_hash, model, coalesce(record ->> 'provider', ''),
           substr(coalesce(nullif(trim(record ->> 'appTitle'), ''), record ->> 'appUrl', ''), 1, 100),
           coalesce(record ->> 'apiType', ''),
           sum(record ->> 'ending' <> 'refused'), sum(record ->> 'ending' = 'refused'), sum(cost_nano),
           sum(byok_cost_nano), sum(coalesce(record ->> '$.tokens.prompt', 0)),
           sum(coalesce(record ->> '$.tokens.completion', 0)), sum(coalesce(record ->> '$.tokens.reasoning', 0)),
           sum(coalesce(record ->> '$.tokens.cached', 0)), sum(coalesce(record ->> '$.tokens.cacheWrite', 0)),
           cast(sum(coalesce(record ->> 'latencyMs', 0)) AS INTEGER), count(record ->> 'latencyMs'),
           cast(sum(coalesce(record ->> 'generationMs', 0)) AS INTEGER), count(record ->> 'generationMs')
         FROM generations WHERE organization_id = ?1 AND settled_at >= ?3 AND settled_at < ?4
         GROUP BY 1, 3, 4, 5, 6, 7, 8
         ON CONFLICT DO UPDATE SET requests = excluded.requests, refused = excluded.refused,
           cost_nano = excluded.cost_nano, byok_cost_nano = excluded.byok_cost_nano,
           prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
           reasoning_tokens = excluded.reasoning_tokens, cached_tokens = excluded.cached_tokens,
           cache_write_tokens = excluded.cache_write_tokens, latency_ms = excluded.latency_ms,
           latency_count = excluded.latency_count, generation_ms = excluded.generation_ms,
           generation_count = excluded.generation_count
         WHERE excluded.requests + excluded.refused > usage_days.requests + usage_days.refused`,
      )
      .bind(organizationId, day, from, from + DAY_MS),
    sumScopesStatement(db, organizationId, day),
    db.prepare("DELETE FROM unsummed_days WHERE organization_id = ? AND day = ?").bind(organizationId, day),
  ]
}

const DAYS_PER_RUN = 500

/** Sums past days with generations that are in no sum, of one organization or of all. Returns how many. */
export async function sumDays(db: D1Database, now: number, organizationId: string | null = null): Promise<number> {
  const { results } = await db
    .prepare(
      "SELECT organization_id, day FROM unsummed_days WHERE day < ?1 AND (?2 IS NULL OR organization_id = ?2) ORDER BY day LIMIT ?3",
    )
    .bind(dayOf(now), organizationId, DAYS_PER_RUN)
    .all<{ organization_id: string; day: string }>()
  for (const stale of results) await db.batch(sumDayStatements(db, stale.organization_id, stale.day))
  return results.length
}

const PRUNE_BATCH = 500
/** Limit of one run; the rest is left for the next day. */
const PRUNE_BATCHES = 200

/** Deletes generations that are past their retention and whose day is summed. Returns how many. */
export async function pruneGenerations(db: D1Database, now: number, retentionDays: number): Promise<number> {
  const before = windowStart("daily", now) - retentionDays * DAY_MS
  let removed = 0
  for (let batch = 0; batch < PRUNE_BATCHES; batch += 1) {
    const { meta } = await db
      .prepare(
        `DELETE FROM generations WHERE id IN (
           SELECT g.id FROM generations g WHERE g.settled_at < ?1 AND NOT EXISTS (
             SELECT 1 FROM unsummed_days u
             WHERE u.organization_id = g.organization_id AND u.day = date(g.settled_at / 1000, 'unixepoch'))
           LIMIT ?2)`,
      )
      .bind(before, PRUNE_BATCH)
      .run()
    removed += meta.changes
    if (meta.changes < PRUNE_BATCH) break
  }
  await db.prepare("DELETE FROM generation_feedback WHERE created_at < ?").bind(before).run()
  return removed
}

/** Sums of one key in one workspace, in the windows that contain `now`. */
export type KeySums = { key_hash: string; workspace_id: string } & WindowSums

/** Sums of an organization's generations. Past days must be summed before. */
export async function readKeySums(db: D1Database, organizationId: string, now: number): Promise<KeySums[]> {
  const today = windowStart("daily", now)
  const { results } = await db
    .prepare(
      `WITH spent AS (
         SELECT key_hash, workspace_id, day, cost_nano AS cost, byok_cost_nano AS byok FROM usage_days
         WHERE organization_id = ?1 AND day < ?2
         UNION ALL
         SELECT key_hash, workspace_id, date(settled_at / 1000, 'unixepoch'), cost_nano, byok_cost_nano FROM generations
         WHERE organization_id = ?1 AND settled_at >= ?3)
       SELECT key_hash, workspace_id, sum(cost) AS total_spent, sum(byok) AS total_byok,
         ${WINDOW_COLUMNS}
       FROM spent GROUP BY key_hash, workspace_id`,
    )
    .bind(organizationId, dayOf(now), today, ...daysOfWindows(now))
    .all<KeySums>()
  return results
}

type UsageDay = StoredOf<typeof usageDays>

export type ActivityRow = Pick<UsageDay, "day" | "model" | "provider" | "workspace_id" | "requests"> &
  Record<"usage" | "byok" | "prompt" | "completion" | "reasoning", number>

/** Absent fields restrict nothing. `from` and `to`: epoch milliseconds. */
type ActivityFilter = Partial<Record<"api_key_hash" | "user_id" | "workspace_id" | "group_by", string | undefined>> & {
  from: number
  to: number
}

/**
 * Completed calls by day, model and provider, and by workspace if requested. Nano-USD; instants are epoch milliseconds.
 */
export async function readActivity(
  db: D1Database,
  organizationId: string,
  query: ActivityFilter,
): Promise<ActivityRow[]> {
  const { results } = await db
    .prepare(
      `SELECT day, model, provider, iif(?6, workspace_id, '') AS workspace_id,
         sum(cost_nano) AS usage, sum(byok_cost_nano) AS byok, sum(requests) AS requests,
         sum(prompt_tokens) AS prompt, sum(completion_tokens) AS completion, sum(reasoning_tokens) AS reasoning
       FROM usage_days
       WHERE organization_id = ?1 AND day >= ?2 AND day < ?3 AND requests > 0
         AND (?4 IS NULL OR key_hash = ?4) AND (?5 IS NULL OR workspace_id = ?5)
         AND (?7 IS NULL OR key_hash IN (SELECT hash FROM api_keys WHERE organization_id = ?1 AND creator_user_id = ?7))
       GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, usage DESC, 2, 3, 4`,
    )
    .bind(
      organizationId,
      dayOf(query.from),
      dayOf(query.to),
      query.api_key_hash ?? null,
      query.workspace_id ?? null,
      query.group_by === "workspace" ? 1 : 0,
      query.user_id ?? null,
    )
    .all<ActivityRow>()
  return results
}
