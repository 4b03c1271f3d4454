import { DAY_MS } from "../support/time/time.ts"
import * as z from "zod"
import { oneOf, queryIntegerOr } from "../http/schema.ts"
import { USE_CASES } from "../models/lists/use-cases.ts"
import { dayOf, startOf } from "../support/time/day.ts"

/** The most used models and apps, from the daily sums of the complete deployment. */

const FIRST_DAY = "2025-01-01"
const DEFAULT_DAYS = 30
/** Models per day that are listed by name; the rest are summed as `other`. */
export const NAMED_MODELS = 50

const CATEGORIES = ["coding", "creative", "productivity", "entertainment"] as const
const SUBCATEGORIES = [
  "cli-agent",
  "ide-extension",
  "cloud-agent",
  "programming-app",
  "native-app-builder",
  "creative-writing",
  "video-gen",
  "image-gen",
  "audio-gen",
  "roleplay",
  "game",
  "writing-assistant",
  "general-chat",
  "personal-agent",
  "legal",
] as const
const MODALITIES = ["text", "image", "image_output", "audio", "tool_calling"] as const
const CONTEXTS = ["1K", "10K", "100K", "1M", "10M"] as const
const PERIODS = ["day", "week", "month"] as const
const LANGUAGES = ["natural", "programming"] as const

const date = z.iso.date({ error: "must be a day of UTC as YYYY-MM-DD" })
const page = (max: number, fallback: number, min: number) => {
  const message = `must be from ${min} to ${max}`
  return queryIntegerOr(fallback, min, max, message)
}

export const AppRankingsQuery = z.object({
  category: oneOf(CATEGORIES).optional(),
  subcategory: oneOf(SUBCATEGORIES).optional(),
  sort: oneOf(["popular", "trending"]).default("popular"),
  start_date: date.optional(),
  end_date: date.optional(),
  limit: page(100, 50, 1),
  offset: page(100, 0, 0),
})

export const RankingsDailyQuery = z.object({
  start_date: date.optional(),
  end_date: date.optional(),
  period: oneOf(PERIODS).default("day"),
  modality: oneOf(MODALITIES).optional(),
  context_bucket: oneOf(CONTEXTS).optional(),
  category: oneOf(USE_CASES).optional(),
  language_type: oneOf(LANGUAGES).optional(),
})
export type RankingsDailyQuery = z.infer<typeof RankingsDailyQuery>

const Meta = z
  .object({ as_of: z.iso.datetime(), version: z.literal("v1"), start_date: z.string(), end_date: z.string() })
  .meta({ id: "RankingsMeta" })
const tokens = z.string().meta({ description: "A whole number in decimal digits" })

export const AppRankings = z
  .object({
    data: z.array(
      z.object({
        app_id: z.int(),
        app_name: z.string(),
        rank: z.int(),
        total_requests: z.int(),
        total_tokens: tokens,
      }),
    ),
    meta: Meta,
  })
  .meta({ id: "AppRankings" })

export const RankingsDaily = z
  .object({
    data: z.array(z.object({ date: z.string(), model_permaslug: z.string(), total_tokens: tokens })),
    meta: Meta,
  })
  .meta({ id: "RankingsDaily" })

export type Days = { first: string; last: string }

/**
 * The requested days, both inclusive; by default the last 30 complete ones. Returns an error text for invalid ranges.
 */
export function daysOf(
  requested: { start_date?: string | undefined; end_date?: string | undefined },
  now: number,
): Days | string {
  const yesterday = dayOf(now - DAY_MS)
  const last = requested.end_date === undefined || requested.end_date > yesterday ? yesterday : requested.end_date
  if (last < FIRST_DAY) return `end_date: must be ${FIRST_DAY} or later, where the data begins.`
  const first = requested.start_date ?? dayOf(startOf(last) - (DEFAULT_DAYS - 1) * DAY_MS)
  if (first > last) return "start_date: must not be after end_date, and be a day that is over."
  return { first: first < FIRST_DAY ? FIRST_DAY : first, last }
}

/** An error text for filters that cannot be combined; undefined if they can. */
export function conflictOf(query: RankingsDailyQuery): string | undefined {
  const { category, language_type: language, modality, context_bucket: context, period } = query
  if (category === undefined && language === undefined) return undefined
  const name = category === undefined ? "language_type" : "category"
  if (category !== undefined && language !== undefined) return "category: cannot be combined with language_type."
  if (modality !== undefined || context !== undefined) {
    return `${name}: cannot be combined with modality or context_bucket.`
  }
  return period === "day" ? `${name}: needs a period of week or month.` : undefined
}

/** API types of a modality; null for all; empty if calls are not recorded by that modality. */
export function apiTypesOf(query: RankingsDailyQuery): string[] | null {
  if (query.category !== undefined || query.language_type !== undefined || query.context_bucket !== undefined) return []
  switch (query.modality) {
    case undefined:
      return null
    case "text":
      return ["completions"]
    case "image_output":
      return ["image"]
    case "audio":
      return ["tts", "stt"]
    case "image":
    case "tool_calling":
      return []
  }
}
