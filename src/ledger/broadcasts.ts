import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import type { LedgerRpc } from "./protocol.ts"

/** The calls are at their destinations or in a backlog: the ledger need not publish them again. */
export async function confirmBroadcasts(env: Env, organizationId: string, ids: readonly string[]): Promise<void> {
  await objectNamed<LedgerRpc>(env, "LEDGER", organizationId).confirmBroadcasts([...ids])
}
