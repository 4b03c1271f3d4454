import * as z from "zod"
import { type RateLimits, rateLimitsOf } from "../money/rate-limits.ts"

const MAX_RATE = 1_000_000_000
const rule = `must be a whole number from 1 to ${MAX_RATE}, or null for no limit`
const rate = (description: string) =>
  z.int({ error: rule }).min(1, rule).max(MAX_RATE, rule).nullish().meta({ description })

/** Rate limits in a request. Each is optional; null removes it. */
export const rateInput = {
  requests_per_minute: rate(
    "Requests that may start in a calendar minute. An agent loop counts each upstream request.",
  ),
  tokens_per_minute: rate(
    "Prompt and completion tokens per calendar minute. A request counts with an estimate when it starts and with its actual tokens when it ends.",
  ),
  concurrent_requests: rate("Requests that may run at the same time."),
}

const shown = (description: string) => z.int().nullable().meta({ description })

/** Rate limits in a response; null if not set. */
export const rateOutput = {
  requests_per_minute: shown("Requests that may start in a calendar minute."),
  tokens_per_minute: shown("Prompt and completion tokens per calendar minute."),
  concurrent_requests: shown("Requests that may run at the same time."),
}

export const RATE_NAMES = ["requests_per_minute", "tokens_per_minute", "concurrent_requests"] as const
export type RateFields = { [name in (typeof RATE_NAMES)[number]]: number | null }

export function toRateFields(rates: RateLimits): RateFields {
  return {
    requests_per_minute: rates.requestsPerMinute,
    tokens_per_minute: rates.tokensPerMinute,
    concurrent_requests: rates.concurrentRequests,
  }
}

/** Null if no limit is set. */
export function toRateLimits(fields: { [name in keyof RateFields]?: number | null | undefined }): RateLimits | null {
  return rateLimitsOf({
    requestsPerMinute: fields.requests_per_minute ?? null,
    tokensPerMinute: fields.tokens_per_minute ?? null,
    concurrentRequests: fields.concurrent_requests ?? null,
  })
}
