import { remaining, type Counters, type Limit, type CostRange } from "./limits.ts"
import type { HoldRequest } from "./protocol.ts"
import type { RateLimit } from "./rates.ts"

/**
 * A lease is a slice of all limits of a key, held at the ledger and distributed by an isolate: calls far from every
 * limit are admitted without a request. Pure; the ledger's side is durable-objects/ledger/holds.ts, the isolate's side
 * leases.ts.
 *
 * Leases cannot overspend a limit: an isolate only distributes amounts that the ledger already holds. A slice is
 * returned only by its isolate after all its calls are charged, or when it expires; later reports of its calls are then
 * ignored.
 */

/** A slice is at most this share of the rest of any limit, so that many isolates can have leases. */
const LEASE_SHARE = 32
/** Minimum number of calls for a lease: near a limit, every call has a separate hold. */
const MIN_CALLS = 4
/** Multiple of the running calls to lease. It lasts about a second; during a refill, calls need separate holds. */
const BUSY_FACTOR = 16

type LedgerState = {
  countersOf: (scope: string) => Counters
  /** Nano-USD that is held under a scope. */
  heldOf: (scope: string) => number
}

/**
 * Nano-USD of a lease that a running call takes. A free call takes the minimum, so that it needs a rest, as with a
 * separate hold.
 */
function leaseAmountFor(mostNano: number): number {
  return Math.max(1, mostNano)
}

/** Nano-USD to lease, at most `wantNano`; 0 if the key is too near a limit. */
export function sliceOf(
  { mostNano }: CostRange,
  wantNano: number,
  limits: readonly Limit[],
  { countersOf, heldOf }: LedgerState,
): number {
  const amounts = limits.map((limit) => remaining(limit, countersOf(limit.scope)) - heldOf(limit.scope))
  const slice = Math.min(wantNano, Math.floor(Math.min(...amounts) / LEASE_SHARE))
  return slice >= leaseAmountFor(mostNano) * MIN_CALLS ? slice : 0
}

/** The isolate's view of its lease, in nano-USD. */
export type Slice = {
  /** Leased and not spent yet. */
  leftNano: number
  /** Maximum cost of its running calls. */
  openNano: number
}

export const EMPTY: Slice = { leftNano: 0, openNano: 0 }

export function remainingOf({ leftNano, openNano }: Slice): number {
  return leftNano - openNano
}

export function refill(slice: Slice, nano: number): Slice {
  return { ...slice, leftNano: slice.leftNano + nano }
}

/** The slice after a call begins; undefined if it has no room and the call needs a separate hold. */
export function addCall(slice: Slice, mostNano: number): Slice | undefined {
  const amount = leaseAmountFor(mostNano)
  return remainingOf(slice) >= amount ? { ...slice, openNano: slice.openNano + amount } : undefined
}

/** The slice after a call ends. `costNano` may exceed `mostNano`. */
export function endCall({ leftNano, openNano }: Slice, mostNano: number, costNano: number): Slice {
  return { leftNano: leftNano - costNano, openNano: openNano - leaseAmountFor(mostNano) }
}

/**
 * Nano-USD to request: a multiple of the running calls, so that a busy isolate refills rarely, but at least the
 * minimum.
 */
export function refillOf(slice: Slice, { mostNano }: CostRange): number {
  const amount = leaseAmountFor(mostNano)
  const wanted =
    Math.max(2 * MIN_CALLS * amount, BUSY_FACTOR * (slice.openNano + amount)) - Math.max(0, remainingOf(slice))
  return Math.max(MIN_CALLS * amount, wanted)
}

/**
 * Amount to declare for the calls until the next report: twice the recent ones, and two more. An isolate admits no call
 * beyond its declaration, so if it is lost, an estimate is charged for every call that the ledger does not know.
 */
export function declarationFor(unknownNano: number, typicalNano: number): number {
  return 2 * unknownNano + 2 * typicalNano
}

/** Whether an isolate may admit calls from its lease. `usableUntil` and `now`: epoch milliseconds. */
export function isUsable(lease: { isOver: boolean; usableUntil: number }, now: number): boolean {
  return !lease.isOver && lease.usableUntil > now
}

/** Cached by list of limits: a key has the same list for all its calls. */
const keyTexts = new WeakMap<readonly (Limit | RateLimit)[], string>()

/** Calls with the same key may share a lease. */
export function leaseKey(limited: Pick<HoldRequest, "chargesAccount" | "limits" | "rates" | "providers">): string {
  const { chargesAccount, limits, rates, providers } = limited
  let key = rates ? textOf(limits) + textOf(rates.limits) : textOf(limits)
  for (const provider of providers?.limited ?? []) key += textOf(provider.limits)
  return chargesAccount ? key : `byok ${key}`
}

function textOf(limits: readonly (Limit | RateLimit)[]): string {
  let text = keyTexts.get(limits)
  if (text === undefined) {
    text = JSON.stringify(limits)
    keyTexts.set(limits, text)
  }
  return text
}
