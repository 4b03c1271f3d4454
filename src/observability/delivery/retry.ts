/** Retry schedule of failed deliveries. Pure; times in epoch milliseconds unless named otherwise. */

/** How long deliveries are retried while a destination is down. */
export const RETRY_WINDOW_MS = 24 * 3_600_000
/** Retention of dead letters, which can be redelivered until then. */
export const DEAD_LETTER_DAYS = 14
/** Attempts for a batch that the destination rejects for its content. */
const MAX_REJECTIONS = 5
const FIRST_WAIT_MS = 2_000
const MAX_WAIT_MS = 30_000
export const MAX_RETRY_AFTER_MS = 3_600_000

/** Backoff of one batch by the number of its attempts. Other batches are not delayed. */
export function waitMs(attempts: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20))
}

/** Statuses that blame the content: another batch may be accepted. */
const REJECTIONS = [400, 413, 415, 422]

export function isRejection(status: number | null): boolean {
  return status !== null && REJECTIONS.includes(status)
}

export function isDeadLetter({ since, rejections }: { since: number; rejections: number }, now: number): boolean {
  return rejections >= MAX_REJECTIONS || now - since >= RETRY_WINDOW_MS
}

/**
 * Circuit breaker of a destination. It opens after FAILURES_TO_OPEN failures in a row; each further failure lengthens
 * the pause. After a pause it is half-open: one delivery at a time. A success halves the count, so that the next pause
 * is shorter.
 */
export type Breaker = { failures: number; pausedUntil: number }

/** Failures in a row that open the circuit breaker. */
export const FAILURES_TO_OPEN = 6
/** Below 2: with 2, a receiver that fails half of the time would spend equal time in pauses of each length. */
const PAUSE_GROWTH = 1.5
const INITIAL_DELAY_MS = 1_000
const MAX_DELAY_MS = 15_000
/** With pauses of 15 seconds this is an hour. */
const FAILURES_OF_AN_OUTAGE = 250
const OUTAGE_PAUSE_MS = 300_000

export function pauseMs(failures: number): number {
  if (failures < FAILURES_TO_OPEN) return 0
  if (failures >= FAILURES_OF_AN_OUTAGE) return OUTAGE_PAUSE_MS
  return Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * PAUSE_GROWTH ** (failures - FAILURES_TO_OPEN))
}

/** `retryAfterMs`: the destination's Retry-After, which can only lengthen the pause. */
export function afterFailure({ failures }: Breaker, now: number, retryAfterMs: number): Breaker {
  const ms = Math.max(pauseMs(failures + 1), Math.min(MAX_RETRY_AFTER_MS, retryAfterMs))
  return { failures: failures + 1, pausedUntil: ms > 0 ? now + Math.ceil(ms) : 0 }
}

export function afterSuccess({ failures }: Breaker): Breaker {
  return { failures: isHalfOpen(failures) ? failures >> 1 : 0, pausedUntil: 0 }
}

export function isHalfOpen(failures: number): boolean {
  return failures >= FAILURES_TO_OPEN
}
