import type { Limit } from "../../api/types.ts"

const DAY = 86_400_000
/** Below this share of a window, its pace is no forecast. */
const MIN_SHARE = 0.05

/** Start of the window of a limit that ends at this time. */
function windowStart(interval: NonNullable<Limit["interval"]>, end: number): number {
  if (interval === "daily") return end - DAY
  if (interval === "weekly") return end - 7 * DAY
  const date = new Date(end)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1)
}

type Windowed = Pick<Limit, "limit" | "spent" | "held" | "left" | "interval" | "resets_at">

/** When a limit is reached at the mean pace of its window; null if it resets before, or there is no pace yet. */
export function limitReachedAt({ spent, left, interval, resets_at: resetsAt }: Windowed, now: number): number | null {
  if (interval === null || resetsAt === null || spent <= 0 || left <= 0) return null
  const end = Date.parse(resetsAt)
  const start = windowStart(interval, end)
  const elapsed = now - start
  if (elapsed < (end - start) * MIN_SHARE) return null
  const at = now + (left / spent) * elapsed
  return at < end ? at : null
}
