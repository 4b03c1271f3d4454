const DAY = 86_400_000
const HOUR = 3_600_000
const WEEKDAYS = ["M", "T", "W", "T", "F", "S", "S"] as const

/** A window of a limit, in UTC, in hours or days. */
export type Window = { from: number; to: number; cells: readonly { from: number; label: string }[] }

/** The current window of an interval; null for one that never resets. */
export function windowOf(interval: string | null, now: number): Window | null {
  const date = new Date(now)
  const day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  if (interval === "daily") return windowFrom(day, HOUR, 24, String)
  if (interval === "weekly")
    return windowFrom(day - ((date.getUTCDay() || 7) - 1) * DAY, DAY, 7, (index) => WEEKDAYS[index] ?? "")
  if (interval !== "monthly") return null
  const from = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  const to = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  return windowFrom(from, DAY, Math.round((to - from) / DAY), (index) => String(index + 1))
}

function windowFrom(from: number, step: number, count: number, label: (index: number) => string): Window {
  const cells = Array.from({ length: count }, (_, index) => ({ from: from + index * step, label: label(index) }))
  return { from, to: from + count * step, cells }
}

/** When a limit resets. */
export function resetAt(interval: string | null, now: number): number | null {
  return windowOf(interval, now)?.to ?? null
}
