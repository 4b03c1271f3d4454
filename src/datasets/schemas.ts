import * as z from "zod"
import { queryIntegerOr } from "../http/schema.ts"
import { TURN_RANGES } from "./session-cost.ts"

const between = (min: number, max: number, fallback: number) => {
  const rule = `must be an integer from ${min} to ${max}`
  return queryIntegerOr(fallback, min, max, rule)
}

export const SessionCostQuery = z.object({
  app_slug: z.string().min(1).max(256).optional(),
  model: z.string().min(1).max(256).optional().meta({ description: "The exact model, across apps." }),
  turn_range: z.enum(TURN_RANGES, { error: `accepts ${TURN_RANGES.join(", ")}` }).optional(),
  limit: between(1, 500, 100),
  offset: between(0, 5_000, 0),
})
export type SessionCostQuery = z.infer<typeof SessionCostQuery>

export const SessionCostCell = z
  .object({
    app_name: z.string(),
    app_slug: z.string(),
    model_permaslug: z.string(),
    turn_range: z.enum(TURN_RANGES),
    median_session_cost_usd: z.number(),
  })
  .meta({ id: "SessionCostCell" })

export const SessionCost = z
  .object({
    data: z.array(SessionCostCell),
    meta: z.object({
      as_of: z.iso.datetime(),
      version: z.literal("v1"),
      window_days: z.int(),
      window_end_date: z.string().meta({ description: "YYYY-MM-DD; null before the first snapshot." }),
    }),
  })
  .meta({ id: "SessionCost" })
