import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"

/** Retention of the audit log in days. */
export function auditRetentionDays(env: Env): number {
  return configOf(env).AUDIT_RETENTION_DAYS
}
