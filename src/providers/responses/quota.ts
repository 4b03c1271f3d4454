/** Reads the rate limit headers of providers. */

/** Header with the remaining requests or tokens of a key, and header with the time of its reset. */
const WINDOWS: readonly (readonly [remaining: string, reset: string])[] = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
  ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
  ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["ratelimit-remaining", "ratelimit-reset"],
]

const DEFAULT_WAIT_MS = 15_000
const MAX_WAIT_MS = 300_000
/** Larger numbers are epoch times, in seconds or in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000
const EPOCH_MS = 1_000_000_000_000

/**
 * Epoch milliseconds until which the key has no requests or tokens left; null if it has some or the headers are
 * missing.
 */
export function exhaustedUntil(headers: Headers, now: number): number | null {
  const waits = exhaustedWaits(headers, now).map((wait) => Math.min(MAX_WAIT_MS, wait ?? DEFAULT_WAIT_MS))
  return waits.length > 0 ? now + Math.max(...waits) : null
}

/** Milliseconds until the latest reset of what is used up, as a hint for retries; null without a reset. */
export function retryHintInQuota(headers: Headers, now: number): number | null {
  const waits = exhaustedWaits(headers, now).filter((wait) => wait !== null)
  return waits.length > 0 ? Math.ceil(Math.max(...waits)) : null
}

/** Milliseconds until the reset of each window without requests or tokens left; null without a reset. */
function exhaustedWaits(headers: Headers, now: number): (number | null)[] {
  return WINDOWS.flatMap(([remaining, reset]) => {
    const remainingQuota = headers.get(remaining)
    if (remainingQuota === null || !/^-?\d+$/.test(remainingQuota.trim()) || Number(remainingQuota) > 0) return []
    return [waitMs(headers.get(reset), now)]
  })
}

/** Milliseconds from `1m30.5s`, `20ms`, seconds, an epoch time or a date; null for other values. */
function waitMs(reset: string | null, now: number): number | null {
  if (reset === null) return null
  const text = reset.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const amount = Number(text)
    if (amount >= EPOCH_MS) return Math.max(0, amount - now)
    return amount >= EPOCH_SECONDS ? Math.max(0, amount * 1_000 - now) : amount * 1_000
  }
  const duration = durationMs(text)
  if (duration !== null) return duration
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function durationMs(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return null
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (UNITS_MS[unit ?? ""] ?? 0)
  }
  return total
}
