import { MAX_NANO } from "../../src/money/money.ts"

/** Total credits of an organization less withdrawals, in nano-USD. */
export class Credits {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(
      "CREATE TABLE IF NOT EXISTS credits (id TEXT PRIMARY KEY, amount INTEGER NOT NULL, created_at INTEGER NOT NULL)",
    )
  }

  total(): number {
    const [row] = this.#sql.exec<{ total: number }>("SELECT coalesce(sum(amount), 0) AS total FROM credits").toArray()
    return row?.total ?? 0
  }

  /** Adds an amount once per id. False without effect if the total would not be an exact number. */
  add(id: string, amountNano: number, now: number): boolean {
    const total = this.total() + amountNano
    if (!Number.isSafeInteger(amountNano) || total > MAX_NANO || total < -MAX_NANO) return false
    this.#sql.exec("INSERT OR IGNORE INTO credits (id, amount, created_at) VALUES (?, ?, ?)", id, amountNano, now)
    return true
  }
}
