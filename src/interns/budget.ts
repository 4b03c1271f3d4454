import { invalidateKey } from "../access/key-cache.ts"
import type { AuditEntry } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { limitFields, limitOf, usageFields } from "../keys/key.ts"
import { type KeyChange, updateKey } from "../keys/store.ts"
import type { KeyRow } from "../keys/table.ts"
import { openLedger } from "../ledger/client.ts"
import { type Counters, newCounters } from "../ledger/limits.ts"
import { usdToNano } from "../money/money.ts"
import { toIntern } from "./intern.ts"
import type { Intern, InternChange } from "./schemas.ts"
import { listInternKeys } from "./store.ts"
import type { InternRow } from "./table.ts"

/** The budget of an intern is the limit of its own key, beside the limits of the keys above it. */
type Budget = Pick<InternChange, "limit" | "limit_reset">

export function toLimitColumns({ limit, limit_reset: reset }: Budget): Pick<KeyRow, "limitNano" | "limitReset"> {
  return { limitNano: limit == null ? null : usdToNano(limit), limitReset: reset ?? null }
}

/** Changes the limit of the intern's key, where the request names one. */
export async function changeBudget(
  env: Env,
  { keyHash, organizationId }: InternRow,
  { limit, limit_reset: reset }: Budget,
  entry: AuditEntry,
): Promise<void> {
  const change: KeyChange = {
    ...(limit !== undefined && { limitNano: limit === null ? null : usdToNano(limit) }),
    ...(reset !== undefined && { limitReset: reset }),
  }
  if (Object.keys(change).length === 0) return
  await updateKey(env.DB, { organizationId, hash: keyHash, change, now: Date.now(), entry })
  invalidateKey(keyHash)
}

/** The records of interns, with what their keys have spent and have left. */
export async function toInterns(env: Env, organizationId: string, rows: readonly InternRow[]): Promise<Intern[]> {
  if (rows.length === 0) return []
  const hashes = rows.map(({ keyHash }) => keyHash)
  const [keys, counters] = await Promise.all([
    listInternKeys(env.DB, organizationId, hashes),
    openLedger(env, organizationId).usage(hashes),
  ])
  return rows.map((row, at) => ({ ...toIntern(row), ...budgetFields(keys.get(row.keyHash), counters[at]) }))
}

type BudgetFields = Pick<Intern, "limit" | "limit_reset" | "limit_remaining" | "usage" | "usage_daily">

function budgetFields(key: KeyRow | undefined, counters: Counters = newCounters(Date.now())): BudgetFields {
  const { usage, usage_daily: daily } = usageFields(counters)
  return { ...limitFields(key && limitOf({ ...key, keyHash: key.hash }), counters), usage, usage_daily: daily }
}
