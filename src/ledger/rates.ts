import type { Tokens } from "../money/money.ts"
import type { RateLimits } from "../money/rate-limits.ts"
import { continuedStart } from "../money/windows.ts"
import { HOUR_MS } from "../support/time/time.ts"

/**
 * Rate limits: requests and tokens per calendar minute, and concurrent requests. Pure; the ledger counts
 * (durable-objects/ledger/rates.ts), and isolates distribute leased shares (leases.ts).
 *
 * A call takes one request, its estimated tokens and one slot under all limits, or nothing. At its end the slot is
 * returned, and the actual tokens replace the estimate. Leased shares count as used from the moment of the lease, so
 * that isolates cannot exceed a limit together.
 */

/** Rate limits of a call and the scope that they count in: a key, a workspace or a guardrail. */
export type RateLimit = RateLimits & { scope: string }

/** Rate limits of a call. `tokens`: estimated prompt and completion tokens. */
export type RateRequest = { limits: readonly RateLimit[]; tokens: number }

/** Requests and tokens of a scope in the minute that starts at `minute` (epoch milliseconds). */
export type RateCount = { minute: number; requests: number; tokens: number }

/** Amounts taken of every limit of a key. Infinity if no limit of that kind applies. */
export type RateShare = { requests: number; tokens: number; slots: number }

/** A share leased by an isolate. Requests and tokens are valid only in `minute`. */
export type RateSlice = RateShare & { minute: number }

export type RateRejection = {
  scope: string
  kind: "requests" | "tokens" | "concurrent"
  limit: number
  remaining: number
  /** Amount that the call needs: 1, or its estimated tokens. */
  needed: number
  /** Epoch milliseconds at which the minute ends; null for concurrent requests. */
  resetAt: number | null
}

export type RateUse = { countOf: (scope: string) => RateCount; slotsOf: (scope: string) => number }

export const MINUTE_MS = 60_000

/** A slice is at most this share of the rest of any limit. */
const LEASE_SHARE = 32
/** Minimum number of calls for a slice: near a limit, the ledger counts every call. */
const MIN_CALLS = 4

export function minuteOf(now: number): number {
  return now - (now % MINUTE_MS)
}

/** Resets the count of a minute that has ended, or is more than an hour ahead. A clock that steps back resets none twice. */
export function currentCount(count: RateCount | undefined, now: number): RateCount {
  const minute = continuedStart(count?.minute ?? 0, minuteOf(now), now + HOUR_MS)
  return count?.minute === minute ? count : { minute, requests: 0, tokens: 0 }
}

/** The first limit that rejects another call; undefined if none does. */
export function rateRejectionOf(
  { limits, tokens }: RateRequest,
  { countOf, slotsOf }: RateUse,
): RateRejection | undefined {
  for (const { scope, requestsPerMinute, tokensPerMinute, concurrentRequests } of limits) {
    const count = countOf(scope)
    const resetAt = count.minute + MINUTE_MS
    const reject = (kind: RateRejection["kind"], limit: number, used: number, needed: number): RateRejection => ({
      scope,
      kind,
      limit,
      needed,
      remaining: Math.max(0, limit - used),
      resetAt: kind === "concurrent" ? null : resetAt,
    })
    const running = slotsOf(scope)
    if (concurrentRequests !== null && running + 1 > concurrentRequests)
      return reject("concurrent", concurrentRequests, running, 1)
    if (requestsPerMinute !== null && count.requests + 1 > requestsPerMinute)
      return reject("requests", requestsPerMinute, count.requests, 1)
    if (tokensPerMinute !== null && count.tokens + tokens > tokensPerMinute)
      return reject("tokens", tokensPerMinute, count.tokens, tokens)
  }
  return undefined
}

/** The share to lease, including the call; undefined if the key is too near a limit. */
export function rateShareOf({ limits, tokens }: RateRequest, { countOf, slotsOf }: RateUse): RateShare | undefined {
  const available = { requests: Infinity, tokens: Infinity, slots: Infinity }
  for (const { scope, requestsPerMinute, tokensPerMinute, concurrentRequests } of limits) {
    const count = countOf(scope)
    if (requestsPerMinute !== null)
      available.requests = Math.min(available.requests, requestsPerMinute - count.requests)
    if (tokensPerMinute !== null) available.tokens = Math.min(available.tokens, tokensPerMinute - count.tokens)
    if (concurrentRequests !== null) available.slots = Math.min(available.slots, concurrentRequests - slotsOf(scope))
  }
  const part = (amount: number) => (amount === Infinity ? Infinity : Math.floor(amount / LEASE_SHARE))
  const share = { requests: part(available.requests), tokens: part(available.tokens), slots: part(available.slots) }
  const isWorthIt =
    share.requests >= MIN_CALLS && share.slots >= MIN_CALLS && share.tokens >= MIN_CALLS * Math.max(1, tokens)
  return isWorthIt ? share : undefined
}

/** Tokens of a call that count in a token limit. */
export function tokensUsed({ prompt, completion }: Pick<Tokens, "prompt" | "completion">): number {
  return prompt + completion
}

/** Amount to count at the ledger: 0 if no limit of the kind applies. */
export function finiteOrZero(amount: number): number {
  return amount === Infinity ? 0 : amount
}

/** In a new minute, only the overuse of the last one remains. */
export function currentSlice(slice: RateSlice, now: number): RateSlice {
  const minute = minuteOf(now)
  if (minute <= slice.minute) return slice
  const kept = (left: number) => (left === Infinity ? Infinity : Math.min(0, left))
  return { minute, requests: kept(slice.requests), tokens: kept(slice.tokens), slots: slice.slots }
}

/** A slice after another share of the minute `minute` was leased. */
export function refillSlice(slice: RateSlice | undefined, share: RateSlice): RateSlice {
  if (!slice) return share
  // If two grants cross a minute, the earlier one adds only slots.
  const [late, early] = slice.minute >= share.minute ? [slice, share] : [share, slice]
  const left = currentSlice(early, late.minute)
  return {
    minute: late.minute,
    requests: late.requests + left.requests,
    tokens: late.tokens + left.tokens,
    slots: late.slots + left.slots,
  }
}

/** The slice after another call; undefined if it has no room. */
export function reserveRate(slice: RateSlice, tokens: number, now: number): RateSlice | undefined {
  const { minute, ...left } = currentSlice(slice, now)
  if (left.requests < 1 || left.slots < 1 || left.tokens < tokens) return undefined
  return { minute, requests: left.requests - 1, tokens: left.tokens - tokens, slots: left.slots - 1 }
}

/** Tokens that a call took of a slice, in addition to one request and one slot. */
export type ReservedRate = { minute: number; tokens: number }

/** Ends a call. Unused tokens are returned within its minute. */
export function releaseRate(slice: RateSlice, taken: ReservedRate, usedTokens: number): RateSlice {
  const unused = taken.tokens - usedTokens
  return {
    ...slice,
    tokens: slice.tokens + (taken.minute === slice.minute ? unused : Math.min(0, unused)),
    slots: slice.slots + 1,
  }
}
