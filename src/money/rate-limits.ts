/** Rate limits of a key, a workspace or a guardrail. Null means no limit. */
export type RateLimits = {
  /** Requests that may start in a calendar minute. */
  requestsPerMinute: number | null
  /** Prompt and completion tokens of a calendar minute. */
  tokensPerMinute: number | null
  /** Requests that may run at the same time. */
  concurrentRequests: number | null
}

export const NO_RATES: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

/** Rate limits of a row; null if none is set. */
export function rateLimitsOf({
  requestsPerMinute,
  tokensPerMinute,
  concurrentRequests,
}: RateLimits): RateLimits | null {
  const rates = { requestsPerMinute, tokensPerMinute, concurrentRequests }
  return Object.values(rates).every((value) => value === null) ? null : rates
}
