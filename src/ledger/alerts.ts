import type { ResetInterval } from "../money/windows.ts"

/** Percent of a limit at which an organization is alerted, unless it sets others. */
export const DEFAULT_THRESHOLDS: readonly number[] = [50, 80, 100]

/**
 * A threshold that was crossed, or the first refusal of a limit, once per window and limit. Money is nano-USD, instants
 * are epoch milliseconds.
 */
export type LimitAlert = {
  id: string
  organizationId: string
  workspaceId: string
  scope: string
  interval: ResetInterval | null
  /** 0 for a limit without an interval. */
  windowStart: number
  /** Percent of the limit; null for a refusal. */
  threshold: number | null
  limitNano: number
  spentNano: number
  /** What the refused call needed at least. */
  neededNano?: number
  at: number
}

/** The highest threshold that was reached, in percent; 0 for none. Thresholds ascend. */
export function reachedThreshold(thresholds: readonly number[], spentNano: number, limitNano: number): number {
  if (limitNano <= 0) return 0
  let reached = 0
  for (const threshold of thresholds) {
    // In BigInt only where the product is not exact.
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
