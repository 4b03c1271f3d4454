import {
  finiteOrZero,
  currentCount,
  type RateCount,
  type RateRequest,
  type RateShare,
  type RateSlice,
  type RateUse,
} from "../../src/ledger/rates.ts"
import { HOUR_MS } from "../../src/support/time/time.ts"

/**
 * Share of rate limits of a call or a lease, stored as JSON in the table of holds. Slots are held as long as the row
 * exists. `tokens`: estimate for a call, corrected by its settlement; absent for a lease, whose isolate corrects it.
 */
export type HeldRates = { scopes: readonly string[]; slots: number; minute: number; tokens?: number }

/** Scopes that are kept in memory; more are dropped together, and read again. */
const MAX_KNOWN = 20_000

/** Requests and tokens of the current minute by scope, read once and cached in memory. */
export class RateCounts {
  readonly #sql: SqlStorage
  readonly #known = new Map<string, RateCount>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS rates (
      scope TEXT PRIMARY KEY, minute INTEGER NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL
    ) WITHOUT ROWID`)
  }

  /** Reloads after a rolled back transaction. */
  reload(): void {
    this.#known.clear()
  }

  /** Removes the counts of minutes that ended an hour ago. */
  prune(now: number): void {
    this.#sql.exec("DELETE FROM rates WHERE minute < ?", now - HOUR_MS)
    this.#known.clear()
  }

  useOf(holds: { slots: (scope: string) => number }, now: number): RateUse {
    return { countOf: (scope) => this.#at(scope, now), slotsOf: (scope) => holds.slots(scope) }
  }

  /** Counts a call with a separate hold. */
  countCall({ limits, tokens }: RateRequest, now: number): HeldRates {
    const scopes = limits.map(({ scope }) => scope)
    const minute = this.#add(scopes, { requests: 1, tokens }, now)
    return { scopes, slots: 1, minute, tokens }
  }

  /** Counts a leased share. */
  countShare({ limits }: RateRequest, share: RateShare, now: number): { held: HeldRates; slice: RateSlice } {
    const scopes = limits.map(({ scope }) => scope)
    const minute = this.#add(
      scopes,
      { requests: finiteOrZero(share.requests), tokens: finiteOrZero(share.tokens) },
      now,
    )
    return { held: { scopes, slots: finiteOrZero(share.slots), minute }, slice: { ...share, minute } }
  }

  /**
   * Corrects the tokens of a finished call: returns unused ones to its minute, counts additional ones in the current
   * one.
   */
  correct({ scopes, minute, tokens }: HeldRates, usedTokens: number, now: number): void {
    if (tokens !== undefined) this.#change(scopes, minute, { requests: 0, tokens: usedTokens - tokens }, now)
  }

  /** Returns the rest of a lease. */
  returned({ scopes }: HeldRates, { minute, requests, tokens }: RateSlice, now: number): void {
    this.#change(scopes, minute, { requests: -finiteOrZero(requests), tokens: -finiteOrZero(tokens) }, now)
  }

  #change(
    scopes: readonly string[],
    minute: number,
    { requests, tokens }: { requests: number; tokens: number },
    now: number,
  ): void {
    const isCurrent = scopes.some((scope) => this.#at(scope, now).minute === minute)
    const change = isCurrent ? { requests, tokens } : { requests: 0, tokens: Math.max(0, tokens) }
    if (change.requests !== 0 || change.tokens !== 0) this.#add(scopes, change, now)
  }

  /** Adds to the counts. Returns the minute that was used. */
  #add(scopes: readonly string[], { requests, tokens }: { requests: number; tokens: number }, now: number): number {
    let minute = 0
    for (const scope of scopes) {
      const count = this.#at(scope, now)
      minute = count.minute
      const next = { minute, requests: count.requests + requests, tokens: count.tokens + tokens }
      this.#known.set(scope, next)
      this.#sql.exec(
        "INSERT OR REPLACE INTO rates (scope, minute, requests, tokens) VALUES (?, ?, ?, ?)",
        scope,
        next.minute,
        next.requests,
        next.tokens,
      )
    }
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
    return minute
  }

  #at(scope: string, now: number): RateCount {
    let count = this.#known.get(scope)
    if (!count) {
      const rows = this.#sql.exec<RateCount>("SELECT minute, requests, tokens FROM rates WHERE scope = ?", scope)
      count = rows.toArray()[0]
    }
    const rolled = currentCount(count, now)
    this.#known.set(scope, rolled)
    return rolled
  }
}

/** The share of a call that moves from a lease to a separate hold: its slot, if slots are limited. */
export function rateHoldOfCall(lease: HeldRates | undefined): HeldRates | undefined {
  return lease && { scopes: lease.scopes, minute: lease.minute, slots: Math.min(1, lease.slots) }
}
