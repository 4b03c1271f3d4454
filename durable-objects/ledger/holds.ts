import { parseStored } from "../../src/support/text/json.ts"
import { workspaceScope } from "../../src/ledger/scopes.ts"
import { ACCOUNT, keyScope, type Limit } from "../../src/ledger/limits.ts"
import { heldOfProviders, providerOf, providerScope, type ProviderVerdict } from "../../src/ledger/provider-limits.ts"
import { type HoldRequest, isLeaseId } from "../../src/ledger/protocol.ts"
import { type Generation, type GenerationDraft, unsettledGeneration } from "../../src/ledger/generation.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import type { HeldRates } from "./rates.ts"

/** A hold of a call, or a lease from which an isolate admits calls (src/ledger/lease.ts). */
export type HoldRow = {
  id: string
  /** Nano-USD. */
  amount: number
  /** Nano-USD to charge if the call is never settled. */
  estimate: number
  expires_at: number
  /** JSON: all scopes of the hold. */
  scopes: string
  /** JSON of GenerationDraft. */
  draft: string
  /** JSON of HeldRates; null for keys without rate limits. */
  rates: string | null
  /** JSON of ProviderVerdict[]; null for leases and for calls without provider budgets. */
  providers: string | null
}

const isLease = ({ id }: Pick<HoldRow, "id">) => isLeaseId(id)

/** The table of holds, with the sum per scope in memory so that a hold needs no scan. */
export class Holds {
  readonly #sql: SqlStorage
  readonly #held = new Map<string, number>()
  /** Running requests by rate limit scope, including leased slots. */
  readonly #slots = new Map<string, number>()
  readonly #leases = new Map<string, HoldRow>()
  readonly #ids = new Set<string>()
  /** Sequence number of the latest declaration by lease. In memory, because no report outlives it. */
  readonly #sequences = new Map<string, number>()

  /** No index: the table is small, written for every call and rarely scanned. */
  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS holds (
      id TEXT PRIMARY KEY, amount INTEGER NOT NULL, estimate INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      scopes TEXT NOT NULL, draft TEXT NOT NULL, rates TEXT, providers TEXT
    ) WITHOUT ROWID`)
    const columns = sql.exec<{ name: string }>("SELECT name FROM pragma_table_info('holds')").toArray()
    for (const added of ["rates", "providers"]) {
      if (!columns.some(({ name }) => name === added)) sql.exec(`ALTER TABLE holds ADD COLUMN ${added} TEXT`)
    }
    this.reload()
  }

  /** Loads the sums from the table: at the start, and after a rolled back transaction. */
  reload(): void {
    this.#held.clear()
    this.#slots.clear()
    this.#leases.clear()
    this.#ids.clear()
    for (const row of this.#sql.exec<HoldRow>("SELECT * FROM holds")) {
      this.#ids.add(row.id)
      this.#addRow(row)
    }
  }

  #addRow(row: HoldRow): void {
    this.#addHeld(row.scopes, row.amount)
    this.#addProviders(row)
    this.#addSlots(heldRates(row))
    if (isLease(row)) this.#leases.set(row.id, row)
  }

  /** Nano-USD. */
  held(scope: string): number {
    return this.#held.get(scope) ?? 0
  }

  /** Running requests of a scope, including leased slots. */
  slots(scope: string): number {
    return this.#slots.get(scope) ?? 0
  }

  get isEmpty(): boolean {
    return this.#held.size === 0
  }

  get hasLeases(): boolean {
    return this.#leases.size > 0
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** The grant of a placed hold, for a repeated request; undefined if there is no such hold. */
  grantOf(id: string): { grantedNano: number; providers?: readonly ProviderVerdict[] } | undefined {
    if (!this.has(id)) return undefined
    const [row] = this.#sql
      .exec<Pick<HoldRow, "amount" | "providers">>("SELECT amount, providers FROM holds WHERE id = ?", id)
      .toArray()
    if (!row) return undefined
    const providers = providersOf(row)
    return { grantedNano: row.amount, ...(providers && { providers }) }
  }

  /** False if the hold already exists. */
  add(row: HoldRow): boolean {
    const added = this.#sql.exec(
      "INSERT INTO holds (id, amount, estimate, expires_at, scopes, draft, rates, providers) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
      row.id,
      row.amount,
      row.estimate,
      row.expires_at,
      row.scopes,
      row.draft,
      row.rates,
      row.providers,
    )
    if (added.toArray().length === 0) return false
    this.#ids.add(row.id)
    this.#addRow(row)
    return true
  }

  /** Removes and returns a hold; undefined for an unknown id. */
  take(id: string): HoldRow | undefined {
    if (!this.#ids.delete(id)) return undefined
    const [row] = this.#sql.exec<HoldRow>("DELETE FROM holds WHERE id = ? RETURNING *", id).toArray()
    if (!row) return undefined
    this.#addHeld(row.scopes, -row.amount)
    this.#addProviders(row, -1)
    this.#addSlots(heldRates(row), -1)
    this.#leases.delete(id)
    this.#sequences.delete(id)
    return row
  }

  /** Whether a declaration is newer than the stored one of its lease. */
  isNewer(id: string, sequence: number): boolean {
    if (sequence <= (this.#sequences.get(id) ?? 0)) return false
    this.#sequences.set(id, sequence)
    return true
  }

  renew(id: string, estimate: number, expiresAt: number): void {
    this.#sql.exec("UPDATE holds SET expires_at = ?, estimate = min(amount, ?) WHERE id = ?", expiresAt, estimate, id)
  }

  lease(id: string): Readonly<HoldRow> | undefined {
    return this.#leases.get(id)
  }

  /** Changes amount, estimate and expiry of an existing lease. The amount is never below 0. */
  changeLease(id: string, change: Pick<HoldRow, "amount" | "estimate" | "expires_at">): void {
    const lease = this.#leases.get(id)
    if (!lease) return
    const next = { ...lease, ...change, amount: Math.max(0, change.amount) }
    this.#sql.exec(
      "UPDATE holds SET amount = ?, estimate = ?, expires_at = ? WHERE id = ?",
      next.amount,
      next.estimate,
      next.expires_at,
      id,
    )
    this.#addHeld(lease.scopes, next.amount - lease.amount)
    this.#leases.set(id, next)
  }

  /** Changes the slots of a lease. A slot that moves to a registered call is returned by its settlement. */
  changeSlots(id: string, slots: number): void {
    const lease = this.#leases.get(id)
    const leaseRates = lease && heldRates(lease)
    if (!leaseRates || slots === 0) return
    const rates = JSON.stringify({ ...leaseRates, slots: leaseRates.slots + slots })
    this.#sql.exec("UPDATE holds SET rates = ? WHERE id = ?", rates, id)
    this.#addSlots({ ...leaseRates, slots })
    this.#leases.set(id, { ...lease, rates })
  }

  /** Including those of a clock that was far ahead, which would never expire. */
  expired(now: number): HoldRow[] {
    const query = "SELECT * FROM holds WHERE expires_at <= ? OR expires_at > ?"
    return this.#sql.exec<HoldRow>(query, now, now + 30 * DAY_MS).toArray()
  }

  /** Epoch milliseconds; null if there are no holds. */
  nextExpiry(): number | null {
    const [next] = this.#sql.exec<{ at: number | null }>("SELECT min(expires_at) AS at FROM holds").toArray()
    return next?.at ?? null
  }

  list(): { id: string; amountNano: number; estimateNano: number; expiresAt: number; isLease: boolean }[] {
    const rows = this.#sql.exec<HoldRow>("SELECT * FROM holds ORDER BY expires_at").toArray()
    return rows.map((row) => ({
      id: row.id,
      amountNano: row.amount,
      estimateNano: row.estimate,
      expiresAt: row.expires_at,
      isLease: isLease(row),
    }))
  }

  #addSlots(held: HeldRates | undefined, sign = 1): void {
    if (!held || held.slots === 0) return
    for (const scope of held.scopes) {
      const slots = this.slots(scope) + sign * held.slots
      if (slots === 0) this.#slots.delete(scope)
      else this.#slots.set(scope, slots)
    }
  }

  #addHeld(scopes: string, amount: number): void {
    if (amount === 0) return
    for (const scope of parseStored<string[]>(scopes)) this.#add(scope, amount)
  }

  #addProviders(row: HoldRow, sign = 1): void {
    if (row.providers === null) return
    for (const [scope, amount] of heldOfProviders(providersOf(row) ?? [])) this.#add(scope, sign * amount)
  }

  #add(scope: string, amount: number): void {
    const total = this.held(scope) + amount
    if (total === 0) this.#held.delete(scope)
    else this.#held.set(scope, total)
  }
}

export function heldRates({ rates }: Pick<HoldRow, "rates">): HeldRates | undefined {
  return rates === null ? undefined : parseStored<HeldRates>(rates)
}

export function providersOf({ providers }: Pick<HoldRow, "providers">): readonly ProviderVerdict[] | undefined {
  return providers === null ? undefined : parseStored<ProviderVerdict[]>(providers)
}

type Granted = {
  id: string
  amount: number
  limits: readonly Limit[]
  rates?: HeldRates | undefined
  providers?: readonly ProviderVerdict[] | undefined
  now: number
}

/** The row of a granted request; `amount` is in nano-USD. */
export function toHold(request: HoldRequest, { id, amount, limits, rates, providers, now }: Granted): HoldRow {
  return {
    id,
    amount,
    estimate: Math.min(request.estimateNano, amount),
    expires_at: now + request.ttlMs,
    scopes: JSON.stringify([...new Set(limits.map((limit) => limit.scope))]),
    draft: JSON.stringify(request.draft),
    rates: rates ? JSON.stringify(rates) : null,
    providers: providers ? JSON.stringify(providers) : null,
  }
}

/**
 * The record of a hold that expired unsettled. The record of a lease covers all its calls without a separate hold.
 */
export function expiredGeneration(row: HoldRow, isLease: boolean): Generation {
  const { id, estimate, draft } = row
  const { broadcast, ...facts } = parseStored<GenerationDraft>(draft)
  // The draft of a lease's first call does not apply to its other calls.
  const charged = unsettledGeneration({ ...facts, ...(broadcast && !isLease && { broadcast }), id }, estimate)
  const atProviders = estimatesOf(row)
  return {
    ...charged,
    ...(atProviders.length > 0 && { atProviders: Object.fromEntries(atProviders) }),
    ...(isLease && { ending: "unattributed" }),
  }
}

/** Nano-USD of the estimate at each provider with limits for the hold, by slug. */
function estimatesOf(row: HoldRow): [slug: string, nano: number][] {
  const estimates = heldOfProviders(providersOf(row) ?? [])
  const scopes = [...parseStored<string[]>(row.scopes), ...estimates.keys()]
  return scopes.flatMap((scope): [string, number][] => {
    const slug = providerOf(scope)
    return slug === undefined ? [] : [[slug, Math.min(row.estimate, estimates.get(scope) ?? row.amount)]]
  })
}

/**
 * The scopes that a call counts in: account, key and its ancestors, workspace, the provider that served it, and the
 * other scopes of its hold.
 */
export function scopesOf(generation: Generation, { scopes }: HoldRow): string[] {
  const { keyHash, ancestorKeys = [], workspaceId, providerSlug } = generation
  const keys = [keyHash, ...ancestorKeys].map(keyScope)
  const others = parseStored<string[]>(scopes).filter((scope) => providerOf(scope) === undefined)
  const provider = providerSlug === undefined ? [] : [providerScope(providerSlug)]
  return [...new Set([ACCOUNT, ...keys, workspaceScope(workspaceId), ...others, ...provider])]
}
