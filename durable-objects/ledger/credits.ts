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

  /**
   * Adds an amount once per id. `other`: the id has another amount. `unfit`: the total would not be an exact number. Both
   * change nothing.
   */
  add(id: string, amountNano: number, now: number): "done" | "other" | "unfit" {
    const [existing] = this.#sql.exec<{ amount: number }>("SELECT amount FROM credits WHERE id = ?", id).toArray()
    if (existing) return existing.amount === amountNano ? "done" : "other"
    const total = this.total() + amountNano
    if (!Number.isSafeInteger(amountNano) || total > MAX_NANO || total < -MAX_NANO) return "unfit"
    this.#sql.exec("INSERT INTO credits (id, amount, created_at) VALUES (?, ?, ?)", id, amountNano, now)
    return "done"
  }
}
