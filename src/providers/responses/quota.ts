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
  let until: number | null = null
  for (const [remaining, reset] of WINDOWS) {
    const remainingQuota = headers.get(remaining)
    if (remainingQuota === null || !/^-?\d+$/.test(remainingQuota.trim()) || Number(remainingQuota) > 0) continue
    const at = now + Math.min(MAX_WAIT_MS, waitMs(headers.get(reset), now) ?? DEFAULT_WAIT_MS)
    until = Math.max(until ?? 0, at)
  }
  return until
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
