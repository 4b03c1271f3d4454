import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import type { BroadcastPace, LedgerRpc } from "./protocol.ts"

const ledgerOf = (env: Env, organizationId: string) => objectNamed<LedgerRpc>(env, "LEDGER", organizationId)

/** Content by id of those of these calls that the ledger has published and that are not confirmed. */
export async function unconfirmedBroadcasts(
  env: Env,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map()
  const calls = await ledgerOf(env, organizationId).unconfirmedBroadcasts([...ids])
  return new Map(calls.map(({ id, content }) => [id, content]))
}

/** The calls are at their destinations or in a backlog: the ledger need not publish them again, nor keep their content. */
export async function confirmBroadcasts(
  env: Env,
  organizationId: string,
  ids: readonly string[],
  pace?: BroadcastPace,
): Promise<void> {
  if (ids.length === 0 && !pace) return
  await ledgerOf(env, organizationId).confirmBroadcasts([...ids], pace)
}
