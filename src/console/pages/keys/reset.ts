/** When a limit resets: windows of UTC. */
export function resetAt(reset: string | null, now: number): number | null {
  const date = new Date(now)
  const day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  if (reset === "daily") return day + 86_400_000
  if (reset === "weekly") return day + (8 - (date.getUTCDay() || 7)) * 86_400_000
  if (reset === "monthly") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
  return null
}
