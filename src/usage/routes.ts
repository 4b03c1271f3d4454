import { DAY_MS } from "../support/time/time.ts"
import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireManagement } from "../access/guards.ts"
import { requireKnownUser, requireKnownWorkspace } from "../access/known-store.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { generationRetentionDays } from "./retention.ts"
import { Activity, ActivityQuery, activityWindow, DATE_RULE, toActivityItem } from "./activity.ts"
import { runAnalyticsQuery, describeAnalytics, type Question } from "./analytics.ts"
import { AnalyticsResponse, AnalyticsMeta, AnalyticsQuery } from "./schemas.ts"
import { CALL_DIMENSIONS, MAX_USAGE_ROWS, readBuckets, readDays, type UsageRow, type UsageScope } from "./rows-store.ts"
import { readActivity, sumDays } from "./store.ts"

const tags = ["Analytics"]

const activity = createRoute({
  method: "get",
  path: "/activity",
  operationId: "getActivity",
  tags,
  summary: "Get the activity of the last 30 days",
  description: "By completed day, model and provider.",
  middleware: [requireManagement] as const,
  request: { query: ActivityQuery },
  responses: {
    200: ok(Activity, "The newest day first."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const meta = createRoute({
  method: "get",
  path: "/analytics/meta",
  operationId: "getAnalyticsMeta",
  tags,
  summary: "Describe the analytics queries",
  description: "Metrics, dimensions and filters of POST /analytics/query.",
  middleware: [requireManagement] as const,
  responses: {
    200: ok(z.object({ data: AnalyticsMeta })),
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

const query = createRoute({
  method: "post",
  path: "/analytics/query",
  operationId: "queryAnalytics",
  tags,
  summary: "Query analytics",
  description: `Default time_range: the last 30 days. By minute at most a day, by hour at most 31 days. The range is exact; \
a day whose calls are no longer kept is counted whole. By requested_model and external_user only calls that are kept are counted.`,
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { body: jsonBody(AnalyticsQuery) },
  responses: {
    200: ok(z.object({ data: AnalyticsResponse })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const keyActivity = createRoute({
  method: "get",
  path: "/key/activity",
  operationId: "getCurrentKeyActivity",
  tags,
  summary: "Get this key's activity of the last 30 days",
  description: "By completed day, model and provider.",
  request: { query: ActivityQuery.pick({ date: true }) },
  responses: {
    200: ok(Activity, "The newest day first."),
    ...failures("invalid_request", "unauthenticated", "internal"),
  },
})

const keyMeta = createRoute({
  method: "get",
  path: "/key/analytics/meta",
  operationId: "getCurrentKeyAnalyticsMeta",
  tags,
  summary: "Describe this key's analytics queries",
  description: "Metrics, dimensions and filters of POST /key/analytics/query.",
  responses: { 200: ok(z.object({ data: AnalyticsMeta })), ...failures("unauthenticated", "internal") },
})

const keyQuery = createRoute({
  method: "post",
  path: "/key/analytics/query",
  operationId: "queryCurrentKeyAnalytics",
  tags,
  summary: "Query this key's analytics",
  description: "As POST /analytics/query, for any key, with its own calls only.",
  middleware: [acceptJson(65_536)] as const,
  request: { body: jsonBody(AnalyticsQuery) },
  responses: {
    200: ok(z.object({ data: AnalyticsResponse })),
    ...failures("invalid_request", "unauthenticated", "internal"),
  },
})

export const usage = newRouter()
  .openapi(activity, async (c) => {
    const analyticsQuery = c.req.valid("query")
    const { organizationId } = c.var.principal
    await requireKnownWorkspace(c.env.DB, organizationId, analyticsQuery.workspace_id)
    await requireKnownUser(c.env.DB, organizationId, analyticsQuery.user_id)
    return c.json({ data: await activityOf(c.env.DB, organizationId, analyticsQuery) }, 200)
  })
  .openapi(meta, (c) => c.json({ data: describeAnalytics() }, 200))
  .openapi(query, async (c) => {
    const scope = { organizationId: c.var.principal.organizationId, keyHash: null }
    return c.json({ data: await queryAnalytics(c.env, scope, c.req.valid("json")) }, 200)
  })
  .openapi(keyActivity, async (c) => {
    const { organizationId, keyHash } = c.var.principal
    const analyticsQuery = { ...c.req.valid("query"), api_key_hash: keyHash }
    return c.json({ data: await activityOf(c.env.DB, organizationId, analyticsQuery) }, 200)
  })
  .openapi(keyMeta, (c) => c.json({ data: describeAnalytics() }, 200))
  .openapi(keyQuery, async (c) => {
    const { organizationId, keyHash } = c.var.principal
    return c.json({ data: await queryAnalytics(c.env, { organizationId, keyHash }, c.req.valid("json")) }, 200)
  })

async function activityOf(db: D1Database, organizationId: string, analyticsQuery: ActivityQuery) {
  const window = activityWindow(analyticsQuery.date, Date.now())
  if (!window) throw new GatewayError("invalid_request", `date: ${DATE_RULE}.`)
  await sumDays(db, Date.now(), organizationId)
  const rows = await readActivity(db, organizationId, { ...analyticsQuery, ...window })
  return rows.map((row) => toActivityItem(row, analyticsQuery.group_by === "workspace"))
}

async function queryAnalytics(env: Env, scope: UsageScope, analyticsQuery: AnalyticsQuery) {
  const now = Date.now()
  const retentionDays = generationRetentionDays(env)
  const question = toQuestion(analyticsQuery)
  const range = rangeOf(analyticsQuery, now, retentionDays)
  const byCall = CALL_DIMENSIONS.find((name) => dimensionsOf(question).has(name))
  if (byCall !== undefined && range.from < now - retentionDays * DAY_MS) {
    throw new GatewayError("invalid_request", `time_range: by ${byCall}, the last ${retentionDays} days at most.`)
  }
  const rows = await read(env.DB, { scope, question, range }, { now, retentionDays })
  const result = runAnalyticsQuery(rows, question)
  const metadata = {
    query_time_ms: Date.now() - now,
    row_count: result.rows.length,
    truncated: result.all > result.rows.length || rows.length >= MAX_USAGE_ROWS,
  }
  return { data: result.rows, metadata }
}

type Range = { from: number; to: number; bucketMs: number }

const BUCKETS = { minute: 60_000, hour: 3_600_000 } as const
const LONGEST = { minute: DAY_MS, hour: 31 * DAY_MS } as const
const DEFAULT_DAYS = 30

/**
 * Epoch milliseconds, end exclusive. Granularities below a day are computed from generations, which have a limited
 * retention.
 */
function rangeOf(
  { time_range: range, granularity, ...analyticsQuery }: AnalyticsQuery,
  now: number,
  retentionDays: number,
): Range {
  if (analyticsQuery.classifier_dimensions || analyticsQuery.classifier_filters) {
    throw new GatewayError(
      "invalid_request",
      "classifier_dimensions, classifier_filters: classifiers are not supported.",
    )
  }
  const from = range ? Date.parse(range.start) : now - DEFAULT_DAYS * DAY_MS
  const to = range ? Date.parse(range.end) : now + 1
  if (from >= to) throw new GatewayError("invalid_request", "time_range: start must be before end.")
  if (granularity !== "minute" && granularity !== "hour") return { from, to, bucketMs: DAY_MS }
  if (to - from > LONGEST[granularity] && range) {
    throw new GatewayError(
      "invalid_request",
      `time_range: by ${granularity}, ${LONGEST[granularity] / DAY_MS} days at most.`,
    )
  }
  if (from < now - retentionDays * DAY_MS) {
    throw new GatewayError("invalid_request", `time_range: by ${granularity}, the last ${retentionDays} days at most.`)
  }
  return { from: Math.max(from, to - LONGEST[granularity]), to, bucketMs: BUCKETS[granularity] }
}

/** Dimensions that the query groups or filters by. */
function dimensionsOf({ dimensions, filters }: Question): Set<string> {
  return new Set<string>([...dimensions, ...filters.map(({ field }) => field)])
}

/** Rows by day, or in finer buckets, with the dimensions that the query groups or filters by. */
async function read(
  db: D1Database,
  { scope, question, range: { from, to, bucketMs } }: { scope: UsageScope; question: Question; range: Range },
  retention: { now: number; retentionDays: number },
): Promise<UsageRow[]> {
  const dimensions = dimensionsOf(question)
  const query = { scope, dimensions, from, to }
  if (bucketMs < DAY_MS || CALL_DIMENSIONS.some((name) => dimensions.has(name))) return readBuckets(db, query, bucketMs)
  await sumDays(db, retention.now, scope.organizationId)
  return readDays(db, query, retention)
}

function toQuestion(analyticsQuery: AnalyticsQuery): Question {
  return {
    metrics: [...new Set(analyticsQuery.metrics)],
    dimensions: [...new Set(analyticsQuery.dimensions)],
    granularity: analyticsQuery.granularity ?? null,
    filters: analyticsQuery.filters.map(({ include_unset: unset, ...filter }) => ({
      ...filter,
      ...(unset !== undefined && { include_unset: unset }),
    })),
    orderBy: analyticsQuery.order_by ?? null,
    limit: analyticsQuery.limit,
    groupLimit: analyticsQuery.group_limit ?? null,
  }
}
