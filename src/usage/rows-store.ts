import { windowStart } from "../money/windows.ts"
import { dayOf } from "../support/time/day.ts"
import { DAY_MS } from "../support/time/time.ts"

/** Usage of one time bucket and one combination of dimensions. Sums; milliseconds and nano-USD. */
export type UsageRow = {
  /** Epoch milliseconds at which the bucket begins. */
  at: number
} & Record<UsageDimension, string> &
  Record<UsageSum, number>
export type UsageDimension = keyof typeof DIMENSIONS
type UsageSum = keyof typeof SUMS

/** Dimensions that daily sums do not have: they need the generations. */
export const CALL_DIMENSIONS = ["requested_model", "external_user"] as const satisfies readonly UsageDimension[]

/** Maximum number of rows that one query reads. */
export const MAX_USAGE_ROWS = 50_000

/** The organization, or only one of its keys. */
export type UsageScope = { organizationId: string; keyHash: string | null }

/** Expressions over daily sums (`u`) and over generations (`g`), with the key as `k`. */
const CREATOR = "coalesce(k.creator_user_id, '')"
const DIMENSIONS = {
  workspace_id: { day: "u.workspace_id", call: "g.workspace_id" },
  api_key_hash: { day: "u.key_hash", call: "g.key_hash" },
  user_id: { day: CREATOR, call: CREATOR },
  model: { day: "model", call: "model" },
  requested_model: { day: "''", call: "coalesce(record ->> 'requestedModel', model)" },
  provider: { day: "provider", call: "coalesce(record ->> 'provider', '')" },
  app: {
    day: "app",
    call: "substr(coalesce(nullif(trim(record ->> 'appTitle'), ''), record ->> 'appUrl', ''), 1, 100)",
  },
  external_user: { day: "''", call: "coalesce(record ->> 'externalUser', '')" },
  api_type: { day: "api_type", call: "coalesce(record ->> 'apiType', '')" },
} as const

const SUMS = {
  requests: { day: "sum(requests)", call: "sum(record ->> 'ending' <> 'refused')" },
  refused: { day: "sum(refused)", call: "sum(record ->> 'ending' = 'refused')" },
  cost: { day: "sum(cost_nano)", call: "sum(cost_nano)" },
  byok: { day: "sum(byok_cost_nano)", call: "sum(byok_cost_nano)" },
  prompt: { day: "sum(prompt_tokens)", call: "sum(coalesce(record ->> '$.tokens.prompt', 0))" },
  completion: { day: "sum(completion_tokens)", call: "sum(coalesce(record ->> '$.tokens.completion', 0))" },
  reasoning: { day: "sum(reasoning_tokens)", call: "sum(coalesce(record ->> '$.tokens.reasoning', 0))" },
  cached: { day: "sum(cached_tokens)", call: "sum(coalesce(record ->> '$.tokens.cached', 0))" },
  latency: { day: "sum(latency_ms)", call: "sum(coalesce(record ->> 'latencyMs', 0))" },
  latency_count: { day: "sum(latency_count)", call: "count(record ->> 'latencyMs')" },
  generation: { day: "sum(generation_ms)", call: "sum(coalesce(record ->> 'generationMs', 0))" },
  generation_count: { day: "sum(generation_count)", call: "count(record ->> 'generationMs')" },
} as const

type Source = "day" | "call"

/** Groups by these dimensions only; the others are empty, so that there are fewer rows. */
function columnsOf(source: Source, dimensions: ReadonlySet<string>): string {
  const all = [
    ...Object.entries(DIMENSIONS).map(([name, by]) => `${dimensions.has(name) ? by[source] : "''"} AS ${name}`),
    ...Object.entries(SUMS).map(([name, by]) => `${by[source]} AS ${name}`),
  ]
  return all.join(", ")
}

/** The bucket and the dimensions are the first columns. */
const GROUP_COLUMNS = Array.from({ length: 1 + Object.keys(DIMENSIONS).length }, (_, index) => index + 1).join(", ")

export type UsageQuery = {
  scope: UsageScope
  /** Dimensions to group by. */
  dimensions: ReadonlySet<string>
  /** Epoch milliseconds; the end is exclusive. */
  from: number
  to: number
}

/**
 * Rows by day. A day that is partly in the range is read from its generations while they are kept, and is counted
 * completely after that. Past days must be summed before.
 */
export async function readDays(
  db: D1Database,
  query: UsageQuery,
  { now, retentionDays }: { now: number; retentionDays: number },
): Promise<UsageRow[]> {
  const today = windowStart("daily", now)
  const oldest = today - retentionDays * DAY_MS
  const startOfDay = (ms: number) => ms - (ms % DAY_MS)
  const isPart = (ms: number) => ms % DAY_MS !== 0 && startOfDay(ms) >= oldest
  const firstDay = isPart(query.from) ? startOfDay(query.from) + DAY_MS : startOfDay(query.from)
  const endDay = Math.min(today, isPart(query.to) ? startOfDay(query.to) : Math.ceil(query.to / DAY_MS) * DAY_MS)
  // Before and after the complete days; one part if there is no complete day.
  const parts =
    firstDay >= endDay
      ? [{ from: query.from, to: query.to }]
      : [
          { from: query.from, to: firstDay },
          { from: endDay, to: query.to },
        ]
  const statements = [
    ...(firstDay < endDay ? [daysStatement(db, { ...query, from: firstDay, to: endDay })] : []),
    ...parts.filter(({ from, to }) => from < to).map((part) => bucketsStatement(db, { ...query, ...part }, DAY_MS)),
  ]
  const batches = statements.length === 0 ? [] : await db.batch<UsageRow>(statements)
  return batches.flatMap(({ results }) => results)
}

function daysStatement(db: D1Database, { scope, dimensions, from, to }: UsageQuery): D1PreparedStatement {
  const columns = columnsOf("day", dimensions)
  return db
    .prepare(
      `SELECT unixepoch(day) * 1000 AS at, ${columns}
       FROM usage_days u LEFT JOIN api_keys k ON k.hash = u.key_hash
       WHERE u.organization_id = ?1 AND day >= ?2 AND day < ?3 AND (?5 IS NULL OR u.key_hash = ?5)
       GROUP BY ${GROUP_COLUMNS} ORDER BY 1 LIMIT ?4`,
    )
    .bind(scope.organizationId, dayOf(from), dayOf(to), MAX_USAGE_ROWS, scope.keyHash)
}

/** Buckets of the given milliseconds, computed from generations. */
export async function readBuckets(db: D1Database, query: UsageQuery, bucketMs: number): Promise<UsageRow[]> {
  const { results } = await bucketsStatement(db, query, bucketMs).all<UsageRow>()
  return results
}

function bucketsStatement(
  db: D1Database,
  { scope, dimensions, from, to }: UsageQuery,
  bucketMs: number,
): D1PreparedStatement {
  const columns = columnsOf("call", dimensions)
  return db
    .prepare(
      `SELECT settled_at - settled_at % ?4 AS at, ${columns}
       FROM generations g LEFT JOIN api_keys k ON k.hash = g.key_hash
       WHERE g.organization_id = ?1 AND settled_at >= ?2 AND settled_at < ?3 AND (?6 IS NULL OR g.key_hash = ?6)
       GROUP BY ${GROUP_COLUMNS} ORDER BY 1 LIMIT ?5`,
    )
    .bind(scope.organizationId, from, to, bucketMs, MAX_USAGE_ROWS, scope.keyHash)
}
