import { remaining, type Counters, type Limit, type Wanted } from "./limits.ts"
import type { HoldRequest } from "./protocol.ts"
import type { RateLimit } from "./rates.ts"

/**
 * A lease is a slice of every limit of a caller at once, which the ledger holds and an isolate gives out: calls far
 * from every limit are admitted without asking. Pure; the ledger's side is durable-objects/ledger/holds.ts, the
 * isolate's lease-book.ts.
 *
 * Why nothing is overspent: what an isolate gives out of a lease is held at the ledger before it is given; a slice
 * comes back only from the isolate that has it, once all its calls are charged, or when it expires, and then what its
 * calls still say of themselves no longer counts.
 */

/** A slice is at most this share of what any limit has left, so that many isolates can lease beside each other. */
const SHARE_OF_ROOM = 32
/** Less than this many calls are not worth a lease: near a limit every call holds by itself. */
const LEAST_CALLS = 4
/** Calls hold by themselves while a lease is refilled: sixteen times what runs lasts a busy isolate about a second. */
const BUSY_FACTOR = 16

type LedgerState = {
  countersOf: (scope: string) => Counters
  /** Nano-USD that is held under a scope. */
  heldOf: (scope: string) => number
}

/**
 * Nano-USD of a lease that a call takes while it runs. One that costs nothing takes the least: it runs where something
 * is left, as it would by itself.
 */
function roomFor(mostNano: number): number {
  return Math.max(1, mostNano)
}

/** Nano-USD to lease, of at most `wantNano`; 0 where the caller is too near a limit. */
export function sliceOf(
  { mostNano }: Wanted,
  wantNano: number,
  limits: readonly Limit[],
  { countersOf, heldOf }: LedgerState,
): number {
  const rooms = limits.map((limit) => remaining(limit, countersOf(limit.scope)) - heldOf(limit.scope))
  const slice = Math.min(wantNano, Math.floor(Math.min(...rooms) / SHARE_OF_ROOM))
  return slice >= roomFor(mostNano) * LEAST_CALLS ? slice : 0
}

/** The isolate's view of its lease, in nano-USD. */
export type Slice = {
  /** Leased and not spent. */
  leftNano: number
  /** The most that its running calls can cost. */
  openNano: number
}

export const NO_SLICE: Slice = { leftNano: 0, openNano: 0 }

export function roomOf({ leftNano, openNano }: Slice): number {
  return leftNano - openNano
}

export function refill(slice: Slice, nano: number): Slice {
  return { ...slice, leftNano: slice.leftNano + nano }
}

/** A call begins: it needs room, or it must hold by itself. */
export function opened(slice: Slice, mostNano: number): Slice | undefined {
  const room = roomFor(mostNano)
  return roomOf(slice) >= room ? { ...slice, openNano: slice.openNano + room } : undefined
}

/** A call is over: it cost so much, be it more than it was to cost at most. */
export function closed({ leftNano, openNano }: Slice, mostNano: number, costNano: number): Slice {
  return { leftNano: leftNano - costNano, openNano: openNano - roomFor(mostNano) }
}

/** What to ask for: many times what runs, so that a busy isolate asks seldom; never less than a lease is worth. */
export function wantOf(slice: Slice, { mostNano }: Wanted): number {
  const room = roomFor(mostNano)
  const wanted = Math.max(2 * LEAST_CALLS * room, BUSY_FACTOR * (slice.openNano + room)) - Math.max(0, roomOf(slice))
  return Math.max(LEAST_CALLS * room, wanted)
}

/**
 * What to declare for the calls that may run until the next report: twice those that did of late, and two more. An isolate
 * admits no call beyond what it has declared, so that a lost one costs an estimate for every call that the ledger does
 * not know.
 */
export function declarationFor(unknownNano: number, typicalNano: number): number {
  return 2 * unknownNano + 2 * typicalNano
}

/** Whether an isolate may admit calls of its lease. `usableUntil` and `now`: epoch milliseconds. */
export function isUsable(lease: { isOver: boolean; usableUntil: number }, now: number): boolean {
  return !lease.isOver && lease.usableUntil > now
}

/** By list of limits: a caller has the same list for all of its calls. */
const signatures = new WeakMap<readonly (Limit | RateLimit)[], string>()

/** Callers with the same signature may share a lease. */
export function signatureOf(limited: Pick<HoldRequest, "chargesAccount" | "limits" | "rates" | "providers">): string {
  const { chargesAccount, limits, rates, providers } = limited
  let signature = rates ? textOf(limits) + textOf(rates.limits) : textOf(limits)
  for (const provider of providers?.limited ?? []) signature += textOf(provider.limits)
  return chargesAccount ? signature : `own key ${signature}`
}

function textOf(limits: readonly (Limit | RateLimit)[]): string {
  let text = signatures.get(limits)
  if (text === undefined) {
    text = JSON.stringify(limits)
    signatures.set(limits, text)
  }
  return text
}
