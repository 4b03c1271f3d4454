import { DAY_MS } from "../support/time/time.ts"
import type { SessionCostQuery } from "./schemas.ts"
import { dayOf, startOf } from "../support/time/day.ts"
import type { StoredOf } from "../support/db.ts"
import type { datasetSnapshots, sessionCostCells } from "./table.ts"
import { type Days, NAMED_MODELS } from "./rankings.ts"
import { MIN_SESSIONS, WINDOW_DAYS, windowBefore } from "./session-cost.ts"

const NAME = "session-cost"

/**
 * Recomputes the cells: median cost of an app's sessions per model, by number of turns. A turn is a completed call of
 * an app in a session. No session or user is stored.
 */
export async function refreshSessionCost(db: D1Database, now: number): Promise<void> {
  const { from, to, lastDay } = windowBefore(now)
  await db.batch([
    db.prepare("DELETE FROM session_cost_cells"),
    db
      .prepare(
        `INSERT INTO session_cost_cells (app_slug, model, turn_range, app_name, median_nano)
         WITH sessions AS (
           SELECT lower(replace(trim(record ->> 'appTitle'), ' ', '-')) AS app_slug, max(trim(record ->> 'appTitle')) AS app_name,
             model, count(*) AS turns, sum(cost_nano) AS cost
           FROM generations
           WHERE created_at >= ?1 AND created_at < ?2 AND record ->> 'ending' = 'complete'
             AND trim(record ->> 'appTitle') <> '' AND record ->> 'sessionId' IS NOT NULL
           GROUP BY organization_id, record ->> 'sessionId', app_slug, model
         ), ranged AS (
           SELECT *, CASE WHEN turns = 1 THEN '1-turn' WHEN turns < 10 THEN '2-9-turns' WHEN turns < 50 THEN '10-49-turns'
             ELSE '50-plus-turns' END AS turn_range FROM sessions
         ), ranked AS (
           SELECT *, row_number() OVER (PARTITION BY app_slug, model, turn_range ORDER BY cost) AS place,
             count(*) OVER (PARTITION BY app_slug, model, turn_range) AS size FROM ranged
         )
         SELECT app_slug, model, turn_range, max(app_name), avg(cost) FROM ranked
         WHERE size >= ?3 AND place IN ((size + 1) / 2, (size + 2) / 2) GROUP BY app_slug, model, turn_range`,
      )
      .bind(from, to, MIN_SESSIONS),
    db
      .prepare(
        `INSERT INTO dataset_snapshots (name, as_of, window_days, window_end_date) VALUES (?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET as_of = excluded.as_of, window_days = excluded.window_days,
           window_end_date = excluded.window_end_date`,
      )
      .bind(NAME, now, WINDOW_DAYS, lastDay),
  ])
}

export type CellRow = StoredOf<typeof sessionCostCells>
export type SnapshotRow = Omit<StoredOf<typeof datasetSnapshots>, "name">

export async function readSessionCost(
  db: D1Database,
  { app_slug: app, model, turn_range: range, limit, offset }: SessionCostQuery,
  now: number,
): Promise<{ cells: CellRow[]; snapshot: SnapshotRow }> {
  const [cells, snapshots] = await db.batch<Record<string, unknown>>([
    db
      .prepare(
        `SELECT app_name, app_slug, model, turn_range, median_nano FROM session_cost_cells
         WHERE (?1 IS NULL OR app_slug = ?1) AND (?2 IS NULL OR model = ?2) AND (?3 IS NULL OR turn_range = ?3)
         ORDER BY app_slug, model, turn_range LIMIT ?4 OFFSET ?5`,
      )
      .bind(app ?? null, model ?? null, range ?? null, limit, offset),
    db.prepare("SELECT as_of, window_days, window_end_date FROM dataset_snapshots WHERE name = ?").bind(NAME),
  ])
  return {
    cells: (cells?.results ?? []) as CellRow[],
    // Before the first run, the window of a run at this time.
    snapshot: (snapshots?.results[0] as SnapshotRow | undefined) ?? {
      as_of: now,
      window_days: WINDOW_DAYS,
      window_end_date: windowBefore(now).lastDay,
    },
  }
}

export type AppRow = { app: string; requests: number; tokens: number }

/**
 * The apps of all organizations that used most tokens in these days, or grew most compared with as many days before.
 */
export async function readAppRankings(
  db: D1Database,
  { days, sort, limit, offset }: { days: Days; sort: "popular" | "trending"; limit: number; offset: number },
): Promise<AppRow[]> {
  const length = startOf(days.last) - startOf(days.first) + DAY_MS
  const { results } = await db
    .prepare(
      `SELECT app, sum(iif(day >= ?2, requests, 0)) AS requests,
         sum(iif(day >= ?2, prompt_tokens + completion_tokens, 0)) AS tokens,
         sum(iif(day < ?2, prompt_tokens + completion_tokens, 0)) AS before
       FROM usage_days WHERE day >= ?1 AND day <= ?3 AND app <> '' GROUP BY app HAVING requests > 0
       ORDER BY iif(?4, (tokens - before) * 1.0 / (before + 1), tokens) DESC, tokens DESC, app LIMIT ?5 OFFSET ?6`,
    )
    .bind(dayOf(startOf(days.first) - length), days.first, days.last, sort === "trending" ? 1 : 0, limit, offset)
    .all<AppRow>()
  return results
}

export type RankingRow = { date: string; model: string; tokens: number }

/** Tokens of each model by the first day of each period; `apiTypes`: the kinds of call, null for all. */
export async function readRankings(
  db: D1Database,
  { days, period, apiTypes }: { days: Days; period: "day" | "week" | "month"; apiTypes: readonly string[] | null },
): Promise<RankingRow[]> {
  const { results } = await db
    .prepare(
      `WITH used AS (
         SELECT CASE ?3 WHEN 'day' THEN day WHEN 'week' THEN date(day, 'weekday 0', '-6 days')
             ELSE date(day, 'start of month') END AS date,
           model, sum(prompt_tokens + completion_tokens) AS tokens
         FROM usage_days
         WHERE day >= ?1 AND day <= ?2 AND (?4 IS NULL OR api_type IN (SELECT value FROM json_each(?4)))
         GROUP BY 1, 2 HAVING tokens > 0
       ), placed AS (
         SELECT *, row_number() OVER (PARTITION BY date ORDER BY tokens DESC, model) AS place FROM used
       )
       SELECT date, iif(place <= ?5, model, 'other') AS model, sum(tokens) AS tokens FROM placed
       GROUP BY date, iif(place <= ?5, model, 'other') ORDER BY date, max(place) > ?5, tokens DESC, 2`,
    )
    .bind(days.first, days.last, period, apiTypes && JSON.stringify(apiTypes), NAMED_MODELS)
    .all<RankingRow>()
  return results
}
