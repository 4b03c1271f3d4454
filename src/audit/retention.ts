import { type Env, variable } from "../config/env.ts"

const DEFAULT_DAYS = 365

/** For how many days the audit log is kept: AUDIT_RETENTION_DAYS; what is not a whole number of at least 1 is a year. */
export function auditRetentionDays(env: Env): number {
  const days = Number(variable(env, "AUDIT_RETENTION_DAYS") ?? Number.NaN)
  return Number.isSafeInteger(days) && days >= 1 ? days : DEFAULT_DAYS
}
