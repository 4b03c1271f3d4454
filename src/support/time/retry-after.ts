import { isObject, type Json, objectsOf } from "../text/json.ts"

/** `retry-after-ms`, then `Retry-After` in seconds or as a date; null if absent, past or invalid. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms)
  const value = headers.get("retry-after")?.trim()
  if (!value) return null
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000)
  // A date contains letters; other values that Date.parse accepts are invalid.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const SECONDS = ["retry_after", "retry_after_seconds", "resets_in_seconds"]
/** Epoch values from here on are milliseconds. */
const MIN_EPOCH_MS = 100_000_000_000

/**
 * The hint in an error object, from providers without the header: `retry_after` or `resets_at`, also below `metadata`,
 * or Google's RetryInfo. Milliseconds; null without a hint.
 */
export function retryHintIn(error: Json, now: number): number | null {
  for (const name of SECONDS) {
    const seconds = error[name]
    if (typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)) return Math.ceil(seconds * 1_000)
  }
  const at = instantOf(error["resets_at"])
  if (at !== null) return Math.max(0, at - now)
  for (const { retryDelay } of objectsOf(error["details"])) {
    const delay = typeof retryDelay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined
    if (delay !== undefined) return Math.ceil(Number(delay) * 1_000)
  }
  const { metadata } = error
  return isObject(metadata) ? retryHintIn({ ...metadata, metadata: null }, now) : null
}

const HINT =
  /\b(?:try again|retry|wait)\b(?: (?:in|after|for|at least|another))* ?((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)\b ?|\d+(?:\.\d+)?[hm](?=\d))+)/i
const PART = /(\d+(?:\.\d+)?) ?(ms|milli|[smh])/gi
const UNITS: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** The hint in a message, such as `Please try again in 1m2.5s` or `retry after 26 seconds`; null without a hint. */
export function retryHintInText(message: string): number | null {
  const [, delay] = HINT.exec(message) ?? []
  if (delay === undefined) return null
  let total = 0
  for (const [, amount, unit] of delay.matchAll(PART)) {
    total += Number(amount) * (UNITS[(unit ?? "").toLowerCase()] ?? 0)
  }
  return Math.ceil(total)
}

/** Epoch milliseconds of an epoch in seconds or milliseconds, or of an ISO 8601 timestamp; null for anything else. */
function instantOf(value: unknown): number | null {
  if (typeof value === "string") {
    const at = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
    return Number.isNaN(at) ? null : at
  }
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) return null
  return Math.ceil(value < MIN_EPOCH_MS ? value * 1_000 : value)
}
