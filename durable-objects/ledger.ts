import { DurableObject } from "cloudflare:workers"
import {
  currentFree,
  dailyLimit,
  type FreeCount,
  type FreeLimits,
  type FreeRefusal,
  NO_FREE_REQUESTS,
  takeFree,
} from "../src/credits/free-requests.ts"
import { workspaceScope } from "../src/budgets/budget.ts"
import {
  addSpent,
  type Counters,
  decideHold,
  type Limit,
  newCounters,
  rollForward,
  type Spent,
  type Verdict,
  type Wanted,
} from "../src/credits/ledger.ts"
import { MAX_NANO } from "../src/credits/money.ts"
import type { Env } from "../src/env.ts"
import { type Generation, type GenerationDraft, unsettledGeneration } from "../src/generations/generation.ts"
import { insertGenerations } from "../src/generations/store.ts"
import { logError, logWarning } from "../src/support/log.ts"

/** The scope of the whole organization: its limit is what it was credited. */
export const ACCOUNT = "account"

/** Where the requests on free models are counted. */
const FREE = "free"

export type HoldVerdict = Verdict | { ok: false; free: FreeRefusal }

export type HoldRequest = {
  draft: GenerationDraft
  wanted: Wanted
  /** Charge the account's balance; false for calls that cost the organization nothing. */
  chargesAccount: boolean
  limits: Limit[]
  /** The call is one of those that cost nothing, of which an account has so many. */
  free?: FreeLimits
  /** Nano-USD to charge if nobody ever settles this hold. */
  estimateNano: number
  ttlMs: number
}

export type Balance = { creditedNano: number; spentNano: number; heldNano: number; byokNano: number }

type HoldRow = {
  id: string
  amount: number
  estimate: number
  expires_at: number
  scopes: string
  draft: string
}

/** How long a settled generation may wait for company on its way to D1. */
const FLUSH_AFTER_MS = 400
const FLUSH_BATCH = 100
const MAX_FLUSH_BACKOFF_MS = 60_000
/** How long a reader of one generation waits for a call that is ending. */
const SETTLEMENT_PATIENCE_MS = 2_000
const SHORT_PATIENCE_MS = 300
const ANY_CALL = "any"

/**
 * One per organization: its balance, every counter and every hold, and the outbox of its generations.
 *
 * A charge, its counters and its generation record are one transaction here, so the sum of the generations is what was
 * spent even if the runtime dies between any two lines; D1 receives the records afterwards, in batches, idempotently.
 * Methods answer expected outcomes and throw only bugs: an error class does not survive the way to the caller.
 */
export class Ledger extends DurableObject<Env> {
  readonly #sql: SqlStorage
  /** Nano-USD held per scope: the sum over the holds table, kept so that a hold costs no scan. */
  readonly #held = new Map<string, number>()
  readonly #counters = new Map<string, Counters>()
  readonly #settlements = new Map<string, () => void>()
  #alarmAt: number | null = null
  #flushFailures = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql = ctx.storage.sql
    void ctx.blockConcurrencyWhile(async () => {
      this.#migrate()
      for (const hold of this.#sql.exec<HoldRow>("SELECT * FROM holds")) this.#addHeld(hold, hold.amount)
      this.#alarmAt = await ctx.storage.getAlarm()
    })
  }

  /** Two short tables, written for every call and scanned seldom: an index on them would cost more than it saves. */
  #migrate(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS credits (id TEXT PRIMARY KEY, amount INTEGER NOT NULL, created_at INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS counters (scope TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS holds (
        id TEXT PRIMARY KEY, amount INTEGER NOT NULL, estimate INTEGER NOT NULL, expires_at INTEGER NOT NULL,
        scopes TEXT NOT NULL, draft TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, upstream_id TEXT, record TEXT NOT NULL
      );
    `)
  }

  /** Reserve before dispatch: every limit at once, all or nothing. Settlements that came along are charged first. */
  hold(request: HoldRequest, settlements: Generation[] = []): HoldVerdict {
    this.settle(settlements)
    const now = Date.now()
    const free = request.free && takeFree(this.#freeCount(), request.free, this.#credited(), now)
    if (free && "refusal" in free) return { ok: false, free: free.refusal }
    const limits = request.chargesAccount
      ? [{ scope: ACCOUNT, limitNano: this.#credited(), interval: null, includeByok: false }, ...request.limits]
      : request.limits
    const verdict = decideHold(
      request.wanted,
      limits,
      (scope) => rollForward(this.#countersOf(scope), now),
      (scope) => this.#held.get(scope) ?? 0,
    )
    if (!verdict.ok) return verdict
    if (free) this.#save(FREE, free.count)

    const hold: HoldRow = {
      id: request.draft.id,
      amount: verdict.grantedNano,
      estimate: Math.min(request.estimateNano, verdict.grantedNano),
      expires_at: now + request.ttlMs,
      scopes: JSON.stringify([...new Set(limits.map((limit) => limit.scope))]),
      draft: JSON.stringify(request.draft),
    }
    this.#sql.exec(
      "INSERT INTO holds (id, amount, estimate, expires_at, scopes, draft) VALUES (?, ?, ?, ?, ?, ?)",
      hold.id,
      hold.amount,
      hold.estimate,
      hold.expires_at,
      hold.scopes,
      hold.draft,
    )
    this.#addHeld(hold, hold.amount)
    this.#wakeBy(hold.expires_at)
    return verdict
  }

  /** The call still runs: keep its hold, and remember what it has cost so far. */
  renew(id: string, estimateNano: number, ttlMs: number): void {
    const expiresAt = Date.now() + ttlMs
    this.#sql.exec(
      "UPDATE holds SET expires_at = ?, estimate = min(amount, ?) WHERE id = ?",
      expiresAt,
      estimateNano,
      id,
    )
  }

  /**
   * Charge what calls cost, end their holds and record them. Every settlement was preceded by a hold, so a missing hold
   * means that it is settled already: a second settlement changes nothing. Answers how many were new.
   */
  settle(generations: Generation[]): number {
    if (generations.length === 0) return 0
    return this.ctx.storage.transactionSync(() => generations.filter((generation) => this.#settle(generation)).length)
  }

  #settle(generation: Generation): boolean {
    const [hold] = this.#sql.exec<HoldRow>("DELETE FROM holds WHERE id = ? RETURNING *", generation.id).toArray()
    if (!hold) return false
    const amount: Spent = { spent: generation.costNano, byok: generation.byokCostNano }
    if (amount.spent > hold.amount) {
      logWarning("a generation cost more than was held", {
        generation: generation.id,
        heldNano: hold.amount,
        ...amount,
      })
    }
    const now = Date.now()
    const free = amount.spent === 0 && amount.byok === 0
    const charged = (free ? [] : scopesOf(generation, hold)).map(
      (scope) => [scope, addSpent(this.#countersOf(scope), amount, now)] as const,
    )
    this.#saveAll(charged)
    this.#sql.exec(
      "INSERT INTO outbox (id, upstream_id, record) VALUES (?, ?, ?)",
      generation.id,
      generation.upstreamId,
      JSON.stringify(generation),
    )
    for (const [scope, counters] of charged) this.#counters.set(scope, counters)
    this.#addHeld(hold, -hold.amount)
    this.#wakeBy(now + FLUSH_AFTER_MS)
    for (const key of [generation.id, ANY_CALL]) this.#settlements.get(key)?.()
    return true
  }

  /** Add credit, once per `id`. */
  credit(id: string, amountNano: number): { ok: boolean; balance: Balance } {
    const total = this.#credited() + amountNano
    const ok = Number.isSafeInteger(amountNano) && total <= MAX_NANO && total >= -MAX_NANO
    if (ok) {
      this.#sql.exec(
        "INSERT OR IGNORE INTO credits (id, amount, created_at) VALUES (?, ?, ?)",
        id,
        amountNano,
        Date.now(),
      )
    }
    return { ok, balance: this.balance() }
  }

  balance(): Balance {
    const { total } = this.#countersOf(ACCOUNT)
    const heldNano = this.#held.get(ACCOUNT) ?? 0
    return { creditedNano: this.#credited(), spentNano: total.spent, heldNano, byokNano: total.byok }
  }

  /** Requests of today on models that cost nothing. */
  freeToday(limits: FreeLimits): { limit: number; used: number } {
    const { day } = currentFree(this.#freeCount(), Date.now())
    return { limit: dailyLimit(limits, this.#credited()), used: day }
  }

  #freeCount(): FreeCount {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM counters WHERE scope = ?", FREE).toArray()
    return row ? (JSON.parse(row.value) as FreeCount) : NO_FREE_REQUESTS
  }

  #save(scope: string, value: Counters | FreeCount): void {
    this.#saveAll([[scope, value]])
  }

  /** One statement for all of them: each statement costs more than what it writes. */
  #saveAll(values: readonly (readonly [scope: string, value: Counters | FreeCount])[]): void {
    if (values.length === 0) return
    const rows = values.map(() => "(?, ?)").join(", ")
    const bound = values.flatMap(([scope, value]) => [scope, JSON.stringify(value)])
    this.#sql.exec(`INSERT OR REPLACE INTO counters (scope, value) VALUES ${rows}`, ...bound)
  }

  /** Counters of these keys, in the order asked. */
  usage(keyHashes: string[]): Counters[] {
    const now = Date.now()
    return keyHashes.map((hash) => rollForward(this.#countersOf(keyScope(hash)), now))
  }

  /**
   * A generation that is not in D1 yet, by its own id or the provider's. A call that is just ending is waited for, so
   * that a client may ask for it as soon as it has read the last byte.
   */
  async generation(id: string): Promise<Generation | null> {
    const found = this.#find(id)
    if (found || this.#held.size === 0) return found
    await this.#settlement(id)
    return this.#find(id)
  }

  #find(id: string): Generation | null {
    const [row] = this.#sql
      .exec<{ record: string }>(
        "SELECT record FROM outbox WHERE id = ? OR upstream_id = ? ORDER BY seq DESC LIMIT 1",
        id,
        id,
      )
      .toArray()
    return row ? (JSON.parse(row.record) as Generation) : null
  }

  /** Settles with the call of this id; of a call known by the provider's id it cannot be told which, so with any. */
  async #settlement(id: string): Promise<void> {
    const [open] = this.#sql.exec("SELECT id FROM holds WHERE id = ?", id).toArray()
    if (!open && id.startsWith("gen-")) return
    const key = open ? id : ANY_CALL
    const settled = new Promise<void>((resolve) => this.#settlements.set(key, resolve))
    await Promise.race([settled, scheduler.wait(open ? SETTLEMENT_PATIENCE_MS : SHORT_PATIENCE_MS)])
    this.#settlements.delete(key)
  }

  /** What is open, for reconciliation. */
  holds(): { id: string; amountNano: number; expiresAt: number }[] {
    const rows = this.#sql.exec<HoldRow>("SELECT * FROM holds ORDER BY expires_at").toArray()
    return rows.map((row) => ({ id: row.id, amountNano: row.amount, expiresAt: row.expires_at }))
  }

  /** Runs at least once for every expiry and every flush: each step is safe twice. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null
    this.#settleExpired(Date.now())
    await this.#flush()
    const [next] = this.#sql.exec<{ at: number | null }>("SELECT min(expires_at) AS at FROM holds").toArray()
    if (next?.at != null) this.#wakeBy(next.at)
  }

  #settleExpired(now: number): void {
    for (const hold of this.#sql.exec<HoldRow>("SELECT * FROM holds WHERE expires_at <= ?", now).toArray()) {
      const generation = unsettledGeneration(JSON.parse(hold.draft) as GenerationDraft, hold.estimate)
      logWarning("a hold expired and was charged at its estimate", { generation: hold.id, estimateNano: hold.estimate })
      this.settle([generation])
    }
  }

  async #flush(): Promise<void> {
    for (;;) {
      const rows = this.#sql
        .exec<{ seq: number; record: string }>("SELECT seq, record FROM outbox ORDER BY seq LIMIT ?", FLUSH_BATCH)
        .toArray()
      if (rows.length === 0) return
      try {
        await insertGenerations(
          this.env.DB,
          rows.map((row) => row.record),
        )
      } catch (cause) {
        const waitMs = Math.min(MAX_FLUSH_BACKOFF_MS, 2 ** this.#flushFailures++ * 1_000)
        logError("generations wait in the ledger's outbox", { waitMs }, cause)
        this.#wakeBy(Date.now() + waitMs)
        return
      }
      this.#flushFailures = 0
      const upTo = rows.at(-1)?.seq ?? 0
      this.#sql.exec("DELETE FROM outbox WHERE seq <= ?", upTo)
    }
  }

  #wakeBy(at: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return
    this.#alarmAt = at
    void this.ctx.storage.setAlarm(at)
  }

  #credited(): number {
    const [row] = this.#sql.exec<{ total: number }>("SELECT coalesce(sum(amount), 0) AS total FROM credits").toArray()
    return row?.total ?? 0
  }

  #countersOf(scope: string): Counters {
    let counters = this.#counters.get(scope)
    if (!counters) {
      const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM counters WHERE scope = ?", scope).toArray()
      counters = row ? (JSON.parse(row.value) as Counters) : newCounters(Date.now())
      this.#counters.set(scope, counters)
    }
    return counters
  }

  #addHeld(hold: HoldRow, amount: number): void {
    for (const scope of JSON.parse(hold.scopes) as string[]) {
      const held = (this.#held.get(scope) ?? 0) + amount
      if (held === 0) this.#held.delete(scope)
      else this.#held.set(scope, held)
    }
  }
}

export function keyScope(hash: string): string {
  return `key:${hash}`
}

/** What a call counts in: always the account, its key and its workspace, and whatever else its hold was under. */
function scopesOf({ keyHash, workspaceId }: Generation, { scopes }: HoldRow): string[] {
  return [...new Set([ACCOUNT, keyScope(keyHash), workspaceScope(workspaceId), ...(JSON.parse(scopes) as string[])])]
}
