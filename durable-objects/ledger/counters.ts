import { parseStored } from "../../src/support/text/json.ts"
import {
  countFreeRequest,
  currentFree,
  dailyLimit,
  type FreeCount,
  type FreeLimitExceeded,
  type FreeLimits,
  NO_FREE_REQUESTS,
} from "../../src/ledger/free-requests.ts"
import { windowStart } from "../../src/money/windows.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { addSpent, type Counters, newCounters, rollForward, type Spent } from "../../src/ledger/limits.ts"

/** Scopes that are kept in memory; more are dropped together, and read again. */
const MAX_KNOWN = 20_000
/** The scopes of `isNamedByRequests`; the id of a guardrail is a UUID. */
const IS_NAMED_BY_REQUESTS = "scope GLOB 'guardrail:*' AND substr(scope, 47, 10) IN (':end_user:', ':metadata:')"
/** Key of the counter of free requests. */
const FREE = "free"

/** The ledger's counters, one row per scope, read once and cached in memory. */
export class CounterStore {
  readonly #sql: SqlStorage
  readonly #known = new Map<string, Counters>()
  /** Changed scopes that are not stored yet. */
  readonly #changed = new Set<string>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec("CREATE TABLE IF NOT EXISTS counters (scope TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    this.#keepOpening()
  }

  /** Keeps the counts from before generations recorded the scopes of guardrails and providers. */
  #keepOpening(): void {
    if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'opening'").toArray().length > 0) return
    this.#sql.exec("CREATE TABLE opening (scope TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    this.#sql.exec(
      "INSERT INTO opening SELECT scope, value FROM counters WHERE scope GLOB 'guardrail:*' OR scope GLOB 'provider:*'",
    )
  }

  /** By scope, with ended windows reset. */
  opening(now: number): Map<string, Counters> {
    const rows = this.#sql.exec<{ scope: string; value: string }>("SELECT scope, value FROM opening").toArray()
    return new Map(rows.map(({ scope, value }) => [scope, rollForward(parseStored<Counters>(value), now)]))
  }

  /** Reloads after a rolled back transaction. */
  reload(): void {
    this.#known.clear()
    this.#changed.clear()
  }

  get(scope: string): Counters {
    let counters = this.#known.get(scope)
    if (!counters) {
      counters = this.#read<Counters>(scope) ?? newCounters(Date.now())
      this.#known.set(scope, counters)
    }
    return counters
  }

  /** Counters with ended windows reset. */
  at(scope: string, now: number): Counters {
    return rollForward(this.get(scope), now)
  }

  /** Stored by the next `save`, which must follow before the transaction ends. */
  add(scopes: readonly string[], amount: Spent, now: number): void {
    for (const scope of scopes) {
      this.#known.set(scope, addSpent(this.get(scope), amount, now))
      this.#changed.add(scope)
    }
  }

  set(scope: string, counters: Counters): void {
    this.#known.set(scope, counters)
    this.#changed.add(scope)
  }

  /** Uses one statement for all changes, because a statement costs more than its rows. */
  save(): void {
    this.#write([...this.#changed].map((scope) => [scope, this.get(scope)]))
    this.#changed.clear()
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
  }

  /** Removes the counters of end users whose windows have all ended. A clock that is set back by a day loses none. */
  pruneEndUsers(now: number): void {
    const [weekly, monthly] = [windowStart("weekly", now - DAY_MS), windowStart("monthly", now - DAY_MS)]
    this.#sql.exec(
      `DELETE FROM counters WHERE ${IS_NAMED_BY_REQUESTS}
       AND value ->> '$.weekly.start' < ? AND value ->> '$.monthly.start' < ?`,
      weekly,
      monthly,
    )
    this.#known.clear()
  }

  /** Every scope that was ever charged except those of end users, with ended windows reset. */
  all(now: number): Map<string, Counters> {
    const rows = this.#sql
      .exec<{ scope: string }>(`SELECT scope FROM counters WHERE scope <> ? AND NOT (${IS_NAMED_BY_REQUESTS})`, FREE)
      .toArray()
    return new Map(rows.map(({ scope }) => [scope, this.at(scope, now)]))
  }

  get free(): FreeCount {
    return this.#read<FreeCount>(FREE) ?? NO_FREE_REQUESTS
  }

  saveFree(count: FreeCount): void {
    this.#write([[FREE, count]])
  }

  freeToday(limits: FreeLimits, creditedNano: number, now: number): { limit: number; used: number } {
    return { limit: dailyLimit(limits, creditedNano), used: currentFree(this.free, now).day }
  }

  /** Counts a request on a free model. The limit that it exceeds, or null. */
  countFree(limits: FreeLimits, creditedNano: number, now: number): FreeLimitExceeded | null {
    const counted = countFreeRequest(this.free, limits, creditedNano, now)
    if ("rejection" in counted) return counted.rejection
    this.saveFree(counted.count)
    return null
  }

  #read<T>(scope: string): Readonly<T> | undefined {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM counters WHERE scope = ?", scope).toArray()
    return row && parseStored<T>(row.value)
  }

  /** A statement binds at most 100 values. */
  #write(values: readonly (readonly [scope: string, value: Counters | FreeCount])[]): void {
    for (let at = 0; at < values.length; at += 50) {
      const some = values.slice(at, at + 50)
      const rows = some.map(() => "(?, ?)").join(", ")
      const bound = some.flatMap(([scope, value]) => [scope, JSON.stringify(value)])
      this.#sql.exec(`INSERT OR REPLACE INTO counters (scope, value) VALUES ${rows}`, ...bound)
    }
  }
}
