import type { Overrun } from "../src/reconciliation/reconciliation.ts"

type Row = { model: string; provider: string; calls: number; amount: number; last_at: number }

/** What providers counted above what was held, and nobody was charged for: a sum for each endpoint. */
export class Overruns {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS overruns (
      model TEXT NOT NULL, provider TEXT NOT NULL, calls INTEGER NOT NULL, amount INTEGER NOT NULL, last_at INTEGER NOT NULL,
      PRIMARY KEY (model, provider)
    ) WITHOUT ROWID`)
  }

  add(model: string, provider: string | null, nano: number, now: number): void {
    this.#sql.exec(
      `INSERT INTO overruns (model, provider, calls, amount, last_at) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT DO UPDATE SET calls = calls + 1, amount = amount + excluded.amount, last_at = excluded.last_at`,
      model,
      provider ?? "",
      nano,
      now,
    )
  }

  /** The largest first. */
  list(): Overrun[] {
    const rows = this.#sql.exec<Row>("SELECT * FROM overruns ORDER BY amount DESC, model, provider LIMIT 100").toArray()
    return rows.map(({ model, provider, calls, amount, last_at: lastAt }) => {
      return { model, provider, calls, overrunNano: amount, lastAt }
    })
  }
}
