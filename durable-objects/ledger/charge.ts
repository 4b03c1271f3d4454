import { capCost, type Generation } from "../../src/ledger/generation.ts"
import type { Counters } from "../../src/ledger/limits.ts"
import type { Settlement } from "../../src/ledger/protocol.ts"
import { tokensUsed } from "../../src/ledger/rates.ts"
import { isNamedByRequests, parseScope } from "../../src/ledger/scopes.ts"
import { logError } from "../../src/support/log.ts"
import type { Alerts } from "./alerts.ts"
import type { CounterStore } from "./counters.ts"
import { heldOfProviders, partsAtProviders, providerScope } from "../../src/ledger/provider-limits.ts"
import { heldRates, type HoldRow, type Holds, providersOf, scopesOf } from "./holds.ts"
import type { Outbox } from "./outbox.ts"
import type { Overruns } from "./overruns.ts"
import type { RateCounts } from "./rates.ts"

export type LedgerStores = {
  holds: Holds
  outbox: Outbox
  counters: CounterStore
  overruns: Overruns
  rates: RateCounts
  alerts: Alerts
  account: { get: (scope: string) => Counters; creditedNano: () => number }
}

/** Change of each lease in nano-USD by the settlements and registrations of a report. */
export type LeaseChanges = Map<string, number>

/** `scopes`: the scopes that the call counts in. */
type Charge = {
  generation: Generation
  hold: HoldRow | undefined
  lease: Readonly<HoldRow> | undefined
  scopes: readonly string[]
}

/**
 * Charges at most the held amounts, within the transaction of the caller. Every settlement follows a hold, so one
 * without a hold is already settled and changes nothing. Returns the ids of the calls that are charged now.
 */
export function chargeAll(
  settlements: readonly Settlement[],
  stores: LedgerStores,
  changes: LeaseChanges,
  now: number,
): string[] {
  const byId = new Map<string, Charge>()
  for (const settlement of settlements) {
    const { id } = settlement.generation
    const charge = byId.has(id) ? undefined : chargeOf(settlement, stores)
    if (charge) byId.set(id, charge)
  }
  const charges = [...byId.values()]
  const added = stores.outbox.add(
    charges.map(({ generation, scopes }) => {
      const countedIn = scopes.filter(isRecorded)
      const isCounted = countedIn.length > 0 || generation.atProviders !== undefined
      return { ...generation, ...(isCounted && { countedIn }), settledAt: now }
    }),
    new Map(
      settlements.flatMap(({ generation, content }) => (content === undefined ? [] : [[generation.id, content]])),
    ),
  )
  for (const id of added) {
    const charge = byId.get(id)
    if (charge) count(charge, stores, changes, now)
  }
  return added
}

/**
 * The scopes of account, keys and workspace follow from other fields of the record. Those of end users are not
 * reconciled: there may be one for each end user and day.
 */
const isRecorded = (scope: string) =>
  ["guardrail", "provider", "schedule"].includes(parseScope(scope).kind) && !isNamedByRequests(scope)

/** Ends the hold of a call; undefined if neither a hold nor a lease covers it. */
function chargeOf({ generation: settled, leaseId }: Settlement, { holds, outbox }: LedgerStores): Charge | undefined {
  const { id } = settled
  const hold = holds.take(id)
  const lease = leaseId === null ? undefined : holds.lease(leaseId)
  const cover = hold ?? lease
  if (cover) {
    const generation = hold ? capCost(settled, mostOf(hold, settled)) : settled
    return { generation, hold, lease, scopes: scopesOf(generation, cover) }
  }
  if (leaseId !== null && !outbox.has(id)) {
    logError("call outlived its lease; lease charged instead", { generation: id })
  }
  return undefined
}

/** Nano-USD that a hold covers at the provider that served the call. */
function mostOf(hold: HoldRow, { providerSlug }: Generation): number {
  if (hold.providers === null || providerSlug === undefined) return hold.amount
  const granted = heldOfProviders(providersOf(hold) ?? []).get(providerScope(providerSlug))
  return Math.min(hold.amount, granted ?? hold.amount)
}

function count(
  { generation, hold, lease, scopes }: Charge,
  stores: LedgerStores,
  changes: LeaseChanges,
  now: number,
): void {
  const amount = { spent: generation.costNano, byok: generation.byokCostNano }
  const costs = amount.spent + amount.byok
  if (costs > 0) {
    stores.counters.add(scopes, amount, now)
    for (const [scope, part] of partsAtProviders(generation)) stores.counters.add([scope], part, now)
    stores.alerts.charged(generation, stores.account, now)
  }
  if (generation.overrunNano) stores.overruns.add(generation, generation.overrunNano, now)
  const rates = hold && heldRates(hold)
  if (rates) stores.rates.correct(rates, tokensUsed(generation.tokens), now)
  if (lease) {
    changes.set(lease.id, (changes.get(lease.id) ?? 0) + (hold?.amount ?? 0) - costs)
    stores.holds.changeSlots(lease.id, rates?.slots ?? 0)
  }
}
