import { resetAt } from "../../format/windows.ts"

const DAY = 86_400_000

type Charged = { cost: number; byok_cost: number }

/**
 * Calls of the window that a lower limit would have rejected: those that began when it was spent. `calls`: newest first;
 * `spent`: in the complete window, of which there may be more calls.
 */
export function callsRejectedBy(
  calls: readonly Charged[],
  limit: number,
  { spent, byok }: { spent: number; byok: boolean },
) {
  const costOf = (call: Charged) => call.cost + (byok ? call.byok_cost : 0)
  let sum = Math.max(0, spent - calls.reduce((total, call) => total + costOf(call), 0))
  let rejected = 0
  for (const call of calls.toReversed()) {
    if (sum >= limit) rejected += 1
    else sum += costOf(call)
  }
  return rejected
}

/** Start of the window of a limit; null for a limit that never resets. */
export function windowOf(reset: string, now: number): { from: number; name: string } | null {
  const end = resetAt(reset, now)
  if (end === null) return null
  if (reset === "daily") return { from: end - DAY, name: "of today" }
  if (reset === "weekly") return { from: end - 7 * DAY, name: "of this week" }
  const date = new Date(now)
  return { from: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1), name: "of this month" }
}
