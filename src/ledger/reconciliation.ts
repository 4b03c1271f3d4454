import type { Spent } from "./limits.ts"

export type Drift = {
  scope: string
  window: Window
  measure: keyof Spent
  chargedNano: number
  recordedNano: number
  isRepaired: boolean
}

/** What a provider counted for calls of a model above what was held for them. It was not charged. */
export type Overrun = { model: string; provider: string; calls: number; overrunNano: number; lastAt: number }

export type Reconciliation = {
  organizationId: string
  /** Epoch milliseconds. */
  at: number
  /** Generations that the database had lost and was given again. */
  restored: number
  drifts: Drift[]
  /** Of all time, the largest first; absent from reports of older versions. */
  overruns?: Overrun[]
}

/** What a ledger has charged against what its generations sum up to. Pure; amounts are nano-USD. */
export const WINDOWS = ["total", "monthly", "weekly", "daily"] as const

export type Window = (typeof WINDOWS)[number]
