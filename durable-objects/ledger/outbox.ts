import { parseStored } from "../../src/support/text/json.ts"
import type { Generation, Settled } from "../../src/ledger/generation.ts"
import { findGenerationIds, insertGenerations } from "../../src/generations/store.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import { logError } from "../../src/support/log.ts"
import { Broadcasts, type NewBroadcast } from "./broadcasts.ts"

const FLUSH_BATCH = 100
/** Rows per statement, which binds at most 100 values. A statement costs more than a row. */
const MAX_ROWS = 33
const MAX_BACKOFF_MS = 60_000
/** Maximum of delivered records that are kept until they are verified in D1. */
const MAX_ENTRIES = 100_000
/** Time in which a repeated settlement is recognized by its record. */
const RETENTION_MS = 600_000
const VERIFY_BATCH = 500
/** Maximum of calls of a turn that has just ended. */
const MAX_PER_KEY = 1_000

type Row = { seq: number; id: string; record: string }

/**
 * Outbox of generations for D1. Batches are idempotent, and generations are kept after delivery until `verify` has
 * found them in D1, so that records that D1 loses within a day are restored.
 */
export class Outbox {
  readonly #sql: SqlStorage
  readonly broadcasts: Broadcasts
  /** All records up to this sequence number were delivered. */
  #delivered: number
  #failures = 0
  #isPaused = false
  #delivering: Promise<unknown> = Promise.resolve()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`
      CREATE TABLE IF NOT EXISTS outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, upstream_id TEXT, record TEXT NOT NULL
      );
      CREATE UNIQUE INDEX IF NOT EXISTS outbox_id ON outbox (id);
      CREATE TABLE IF NOT EXISTS delivery (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    `)
    const [row] = sql.exec<{ value: number }>("SELECT value FROM delivery WHERE name = 'delivered'").toArray()
    this.#delivered = row?.value ?? 0
    this.broadcasts = new Broadcasts(sql)
  }

  /**
   * Adds generations with distinct ids. Returns the ids of those that were not charged before. `contents`: content of
   * some of them, by id.
   */
  add(generations: readonly Settled[], contents: ReadonlyMap<string, string> = new Map()): string[] {
    const added: string[] = []
    for (let at = 0; at < generations.length; at += MAX_ROWS) {
      const some = generations.slice(at, at + MAX_ROWS)
      const values = some.map(() => "(?, ?, ?)").join(", ")
      // `rowsWritten` is not usable: it also counts the sequence number of an ignored row.
      const rows = this.#sql
        .exec<{ seq: number; id: string }>(
          `INSERT INTO outbox (id, upstream_id, record) VALUES ${values} ON CONFLICT DO NOTHING RETURNING seq, id`,
          ...some.flatMap((generation) => [generation.id, generation.upstreamId, JSON.stringify(generation)]),
        )
        .toArray()
      added.push(...rows.map(({ id }) => id))
      const numbers = new Map(rows.map(({ id, seq }) => [id, seq]))
      this.broadcasts.add(some.flatMap((generation) => toBroadcast(generation, numbers, contents)))
    }
    return added
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM outbox WHERE id = ?", id).toArray().length > 0
  }

  /** A generation that may not be in D1 yet, by its id or the provider's response id. */
  find(id: string): Generation | null {
    const [row] = this.#sql
      .exec<{ record: string }>(
        "SELECT record FROM outbox WHERE seq > ? AND (id = ? OR upstream_id = ?) ORDER BY seq DESC LIMIT 1",
        this.#delivered,
        id,
        id,
      )
      .toArray()
    return row ? parseStored<Generation>(row.record) : null
  }

  undelivered(): Settled[] {
    const rows = this.#sql.exec<Row>("SELECT * FROM outbox WHERE seq > ? ORDER BY seq", this.#delivered).toArray()
    return rows.map((row) => parseStored<Settled>(row.record))
  }

  /** Undelivered generations of one key, settled since `since`; only the latest if there are many. */
  undeliveredOf(keyHash: string, since: number): Settled[] {
    const rows = this.#sql
      .exec<{ record: string }>(
        `SELECT record FROM outbox WHERE seq > ? AND record ->> 'keyHash' = ? AND record ->> 'settledAt' >= ?
         ORDER BY seq DESC LIMIT ?`,
        this.#delivered,
        keyHash,
        since,
        MAX_PER_KEY,
      )
      .toArray()
    return rows.map(({ record }) => parseStored<Settled>(record)).toReversed()
  }

  /** Delivers all generations. Returns the milliseconds until the next try if D1 is not available; null when done. */
  async flush(db: D1Database): Promise<number | null> {
    const delivering = this.#deliver(db)
    this.#delivering = delivering
    return delivering
  }

  async #deliver(db: D1Database): Promise<number | null> {
    while (!this.#isPaused) {
      const rows = this.#sql
        .exec<Row>("SELECT * FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?", this.#delivered, FLUSH_BATCH)
        .toArray()
      const last = rows.at(-1)
      if (!last) return null
      try {
        await insertGenerations(
          db,
          rows.map((row) => row.record),
        )
      } catch (cause) {
        const waitMs = Math.min(MAX_BACKOFF_MS, 2 ** this.#failures++ * 1_000)
        logError("generations were not delivered to D1; the outbox retries", { waitMs }, cause)
        return waitMs
      }
      this.#failures = 0
      this.#deliveredUpTo(last.seq)
    }
    return null
  }

  /** Queues calls that have a destination, once D1 has their generations: the consumer reads them there. */
  async broadcast(queue: Queue<BroadcastMessage>, now: number): Promise<number | null> {
    return this.broadcasts.publish(queue, this.#delivered, now)
  }

  /** Number of records that are not in D1, and of calls that the consumer has not confirmed. */
  backlog(): { records: number; broadcasts: number } {
    const { records } = this.#sql
      .exec<{ records: number }>("SELECT count(*) AS records FROM outbox WHERE seq > ?", this.#delivered)
      .one()
    return { records, broadcasts: this.broadcasts.count() }
  }

  /** Runs `work` while no generation of this ledger is delivered to D1. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true
    try {
      await this.#delivering
      return await work()
    } finally {
      this.#isPaused = false
    }
  }

  /**
   * Restores delivered generations that are missing in D1, and deletes those here that no settlement repeats any more.
   * Returns the number restored.
   */
  async verify(db: D1Database, now: number): Promise<number> {
    let missing = 0
    for (let after = 0; ;) {
      const query = "SELECT * FROM outbox WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
      const rows = this.#sql.exec<Row>(query, after, this.#delivered, VERIFY_BATCH).toArray()
      const last = rows.at(-1)
      if (!last) return missing
      const ids = rows.map((row) => row.id)
      const found = await findGenerationIds(db, ids)
      const again = rows.filter((row) => !found.has(row.id)).map((row) => row.record)
      if (again.length > 0) await insertGenerations(db, again)
      missing += again.length
      const old = "DELETE FROM outbox WHERE seq > ? AND seq <= ? AND record ->> 'settledAt' <= ?"
      this.#sql.exec(old, after, last.seq, now - RETENTION_MS)
      after = last.seq
    }
  }

  #deliveredUpTo(seq: number): void {
    this.#delivered = seq
    this.#sql.exec("INSERT OR REPLACE INTO delivery (name, value) VALUES ('delivered', ?)", seq)
    this.#sql.exec("DELETE FROM outbox WHERE seq <= ?", seq - MAX_ENTRIES)
  }
}

function toBroadcast(
  generation: Settled,
  numbers: ReadonlyMap<string, number>,
  contents: ReadonlyMap<string, string>,
): NewBroadcast[] {
  const seq = numbers.get(generation.id)
  return generation.broadcast && seq !== undefined ? [{ seq, generation, content: contents.get(generation.id) }] : []
}
