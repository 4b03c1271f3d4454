/**
 * When a delivery that failed is tried again, and when no more. Pure; times in epoch milliseconds unless named
 * otherwise.
 */

/** How long deliveries are retried while a destination is down. */
export const TRIED_FOR_MS = 24 * 3_600_000
/** Retention of dead letters, which can be revived meanwhile. */
export const DEAD_LETTER_DAYS = 14
/** Attempts for a batch that the destination rejects for its content. */
const MAX_REJECTIONS = 5
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 3_600_000

/**
 * `failures`: in a row, including this one. `retryAfterMs`: the destination's Retry-After, which can only lengthen the
 * delay.
 */
export function waitMs(failures: number, retryAfterMs = 0): number {
  return Math.min(LONGEST_WAIT_MS, Math.max(retryAfterMs, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 20)))
}

/** Statuses that blame the content: another batch may well be taken. */
const REJECTIONS = [400, 413, 415, 422]

export function isRejection(status: number | null): boolean {
  return status !== null && REJECTIONS.includes(status)
}

export function isDeadLetter({ since, rejections }: { since: number; rejections: number }, now: number): boolean {
  return rejections >= MAX_REJECTIONS || now - since >= TRIED_FOR_MS
}
