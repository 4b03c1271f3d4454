import { DAY_MS } from "../support/time/time.ts"
export const TURN_RANGES = ["1-turn", "2-9-turns", "10-49-turns", "50-plus-turns"] as const

/** Fewer sessions than this in a cell would reveal data of one of them. */
export const MIN_SESSIONS = 5
export const WINDOW_DAYS = 28

/** The last complete UTC days before `now`, in epoch milliseconds. */
export function windowBefore(now: number): { from: number; to: number; lastDay: string } {
  const to = now - (now % DAY_MS)
  return { from: to - WINDOW_DAYS * DAY_MS, to, lastDay: new Date(to - 1).toISOString().slice(0, 10) }
}
