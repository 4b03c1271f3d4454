import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"

/** Retention of generations in days. Daily sums are kept permanently. */
export function generationRetentionDays(env: Env): number {
  return configOf(env).GENERATION_RETENTION_DAYS
}
