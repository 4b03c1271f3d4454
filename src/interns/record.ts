import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { openLedger } from "../ledger/client.ts"
import type { Counters } from "../ledger/limits.ts"
import { logError } from "../support/log.ts"
import { mayControl } from "./access/authority.ts"
import { toIntern } from "./intern.ts"
import { toTermFields, toUsageFields } from "./access/key-terms.ts"
import type { Intern } from "./schemas.ts"
import { findInternKeys, type InternKey } from "./access/key-store.ts"
import type { InternRow } from "./table.ts"

type Reader = { env: Env; principal: Principal }

export async function toRecord(reader: Reader, row: InternRow): Promise<Intern> {
  const [record] = await toRecords(reader, [row])
  return record ?? toIntern(row)
}

/** Records of interns for a principal: with limits and usage only if it controls the intern or is its own key. */
export async function toRecords({ env, principal }: Reader, rows: readonly InternRow[]): Promise<Intern[]> {
  const visible = rows.filter((row) => principal.internId === row.id || mayControl(principal, row))
  const hashes = visible.map(({ keyHash }) => keyHash)
  const keys = await findInternKeys(env.DB, principal.organizationId, hashes)
  const usage = await usageOf(env, principal.organizationId, keys)
  const fields = new Map(
    keys.map((key, index) => [
      key.hash,
      { ...toTermFields(key), ...(usage && toUsageFields(key, usage[index])) } satisfies Partial<Intern>,
    ]),
  )
  return rows.map((row) => ({ ...toIntern(row), ...fields.get(row.keyHash) }))
}

/** Undefined if the ledger cannot be read: the rest of the record does not depend on it. */
async function usageOf(env: Env, organizationId: string, keys: readonly InternKey[]): Promise<Counters[] | undefined> {
  if (keys.length === 0) return []
  try {
    return await openLedger(env, organizationId).usage(keys.map(({ hash, counterHash }) => counterHash ?? hash))
  } catch (cause) {
    logError("usage of interns was not read", { organization: organizationId }, cause)
    return undefined
  }
}
