import type { Generation } from "../../src/ledger/generation.ts"
import type { Overrun } from "../../src/ledger/reporting/reconciliation.ts"
import { logWarning } from "../../src/support/log.ts"

type Row = { model: string; provider: string; calls: number; amount: number; last_at: number }

/** Cost above the holds, which is not charged, summed per endpoint. */
export class Overruns {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS overruns (
      model TEXT NOT NULL, provider TEXT NOT NULL, calls INTEGER NOT NULL, amount INTEGER NOT NULL, last_at INTEGER NOT NULL,
      PRIMARY KEY (model, provider)
    ) WITHOUT ROWID`)
  }

  add({ id, model, provider }: Generation, overrunNano: number, now: number): void {
    logWarning("a provider counted more than was held: the rest is not charged", {
      generation: id,
      model,
      provider,
      overrunNano,
    })
    this.#sql.exec(
      `INSERT INTO overruns (model, provider, calls, amount, last_at) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT DO UPDATE SET calls = calls + 1, amount = amount + excluded.amount, last_at = excluded.last_at`,
      model,
      provider ?? "",
      overrunNano,
      now,
    )
  }

  /** All overruns, the largest first. */
  list(): Overrun[] {
    const rows = this.#sql.exec<Row>("SELECT * FROM overruns ORDER BY amount DESC, model, provider LIMIT 100").toArray()
    return rows.map(({ model, provider, calls, amount, last_at: lastAt }) => {
      return { model, provider, calls, overrunNano: amount, lastAt }
    })
  }
}
