import type { Generation, GenerationDraft, Settled } from "./generation.ts"
import type { FreeLimits, FreeLimitExceeded } from "./free-requests.ts"
import type { Counters, Limit, LimitStatus, Verdict, CostRange } from "./limits.ts"
import type { ProviderHolds, ProviderVerdict } from "./provider-limits.ts"
import type { RateRejection, RateRequest, RateSlice } from "./rates.ts"
import type { Reconciliation } from "./reporting/reconciliation.ts"

/** Messages between isolates and the ledger. Money is nano-USD. */

/**
 * `leasedNano`: the amount that was added to a lease, which includes the call; `leasedRates`: its share of rate limits.
 * `providers`: the rest of each provider with limits, in the order of the request; absent if all of them cover their
 * candidates.
 */
export type HoldVerdict =
  | (Verdict & { leasedNano?: number; leasedRates?: RateSlice; providers?: readonly ProviderVerdict[] })
  | { ok: false; free: FreeLimitExceeded }
  | { ok: false; rate: RateRejection }

/**
 * Result of a report. `charged`: generations charged by it; the others were charged before, or their lease has ended.
 * `alive`: reported leases that the ledger still holds.
 */
export type FlushResult = { charged: string[]; alive: string[] }

export type HoldResponse = FlushResult & { verdict: HoldVerdict }

export type HoldRequest = {
  draft: GenerationDraft
  wanted: CostRange
  /** Whether the balance is charged; false for calls that are free for the organization. */
  chargesAccount: boolean
  limits: readonly Limit[]
  /** Absent if no candidate's provider has limits; otherwise `wanted` is for the most expensive candidate. */
  providers?: ProviderHolds
  /** Limits of free requests, for a call on a free model. */
  free?: FreeLimits
  /** Absent for keys without rate limits. */
  rates?: RateRequest
  /** Nano-USD to charge if the hold is never settled. */
  estimateNano: number
  ttlMs: number
  /**
   * The lease to create or refill for the call and later ones. `wantNano`: nano-USD to add, 0 if only its rates are
   * used up. `isHeld`: the isolate already has a part of it, which is void if the lease expired meanwhile. Includes a
   * declaration, as in LeaseUpdate.
   */
  lease?: { id: string; wantNano: number; isHeld: boolean } & Declaration
}

/**
 * A finished call. `leaseId`: the lease it was admitted from; null for a separate hold. `content`: JSON of its content,
 * which the ledger stores for the queue consumer; absent if no destination receives it or it is too long.
 */
export type Settlement = { generation: Generation; leaseId: string | null; content?: string | undefined }

/** A call that the queue consumer has not confirmed. `content`: null if the ledger has none. */
export type UnconfirmedCall = { id: string; content: string | null }

/** Delay before the next calls of a workspace are queued; above 0 if its destinations fail. */
export type BroadcastPace = { workspaceId: string; pauseMs: number }

/** Moves a running call from its lease to a separate hold. Nano-USD. */
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

/** Whether the id of a hold is that of a lease. Generation ids have another form. */
export function isLeaseId(id: string): boolean {
  return id.startsWith(LEASE_PREFIX)
}

/**
 * Estimated cost of the unregistered calls of a lease until the next report, in nano-USD. The ledger charges it if the
 * isolate is lost. Numbered, since reports may arrive out of order.
 */
export type Declaration = { estimateNano: number; sequence: number }

/** Report of a lease by its isolate. `isReturned`: no call uses it, and it is returned with the rest of its rates. */
export type LeaseUpdate = { id: string; ttlMs: number; isReturned: boolean; rates?: RateSlice } & Declaration

/** Cost so far of a running call with a separate hold. */
export type Renewal = { id: string; estimateNano: number; ttlMs: number }

export type FlushRequest = {
  settlements: Settlement[]
  registrations: Registration[]
  renewals: Renewal[]
  leases: LeaseUpdate[]
}

export const NOTHING_TO_REPORT: FlushRequest = { settlements: [], registrations: [], renewals: [], leases: [] }

export type Balance = { creditedNano: number; spentNano: number; heldNano: number; byokNano: number }

/** `isOtherAmount`: the id was used with another amount. Absent from ledgers of the previous release. */
export type CreditResult = { ok: boolean; isOtherAmount?: boolean; balance: Balance }

/** The methods of the ledger's Durable Object that isolates call. */
export interface LedgerRpc extends Rpc.DurableObjectBranded {
  hold(request: HoldRequest, report?: FlushRequest): HoldResponse
  checkLimits(limits: readonly Limit[], chargesAccount: boolean): Verdict
  limitStatuses(limits: readonly Limit[]): LimitStatus[]
  report(report: FlushRequest): FlushResult
  release(id: string): void
  credit(id: string, amountNano: number): CreditResult
  balance(): Balance
  freeToday(limits: FreeLimits): { limit: number; used: number }
  countFreeRequest(limits: FreeLimits): FreeLimitExceeded | null
  usage(keyHashes: string[]): Counters[]
  onTheirWay(keyHash: string, since: number): Settled[]
  generation(id: string): Promise<Generation | null>
  reconcile(organizationId: string, lowers: boolean): Promise<Reconciliation>
  unconfirmedBroadcasts(ids: string[]): UnconfirmedCall[]
  confirmBroadcasts(ids: string[], pace?: BroadcastPace): void
  setAlertThresholds(thresholds: number[]): void
  backlog(): { records: number; broadcasts: number; holds: number }
}
