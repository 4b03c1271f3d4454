import { createRoute } from "@hono/zod-openapi"
import type * as z from "zod"
import { newRouter } from "../edge/router.ts"
import { failures, ok } from "../edge/schema.ts"
import { toTimestamp } from "../support/time.ts"
import { SessionCost, type SessionCostCell, SessionCostQuery } from "./schemas.ts"
import { readSessionCost } from "./store.ts"

const sessionCost = createRoute({
  method: "get",
  path: "/datasets/session-cost",
  operationId: "getSessionCost",
  tags: ["Datasets"],
  summary: "What a session of an app costs in the middle, by model and number of turns.",
  description: "Computed weekly. A cell has at least five sessions, and tells nothing of any one of them.",
  request: { query: SessionCostQuery },
  responses: {
    200: ok(SessionCost, "The cells, by app, model and number of turns."),
    ...failures("invalid_request", "unauthenticated", "rate_limited", "internal"),
  },
})

export const datasets = newRouter().openapi(sessionCost, async (c) => {
  const { cells, snapshot } = await readSessionCost(c.env.DB, c.req.valid("query"))
  const data = cells.map((cell) => ({
    app_name: cell.app_name,
    app_slug: cell.app_slug,
    model_permaslug: cell.model,
    turn_range: cell.turn_range as z.infer<typeof SessionCostCell>["turn_range"],
    median_session_cost_usd: Math.round(cell.median_nano) / 1e9,
  }))
  const meta = {
    as_of: toTimestamp(snapshot?.as_of ?? Date.now()),
    version: "v1" as const,
    window_days: snapshot?.window_days ?? null,
    window_end_date: snapshot?.window_end_date ?? null,
  }
  return c.json({ data, meta }, 200)
})
