import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"

/** Days that single generations are kept. Daily sums are kept for good. */
export function generationRetentionDays(env: Env): number {
  return configOf(env).GENERATION_RETENTION_DAYS
}
