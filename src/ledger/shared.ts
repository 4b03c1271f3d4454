import { Leases } from "./leases.ts"
import type { Settlement } from "./protocol.ts"

/**
 * A settlement on its way. Calls share only this plain data: a promise of a call whose client disconnected may never
 * settle, so no call waits for another's. `known`: the ledger has charged it, or has said that it need not.
 */
export type PendingSettlement = Settlement & {
  state: "waiting" | "taken" | "known" | "returned"
  /** Epoch milliseconds: its call gave up, and it waits for other requests that take it along. */
  lostAt?: number
}

/** A running call: its cost so far in nano-USD, and when it is reported to the ledger, in epoch milliseconds. */
export type Tracked = {
  estimate: () => number
  ttlMs: number
  reportAt: number
  /** Reports that others made of it since its own timer last ran. */
  silentReports: number
}

/** `heldAt`: epoch milliseconds. */
export type TrackedCall = Pick<Tracked, "estimate" | "ttlMs"> & { heldAt: number }

/** What the calls of one isolate share of one organization. */
export type Shared = {
  waiting: PendingSettlement[]
  leases: Leases
  tracked: Map<string, Tracked>
  /** When the last settlement came, in epoch milliseconds, and the time between two of them, as of late. */
  pace: { lastAt: number; gapMs: number }
  /** When dead calls were last looked for, in epoch milliseconds. */
  sweptAt: number
}

export function newShared(): Shared {
  return { waiting: [], leases: new Leases(), tracked: new Map(), pace: { lastAt: 0, gapMs: 10_000 }, sweptAt: 0 }
}

const shared = new Map<string, Shared>()

export function sharedOf(organizationId: string): Shared {
  let one = shared.get(organizationId)
  if (!one) {
    one = newShared()
    shared.set(organizationId, one)
  }
  return one
}
