import { BUCKETS_MS, type MetricSeries } from "./exposition.ts"

/** Maximum delay from the charge of a call to its row in the database, while the database responds. */
const LAG_MS = 90_000
/** Period that the first request counts, and the longest that one request counts. */
const FIRST_RANGE_MS = 3_600_000
const MAX_RANGE_MS = 6 * 3_600_000
/** Further series of an organization are counted under the model `other`. */
const MAX_SERIES = 1_000

const DURATION = "coalesce(record ->> 'latencyMs', 0) + coalesce(record ->> 'generationMs', 0)"
const FIRST_TOKEN = "record ->> 'latencyMs'"

/** Calls by bucket as a JSON array. `ms`: a column of milliseconds; null is in no bucket. */
function bucketsOf(ms: string): string {
  const bounds = [0, ...BUCKETS_MS]
  const counts = bounds.map((from, at) => {
    const to = bounds[at + 1]
    const above = at === 0 ? `${ms} IS NOT NULL` : `${ms} > ${from}`
    return `count(iif(${above}${to === undefined ? "" : ` AND ${ms} <= ${to}`}, 1, NULL))`
  })
  return `json_array(${counts.join(", ")})`
}

function addBuckets(column: string): string {
  const sums = [...BUCKETS_MS, 0].map((_, at) => `(metric_series.${column} ->> ${at}) + (excluded.${column} ->> ${at})`)
  return `${column} = json_array(${sums.join(", ")})`
}

const SUM_COLUMNS = [
  "calls",
  "errors",
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "cost_nano",
  "byok_cost_nano",
  "duration_ms",
  "first_token_ms",
  "first_token_count",
] as const
const ADDED_COLUMNS = [
  ...SUM_COLUMNS.map((column) => `${column} = metric_series.${column} + excluded.${column}`),
  addBuckets("duration_buckets"),
  addBuckets("first_token_buckets"),
].join(", ")
const DURATION_BUCKETS_COLUMNS = bucketsOf("duration")
const FIRST_TOKEN_BUCKETS_COLUMNS = bucketsOf("first_token")
const DURATION_COLUMNS = DURATION
const FIRST_TOKEN_COLUMNS = FIRST_TOKEN

/**
 * Adds generations since the last time to the counters, of one organization or of all (null). The watermark is read in
 * the same transaction: concurrent requests count nothing twice.
 */
export async function updateMetrics(db: D1Database, organizationId: string | null, now: number): Promise<void> {
  const until = now - LAG_MS
  await db.batch([
    db
      .prepare(
        "INSERT OR IGNORE INTO metric_watermarks (organization_id, at) SELECT id, ?1 FROM organizations WHERE ?2 IS NULL OR id = ?2",
      )
      .bind(until - FIRST_RANGE_MS, organizationId),
    db
      .prepare(
        `INSERT INTO metric_series
         WITH called AS (
           SELECT g.organization_id, g.model, coalesce(record ->> 'provider', '') AS provider,
             coalesce(record ->> 'status', 0) AS status, record, cost_nano, byok_cost_nano,
             ${DURATION_COLUMNS} AS duration, iif(record ->> 'streamed', ${FIRST_TOKEN_COLUMNS}, NULL) AS first_token
           FROM metric_watermarks w JOIN generations g ON g.organization_id = w.organization_id
             AND g.settled_at > w.at AND g.settled_at <= min(?1, w.at + ?2)
           WHERE ?3 IS NULL OR w.organization_id = ?3),
         known AS (
           SELECT c.*, (EXISTS (SELECT 1 FROM metric_series s WHERE (s.organization_id, s.model, s.provider, s.status) =
               (c.organization_id, c.model, c.provider, c.status))
             OR (SELECT count(*) FROM metric_series s WHERE s.organization_id = c.organization_id) < ?4) AS fits
           FROM called c)
         SELECT organization_id, iif(fits, model, 'other'), iif(fits, provider, 'other'), status, count(*),
           sum(record ->> 'ending' NOT IN ('complete', 'cancelled')),
           sum(coalesce(record ->> '$.tokens.prompt', 0)), sum(coalesce(record ->> '$.tokens.completion', 0)),
           sum(coalesce(record ->> '$.tokens.cached', 0)), sum(cost_nano), sum(byok_cost_nano),
           cast(sum(duration) AS INTEGER), cast(coalesce(sum(first_token), 0) AS INTEGER), count(first_token),
           ${DURATION_BUCKETS_COLUMNS}, ${FIRST_TOKEN_BUCKETS_COLUMNS}
         FROM known WHERE true GROUP BY 1, 2, 3, 4
         ON CONFLICT DO UPDATE SET ${ADDED_COLUMNS}`,
      )
      .bind(until, MAX_RANGE_MS, organizationId, MAX_SERIES),
    db
      .prepare(
        "UPDATE metric_watermarks SET at = min(?1, at + ?2) WHERE at < ?1 AND (?3 IS NULL OR organization_id = ?3)",
      )
      .bind(until, MAX_RANGE_MS, organizationId),
  ])
}

/** Maximum number of exported series; only many organizations together reach it. */
const MAX_EXPORTED = 10_000

export async function listMetrics(db: D1Database, organizationId: string | null): Promise<MetricSeries[]> {
  const { results } = await db
    .prepare(
      "SELECT * FROM metric_series WHERE ?1 IS NULL OR organization_id = ?1 ORDER BY organization_id, model, provider, status LIMIT ?2",
    )
    .bind(organizationId, MAX_EXPORTED)
    .all<MetricSeries>()
  return results
}

/** Pending calls and dead letters. */
export async function readBacklog(
  db: D1Database,
  organizationId: string | null,
): Promise<{ pending: number; dead: number }> {
  const { results } = await db
    .prepare(
      "SELECT state, sum(calls) AS calls FROM broadcast_batches WHERE ?1 IS NULL OR organization_id = ?1 GROUP BY state",
    )
    .bind(organizationId)
    .all<{ state: string; calls: number }>()
  const callsIn = (state: string) => results.find((row) => row.state === state)?.calls ?? 0
  return { pending: callsIn("pending"), dead: callsIn("dead") }
}
