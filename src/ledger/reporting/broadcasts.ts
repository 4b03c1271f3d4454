import type { Env } from "../../config/env.ts"
import { objectNamed } from "../../config/objects.ts"
import type { BroadcastPace, LedgerRpc } from "../protocol.ts"

const ledgerOf = (env: Env, organizationId: string) => objectNamed<LedgerRpc>(env, "LEDGER", organizationId)

/** Content by id of those of the calls that were published and are not confirmed. */
export async function unconfirmedBroadcasts(
  env: Env,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map()
  const calls = await ledgerOf(env, organizationId).unconfirmedBroadcasts([...ids])
  return new Map(calls.map(({ id, content }) => [id, content]))
}

/**
 * Confirms calls that are delivered or in a backlog: the ledger neither publishes them again nor keeps their content.
 */
export async function confirmBroadcasts(
  env: Env,
  organizationId: string,
  ids: readonly string[],
  pace?: BroadcastPace,
): Promise<void> {
  if (ids.length === 0 && !pace) return
  await ledgerOf(env, organizationId).confirmBroadcasts([...ids], pace)
}
