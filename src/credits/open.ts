import type { Ledger } from "../../durable-objects/ledger.ts"
import type { Env } from "../env.ts"

export type LedgerStub = DurableObjectStub<Ledger>

/** The ledger of an organization: the one place that holds and charges its money. */
export function openLedger(env: Env, organizationId: string): LedgerStub {
  return env.LEDGER.get(env.LEDGER.idFromName(organizationId))
}
