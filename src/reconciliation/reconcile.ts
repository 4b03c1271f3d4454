import { openLedger } from "../ledger/client.ts"
import type { Env } from "../config/env.ts"
import { logError, logWarning } from "../support/log.ts"
import type { Reconciliation } from "../ledger/reporting/reconciliation.ts"
import { listStalest, saveReconciliation } from "./store.ts"

/** Organizations per run; with more than this, each is reconciled every second or third day. */
const ORGANIZATIONS_PER_RUN = 200

/** Compares the ledger of an organization with its generations, repairs allowed drifts, and stores the result. */
export async function reconcile(env: Env, organizationId: string, lowers = false): Promise<Reconciliation> {
  const found = await openLedger(env, organizationId).reconcile(organizationId, lowers)
  if (found.drifts.length > 0 || found.restored > 0) logWarning("a ledger and its generations differed", { ...found })
  await saveReconciliation(env.DB, found)
  return found
}

/** Reconciles the organizations with the oldest reconciliation. A failure does not stop the others. */
export async function reconcileStalest(env: Env, limit = ORGANIZATIONS_PER_RUN): Promise<Reconciliation[]> {
  const found: Reconciliation[] = []
  for (const organizationId of await listStalest(env.DB, limit)) {
    const result = await reconcile(env, organizationId).catch((cause: unknown) =>
      logError("a ledger could not be reconciled", { organizationId }, cause),
    )
    if (result) found.push(result)
  }
  return found
}
