import type { Generation, GenerationDraft, Settled } from "./generation.ts"
import type { FreeLimits, FreeLimitExceeded } from "./free-requests.ts"
import type { Counters, Limit, Standing, Verdict, Wanted } from "./limits.ts"
import type { ProviderHolds, ProviderVerdict } from "./provider-limits.ts"
import type { RateRefusal, RateRequest, RateSlice } from "./rates.ts"
import type { Reconciliation } from "./reconciliation.ts"

/** What isolates and the ledger say to each other. Money is nano-USD. */

/**
 * `leasedNano`: the call is part of a lease, to which so much was added; `leasedRates`: with this share of its rates.
 * `providers`: what each provider with limits of its own has left, in the order of the request; absent where all of them
 * have what their candidates want.
 */
export type HoldVerdict =
  | (Verdict & { leasedNano?: number; leasedRates?: RateSlice; providers?: readonly ProviderVerdict[] })
  | { ok: false; free: FreeLimitExceeded }
  | { ok: false; rate: RateRefusal }

/**
 * What became of a report. `charged`: the generations that were charged by it; one that is missing was charged before,
 * or its lease is over. `alive`: of the leases in the report, those that the ledger still holds.
 */
export type FlushResult = { charged: string[]; alive: string[] }

export type HoldAnswer = FlushResult & { verdict: HoldVerdict }

export type HoldRequest = {
  draft: GenerationDraft
  wanted: Wanted
  /** Charge the account's balance; false for calls that cost the organization nothing. */
  chargesAccount: boolean
  limits: readonly Limit[]
  /** Absent where no candidate's provider has limits of its own; else `wanted` is what the dearest of all wants. */
  providers?: ProviderHolds
  /** The call is one of those that cost nothing, of which an account has so many. */
  free?: FreeLimits
  /** Absent for callers without rate limits. */
  rates?: RateRequest
  /** Nano-USD to charge if nobody ever settles this hold. */
  estimateNano: number
  ttlMs: number
  /**
   * The lease that the call, and others after it, would rather be admitted of; nano-USD to add to it, 0 where only its
   * rates are used up. `isHeld`: the
   * isolate has something of it already, which would be worth nothing if the lease had expired meanwhile. With it comes
   * a declaration, as in LeaseNews.
   */
  lease?: { id: string; wantNano: number; isHeld: boolean } & Declaration
}

/**
 * A call that is over; `leaseId`: what it was admitted of, null where it had a hold of its own. `content`: JSON of what
 * was said in it, which the ledger keeps for the consumer of the queue; absent where no destination gets it, and where
 * it is too long to go along.
 */
export type Settlement = { generation: Generation; leaseId: string | null; content?: string | undefined }

/** A call that the consumer of the queue has not confirmed. `content`: null where the ledger has none. */
export type UnconfirmedCall = { id: string; content: string | null }

/** How soon the next calls of a workspace are queued: its destinations fail where that is more than 0. */
export type BroadcastPace = { workspaceId: string; restMs: number }

/** A call admitted of a lease that goes on: it gets a hold of its own out of the lease. Nano-USD. */
export type Registration = {
  draft: GenerationDraft
  leaseId: string
  amountNano: number
  estimateNano: number
  ttlMs: number
}

const LEASE_PREFIX = "lease-"

export function newLeaseId(): string {
  return LEASE_PREFIX + crypto.randomUUID()
}

/** Leases stand among the holds; a generation's id never looks like one. */
export function isLeaseId(id: string): boolean {
  return id.startsWith(LEASE_PREFIX)
}

/**
 * What the calls of a lease that are not registered may have cost by the time of the next report, in nano-USD: the
 * ledger charges it if the isolate is lost. Numbered, since reports may arrive in another order than they were sent.
 */
export type Declaration = { estimateNano: number; sequence: number }

/** A lease as its isolate reports it; `isReturned`: nothing runs under it, and it goes back, with what its rates have left. */
export type LeaseUpdate = { id: string; ttlMs: number; isReturned: boolean; rates?: RateSlice } & Declaration

/** A running call with a hold of its own: what it has cost so far. */
export type Renewal = { id: string; estimateNano: number; ttlMs: number }

export type FlushRequest = {
  settlements: Settlement[]
  registrations: Registration[]
  renewals: Renewal[]
  leases: LeaseUpdate[]
}

export const NOTHING_TO_REPORT: FlushRequest = { settlements: [], registrations: [], renewals: [], leases: [] }

export type Balance = { creditedNano: number; spentNano: number; heldNano: number; byokNano: number }

/** The methods of the ledger's Durable Object that isolates call. */
export interface LedgerRpc extends Rpc.DurableObjectBranded {
  hold(request: HoldRequest, report?: FlushRequest): HoldAnswer
  room(limits: readonly Limit[], chargesAccount: boolean): Verdict
  standings(limits: readonly Limit[]): Standing[]
  report(report: FlushRequest): FlushResult
  release(id: string): void
  credit(id: string, amountNano: number): { ok: boolean; balance: Balance }
  balance(): Balance
  freeToday(limits: FreeLimits): { limit: number; used: number }
  usage(keyHashes: string[]): Counters[]
  onTheirWay(keyHash: string, since: number): Settled[]
  generation(id: string): Promise<Generation | null>
  reconcile(organizationId: string, lowers: boolean): Promise<Reconciliation>
  unconfirmedBroadcasts(ids: string[]): UnconfirmedCall[]
  confirmBroadcasts(ids: string[], pace?: BroadcastPace): void
  setAlertThresholds(thresholds: number[]): void
  backlog(): { records: number; broadcasts: number; holds: number }
}
