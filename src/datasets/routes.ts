import { createRoute } from "@hono/zod-openapi"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { toTimestamp } from "../support/time/time.ts"
import { appIdOf } from "../support/app-id.ts"
import { SessionCost, SessionCostQuery } from "./schemas.ts"
import { Benchmarks, BenchmarksQuery, TaskClassifications, TaskClassificationsQuery } from "./published.ts"
import {
  apiTypesOf,
  AppRankings,
  AppRankingsQuery,
  conflictOf,
  type Days,
  daysOf,
  RankingsDaily,
  RankingsDailyQuery,
} from "./rankings.ts"
import { readAppRankings, readRankings, readSessionCost } from "./store.ts"

const sessionCost = createRoute({
  method: "get",
  path: "/datasets/session-cost",
  operationId: "getSessionCost",
  tags: ["Datasets"],
  summary: "Get the median cost of sessions",
  description:
    "Of an app, by model and number of turns. Computed weekly. A cell has at least five sessions, and no data of a single one. Reuse with attribution is allowed.",
  request: { query: SessionCostQuery },
  responses: {
    200: ok(SessionCost, "The cells, by app, model and number of turns."),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

const appRankings = createRoute({
  method: "get",
  path: "/datasets/app-rankings",
  operationId: "getAppRankings",
  tags: ["Datasets"],
  summary: "Rank apps",
  description:
    "By tokens or by growth. Apps that name themselves (X-Title or HTTP-Referer), from days that are over. Apps say nothing of their category, so a category has none.",
  request: { query: AppRankingsQuery },
  responses: {
    200: ok(AppRankings, "The first has most."),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

const rankingsDaily = createRoute({
  method: "get",
  path: "/datasets/rankings-daily",
  operationId: "getRankingsDaily",
  tags: ["Datasets"],
  summary: "Get the tokens of each model",
  description:
    "By day, week or month. From days that are over; the fifty largest models of a date by name, and the rest as `other`. Calls are not grouped by category, language, size of the context, pictures or tools: with such a filter there are none.",
  request: { query: RankingsDailyQuery },
  responses: {
    200: ok(RankingsDaily, "By date, the largest first."),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

const taskClassifications = createRoute({
  method: "get",
  path: "/classifications/task",
  operationId: "getTaskClassifications",
  tags: ["Datasets"],
  summary: "Get the tasks of models",
  description: "Always empty: the gateway does not classify prompts.",
  request: { query: TaskClassificationsQuery },
  responses: {
    200: ok(TaskClassifications),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

const benchmarks = createRoute({
  method: "get",
  path: "/benchmarks",
  operationId: "getBenchmarks",
  tags: ["Datasets"],
  summary: "List benchmarks",
  description: "Always empty: this gateway runs and publishes no benchmarks.",
  request: { query: BenchmarksQuery },
  responses: {
    200: ok(Benchmarks),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

export const datasets = newRouter().openapi(sessionCost, async (c) => {
  const { cells, snapshot } = await readSessionCost(c.env.DB, c.req.valid("query"), Date.now())
  const data = cells.map((cell) => ({
    app_name: cell.app_name,
    app_slug: cell.app_slug,
    model_permaslug: cell.model,
    turn_range: cell.turn_range,
    median_session_cost_usd: Math.round(cell.median_nano) / 1e9,
  }))
  const meta = {
    as_of: toTimestamp(snapshot.as_of),
    version: "v1" as const,
    window_days: snapshot.window_days,
    window_end_date: snapshot.window_end_date,
  }
  return c.json({ data, meta }, 200)
})

datasets.openapi(appRankings, async (c) => {
  const { category, subcategory, sort, limit, offset, ...requested } = c.req.valid("query")
  const days = requireDays(requested)
  const hasData = category === undefined && subcategory === undefined
  const rows = hasData ? await readAppRankings(c.env.DB, { days, sort, limit, offset }) : []
  const data = rows.map((row, index) => ({
    app_id: appIdOf(row.app),
    app_name: row.app,
    rank: offset + index + 1,
    total_requests: row.requests,
    total_tokens: String(row.tokens),
  }))
  return c.json({ data, meta: metaOf(days) }, 200)
})

datasets.openapi(rankingsDaily, async (c) => {
  const query = c.req.valid("query")
  const conflict = conflictOf(query)
  if (conflict !== undefined) throw new GatewayError("invalid_request", conflict)
  const days = requireDays(query)
  const rows = await readRankings(c.env.DB, { days, period: query.period, apiTypes: apiTypesOf(query) })
  const data = rows.map((row) => ({ date: row.date, model_permaslug: row.model, total_tokens: String(row.tokens) }))
  return c.json({ data, meta: metaOf(days) }, 200)
})

datasets.openapi(taskClassifications, (c) => {
  const data = { as_of: toTimestamp(Date.now()), window_days: 7, classifications: [], macro_categories: [] }
  return c.json({ data }, 200)
})

datasets.openapi(benchmarks, (c) => {
  const { source = null, task_type: taskType = null } = c.req.valid("query")
  const about = { version: "v1" as const, source, source_url: null, citation: null, task_type: taskType }
  return c.json({ data: [], meta: { as_of: toTimestamp(Date.now()), ...about, model_count: 0 } }, 200)
})

function requireDays(requested: { start_date?: string | undefined; end_date?: string | undefined }): Days {
  const days = daysOf(requested, Date.now())
  if (typeof days === "string") throw new GatewayError("invalid_request", days)
  return days
}

function metaOf({ first, last }: Days) {
  return { as_of: toTimestamp(Date.now()), version: "v1" as const, start_date: first, end_date: last }
}
