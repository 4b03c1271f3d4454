import { EMPTY } from "./lease.ts"
import { Leases } from "./leases.ts"
import type { Timer } from "../support/time/time.ts"
import type { Settlement } from "./protocol.ts"

/** `settlesAtOnce`: a settlement does not wait for others of its isolate. */
export type ClientOptions = {
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
  timer?: Timer
  settlesAtOnce?: boolean
}

/**
 * A settlement in progress. Calls share only plain data and never await each other's promises, which may never settle
 * after a client disconnect. `known`: the ledger has charged it now or before.
 */
export type PendingSettlement = Settlement & {
  state: "waiting" | "taken" | "known" | "returned"
  /** Epoch milliseconds when its call gave up; since then it waits for other requests to take it along. */
  lostAt?: number
}

/** A running call: its cost so far in nano-USD, and the time of its next report in epoch milliseconds. */
export type Tracked = {
  estimate: () => number
  ttlMs: number
  reportAt: number
  /** Reports by other calls since its own timer last ran. */
  silentReports: number
}

/** `heldAt`: epoch milliseconds. */
export type TrackedCall = Pick<Tracked, "estimate" | "ttlMs"> & { heldAt: number }

/** State shared by the calls of one isolate for one organization. */
export type Shared = {
  waiting: PendingSettlement[]
  leases: Leases
  tracked: Map<string, Tracked>
  /** Time of the last settlement in epoch milliseconds, and the average time between settlements. */
  pace: { lastAt: number; gapMs: number }
  /** Last search for dead calls, in epoch milliseconds. */
  sweptAt: number
}

/** Maximum age of the estimate of a running call, which is charged if its isolate dies. */
export const RENEW_AFTER_MS = 5_000

export function renewalMs(ttlMs: number): number {
  return Math.min(RENEW_AFTER_MS, ttlMs / 3)
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

/** Whether the ledger expects anything of this isolate: running calls, pending settlements or leases. */
export function hasOpenCalls(): boolean {
  return [...shared.values()].some(({ waiting, tracked, leases }) => {
    const areHeld = [...leases.all()].some(({ open, slice, isOver }) => open.size > 0 || (slice !== EMPTY && !isOver))
    return waiting.length > 0 || tracked.size > 0 || areHeld
  })
}
