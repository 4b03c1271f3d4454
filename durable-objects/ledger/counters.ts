import { parseStored } from "../../src/support/json.ts"
import { type FreeCount, NO_FREE_REQUESTS } from "../../src/ledger/free-requests.ts"
import { addSpent, type Counters, newCounters, rollForward, type Spent } from "../../src/ledger/limits.ts"

/** Where the requests on free models are counted. */
const FREE = "free"

/** The ledger's counters, one row a scope, read once and kept in memory. */
export class CounterStore {
  readonly #sql: SqlStorage
  readonly #known = new Map<string, Counters>()
  /** Added to and not stored yet. */
  readonly #changed = new Set<string>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec("CREATE TABLE IF NOT EXISTS counters (scope TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    this.#keepOpening()
  }

  /** Records of calls name the scopes of guardrails and providers from here on: what was counted before is kept. */
  #keepOpening(): void {
    if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'opening'").toArray().length > 0) return
    this.#sql.exec("CREATE TABLE opening (scope TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    this.#sql.exec(
      "INSERT INTO opening SELECT scope, value FROM counters WHERE scope GLOB 'guardrail:*' OR scope GLOB 'provider:*'",
    )
  }

  /** By scope, with windows that are over emptied. */
  opening(now: number): Map<string, Counters> {
    const rows = this.#sql.exec<{ scope: string; value: string }>("SELECT scope, value FROM opening").toArray()
    return new Map(rows.map(({ scope, value }) => [scope, rollForward(parseStored<Counters>(value), now)]))
  }

  /** After a transaction that was rolled back. */
  reload(): void {
    this.#known.clear()
    this.#changed.clear()
  }

  of(scope: string): Counters {
    let counters = this.#known.get(scope)
    if (!counters) {
      counters = this.#read<Counters>(scope) ?? newCounters(Date.now())
      this.#known.set(scope, counters)
    }
    return counters
  }

  /** With windows that are over emptied. */
  at(scope: string, now: number): Counters {
    return rollForward(this.of(scope), now)
  }

  /** Counted with the next `save`, which must come before the transaction ends. */
  add(scopes: readonly string[], amount: Spent, now: number): void {
    for (const scope of scopes) {
      this.#known.set(scope, addSpent(this.of(scope), amount, now))
      this.#changed.add(scope)
    }
  }

  set(scope: string, counters: Counters): void {
    this.#known.set(scope, counters)
    this.#changed.add(scope)
  }

  /** One statement for all of them: each statement costs more than what it writes. */
  save(): void {
    this.#write([...this.#changed].map((scope) => [scope, this.of(scope)]))
    this.#changed.clear()
  }

  /** Every scope that ever was charged, with windows that are over emptied. */
  all(now: number): Map<string, Counters> {
    const rows = this.#sql.exec<{ scope: string }>("SELECT scope FROM counters WHERE scope <> ?", FREE).toArray()
    return new Map(rows.map(({ scope }) => [scope, this.at(scope, now)]))
  }

  get free(): FreeCount {
    return this.#read<FreeCount>(FREE) ?? NO_FREE_REQUESTS
  }

  saveFree(count: FreeCount): void {
    this.#write([[FREE, count]])
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
