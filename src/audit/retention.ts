import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"

/** Days that the audit log is kept. */
export function auditRetentionDays(env: Env): number {
  return configOf(env).AUDIT_RETENTION_DAYS
}
