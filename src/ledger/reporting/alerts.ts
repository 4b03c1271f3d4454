import type { ResetInterval } from "../../money/windows.ts"

/** Default alert thresholds, in percent of a limit. */
export const DEFAULT_THRESHOLDS: readonly number[] = [50, 80, 100]

/**
 * A crossed threshold, or the first rejection by a limit, once per window and limit. Money is nano-USD, times are epoch
 * milliseconds.
 */
export type LimitAlert = {
  id: string
  organizationId: string
  workspaceId: string
  scope: string
  interval: ResetInterval | null
  /** 0 for a limit without interval. */
  windowStart: number
  /** Percent of the limit; null for a rejection. */
  threshold: number | null
  limitNano: number
  spentNano: number
  /** Minimum amount that the rejected call needed. */
  neededNano?: number
  at: number
}

/** The highest reached threshold in percent; 0 for none. `thresholds` ascend. */
export function reachedThreshold(thresholds: readonly number[], spentNano: number, limitNano: number): number {
  if (limitNano <= 0) return 0
  let reached = 0
  for (const threshold of thresholds) {
    // Uses BigInt only if the product is not exact.
    const isReached =
      spentNano <= MAX_EXACT && limitNano <= MAX_EXACT
        ? spentNano * 100 >= limitNano * threshold
        : BigInt(spentNano) * 100n >= BigInt(limitNano) * BigInt(threshold)
    if (!isReached) break
    reached = threshold
  }
  return reached
}

const MAX_EXACT = Number.MAX_SAFE_INTEGER / 100
