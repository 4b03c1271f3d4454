import type { Spent } from "../limits.ts"

export type Drift = {
  scope: string
  window: Window
  measure: keyof Spent
  chargedNano: number
  recordedNano: number
  isRepaired: boolean
}

/** Cost that a provider counted above the holds of a model's calls. It was not charged. */
export type Overrun = { model: string; provider: string; calls: number; overrunNano: number; lastAt: number }

export type Reconciliation = {
  organizationId: string
  /** Epoch milliseconds. */
  at: number
  /** Generations that were missing in D1 and were restored. */
  restored: number
  drifts: Drift[]
  /** All overruns, the largest first; absent in reports of older versions. */
  overruns?: Overrun[]
}

/** Compares the counters of a ledger with the sums of its generations. Pure; amounts are nano-USD. */
export const WINDOWS = ["total", "monthly", "weekly", "daily"] as const

export type Window = (typeof WINDOWS)[number]
