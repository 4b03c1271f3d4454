import { type Env, variable } from "../config/env.ts"

const DEFAULT_DAYS = 90
/** A month and some days: what a monthly limit counts can be proven by its calls. */
const LEAST_DAYS = 35

/** For how many days single generations are kept: GENERATION_RETENTION_DAYS, at least 35. Sums by day are kept for good. */
export function generationRetentionDays(env: Env): number {
  const days = Number(variable(env, "GENERATION_RETENTION_DAYS") ?? Number.NaN)
  return Number.isSafeInteger(days) ? Math.max(LEAST_DAYS, days) : DEFAULT_DAYS
}
