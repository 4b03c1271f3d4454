import { uuidParam } from "../http/schema.ts"
import { DAY_MS } from "../support/time/time.ts"
import * as z from "zod"
import { nanoToUsd } from "../money/money.ts"
import type { ActivityRow } from "./store.ts"

/** Number of complete UTC days that can be queried. */
const DAYS = 30
export const DATE_RULE = "must be one of the last 30 completed days of UTC, as YYYY-MM-DD"

export const ActivityQuery = z.object({
  date: z.iso.date({ error: DATE_RULE }).optional(),
  api_key_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them")
    .optional(),
  user_id: z.string().min(1).max(256).optional().meta({ description: "Creator of the key." }),
  group_by: z.literal("workspace", { error: 'accepts "workspace"' }).optional(),
  workspace_id: uuidParam("a workspace").optional(),
})
export type ActivityQuery = z.infer<typeof ActivityQuery>

export const ActivityItem = z
  .object({
    date: z.string().meta({ description: "YYYY-MM-DD" }),
    model: z.string(),
    model_permaslug: z.string(),
    endpoint_id: z.string(),
    provider_name: z.string(),
    usage: z.number().meta({ description: "USD" }),
    byok_usage_inference: z.number(),
    requests: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    reasoning_tokens: z.int(),
    workspace_id: z.string().optional(),
  })
  .meta({ id: "ActivityItem" })

export const Activity = z.object({ data: z.array(ActivityItem) }).meta({ id: "Activity" })

/** Epoch milliseconds of one day, or of all; undefined for a day outside the range. */
export function activityWindow(date: string | undefined, now: number): { from: number; to: number } | undefined {
  const today = now - (now % DAY_MS)
  if (date === undefined) return { from: today - DAYS * DAY_MS, to: today }
  const from = Date.parse(`${date}T00:00:00Z`)
  return from < today && from >= today - DAYS * DAY_MS ? { from, to: from + DAY_MS } : undefined
}

export function toActivityItem(row: ActivityRow, byWorkspace: boolean): z.infer<typeof ActivityItem> {
  return {
    date: row.day,
    model: row.model,
    model_permaslug: row.model,
    endpoint_id: `${row.provider}:${row.model}`,
    provider_name: row.provider,
    usage: nanoToUsd(row.usage),
    byok_usage_inference: nanoToUsd(row.byok),
    requests: row.requests,
    prompt_tokens: row.prompt,
    completion_tokens: row.completion,
    reasoning_tokens: row.reasoning,
    ...(byWorkspace && { workspace_id: row.workspace_id }),
  }
}
