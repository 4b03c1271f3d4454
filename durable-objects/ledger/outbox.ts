import { parseStored } from "../../src/support/json.ts"
import type { Generation, Settled } from "../../src/ledger/generation.ts"
import { findGenerationIds, insertGenerations } from "../../src/generations/store.ts"
import { type BroadcastMessage, CALLS_OF_A_MESSAGE } from "../../src/config/messages.ts"
import { logError } from "../../src/support/log.ts"

const FLUSH_BATCH = 100
/** Rows that a statement adds: it binds at most 100 values. Each statement costs more than a row. */
const MAX_ROWS = 33
const MAX_BACKOFF_MS = 60_000
/** Delivered records that are kept until they are proven to be in the database. */
const MAX_KEPT = 100_000
/** For so long a settlement may come twice, and is known by its record. */
const KEPT_MS = 600_000
const VERIFY_BATCH = 500
/** Calls of a turn that has just ended. */
const MAX_OF_KEY = 1_000
/** How long the consumer of the queue may take to confirm calls, the first time and at most. */
const CONFIRMED_IN_MS = 120_000
const MAX_CONFIRMED_IN_MS = 3_600_000

type Row = { seq: number; id: string; record: string }
type Listened = { seq: number; id: string; organization_id: string; workspace_id: string; times: number }

/**
 * The ledger's generations on their way to D1. They are delivered in batches, idempotently, and kept here after it
 * until `verify` has found them there, so that what a database loses within a day it is given again.
 */
export class Outbox {
  readonly #sql: SqlStorage
  /** All up to this number have been delivered. */
  #delivered: number
  #failures = 0
  #isPaused = false
  #hasBroadcasts: boolean
  #delivering: Promise<unknown> = Promise.resolve()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`
      CREATE TABLE IF NOT EXISTS outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, upstream_id TEXT, record TEXT NOT NULL
      );
      CREATE UNIQUE INDEX IF NOT EXISTS outbox_id ON outbox (id);
      CREATE TABLE IF NOT EXISTS broadcasts (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL, organization_id TEXT NOT NULL, workspace_id TEXT NOT NULL
      );
      CREATE TABLE IF NOT EXISTS published (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL, organization_id TEXT NOT NULL, workspace_id TEXT NOT NULL,
        times INTEGER NOT NULL, again_at INTEGER NOT NULL
      );
      CREATE INDEX IF NOT EXISTS published_id ON published (id);
      CREATE INDEX IF NOT EXISTS published_again ON published (again_at);
      CREATE TABLE IF NOT EXISTS delivery (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    `)
    const [row] = sql.exec<{ value: number }>("SELECT value FROM delivery WHERE name = 'delivered'").toArray()
    this.#delivered = row?.value ?? 0
    this.#hasBroadcasts = sql.exec("SELECT 1 FROM broadcasts LIMIT 1").toArray().length > 0
  }

  /** Adds generations with different ids. Returns the ids of those that were not charged before. */
  add(generations: readonly Settled[]): string[] {
    const added: string[] = []
    for (let at = 0; at < generations.length; at += MAX_ROWS) {
      const some = generations.slice(at, at + MAX_ROWS)
      const values = some.map(() => "(?, ?, ?)").join(", ")
      // Not by rowsWritten, which counts the number that a refused row had drawn.
      const rows = this.#sql
        .exec<{ seq: number; id: string }>(
          `INSERT INTO outbox (id, upstream_id, record) VALUES ${values} ON CONFLICT DO NOTHING RETURNING seq, id`,
          ...some.flatMap((generation) => [generation.id, generation.upstreamId, JSON.stringify(generation)]),
        )
        .toArray()
      added.push(...rows.map(({ id }) => id))
      this.#listen(some, new Map(rows.map(({ id, seq }) => [id, seq])))
    }
    return added
  }

  /** Notes those that have a destination. */
  #listen(generations: readonly Settled[], numbers: ReadonlyMap<string, number>): void {
    for (const { broadcast, id, organizationId, workspaceId } of generations) {
      const seq = numbers.get(id)
      if (!broadcast || seq === undefined) continue
      this.#sql.exec(
        "INSERT INTO broadcasts (seq, id, organization_id, workspace_id) VALUES (?, ?, ?, ?)",
        seq,
        id,
        organizationId,
        workspaceId,
      )
      this.#hasBroadcasts = true
    }
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM outbox WHERE id = ?", id).toArray().length > 0
  }

  /** One that may not be in D1 yet, by its own id or the provider's. */
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

  /** Of one key, settled since then; the latest where there are many. */
  undeliveredOf(keyHash: string, since: number): Settled[] {
    const rows = this.#sql
      .exec<{ record: string }>(
        `SELECT record FROM outbox WHERE seq > ? AND record ->> 'keyHash' = ? AND record ->> 'settledAt' >= ?
         ORDER BY seq DESC LIMIT ?`,
        this.#delivered,
        keyHash,
        since,
        MAX_OF_KEY,
      )
      .toArray()
    return rows.map(({ record }) => parseStored<Settled>(record)).toReversed()
  }

  /** Delivers all there is. Milliseconds to wait before trying again where the database is away; null when done. */
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
        logError("generations not delivered to D1; the outbox retries", { waitMs }, cause)
        return waitMs
      }
      this.#failures = 0
      this.#deliveredUpTo(last.seq)
    }
    return null
  }

  /**
   * Queues the ids of calls that have a destination, once D1 has their generations: the queue consumer reads them
   * there. Ids stay here until the consumer confirms them, and are queued again if it does not: a queue in development
   * is lost with its process. Returns the milliseconds until there is more to do; null when done.
   */
  async broadcast(queue: Queue<BroadcastMessage>, now: number): Promise<number | null> {
    for (;;) {
      const rows = this.#listUnpublished(now)
      if (rows.length === 0) break
      try {
        await queue.sendBatch(toMessages(rows, now).map((body) => ({ body })))
      } catch (cause) {
        logError("calls not queued for destinations; the outbox retries", { waitMs: MAX_BACKOFF_MS }, cause)
        return MAX_BACKOFF_MS
      }
      for (const row of rows) this.#published(row, now)
    }
    this.#hasBroadcasts = this.#sql.exec("SELECT 1 FROM broadcasts LIMIT 1").toArray().length > 0
    const { at } = this.#sql.exec<{ at: number | null }>("SELECT min(again_at) AS at FROM published").one()
    return at === null ? null : Math.max(0, at - now)
  }

  #listUnpublished(now: number): Listened[] {
    const fresh = this.#hasBroadcasts
      ? this.#sql
          .exec<Listened>(
            "SELECT *, 0 AS times FROM broadcasts WHERE seq <= ? ORDER BY workspace_id, seq LIMIT ?",
            this.#delivered,
            FLUSH_BATCH,
          )
          .toArray()
      : []
    if (fresh.length > 0) return fresh
    const query = "SELECT * FROM published WHERE again_at <= ? ORDER BY again_at, workspace_id LIMIT ?"
    return this.#sql.exec<Listened>(query, now, FLUSH_BATCH).toArray()
  }

  #published({ seq, id, organization_id, workspace_id, times }: Listened, now: number): void {
    const againAt = now + Math.min(MAX_CONFIRMED_IN_MS, CONFIRMED_IN_MS * 2 ** times)
    const values = [seq, id, organization_id, workspace_id, times + 1, againAt]
    this.#sql.exec("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?)", ...values)
    this.#sql.exec("DELETE FROM broadcasts WHERE seq = ?", seq)
  }

  /** Records that are not in D1, and calls that the consumer has not confirmed. */
  backlog(): { records: number; broadcasts: number } {
    const { records } = this.#sql
      .exec<{ records: number }>("SELECT count(*) AS records FROM outbox WHERE seq > ?", this.#delivered)
      .one()
    const { broadcasts } = this.#sql
      .exec<{ broadcasts: number }>(
        "SELECT (SELECT count(*) FROM broadcasts) + (SELECT count(*) FROM published) AS broadcasts",
      )
      .one()
    return { records, broadcasts }
  }

  confirmBroadcasts(ids: readonly string[]): void {
    this.#sql.exec("DELETE FROM published WHERE id IN (SELECT value FROM json_each(?))", JSON.stringify(ids))
  }

  /** While `work` runs, what D1 has of this ledger stays as it is. */
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
   * Gives the database again what was delivered and is not there, and forgets what is. Answers how many were missing.
   */
  async verify(db: D1Database, now: number): Promise<number> {
    for (let missed = 0; ;) {
      const rows = this.#sql
        .exec<Row>(
          "SELECT * FROM outbox WHERE seq <= ? AND record ->> 'settledAt' <= ? ORDER BY seq LIMIT ?",
          this.#delivered,
          now - KEPT_MS,
          VERIFY_BATCH,
        )
        .toArray()
      const last = rows.at(-1)
      if (!last) return missed
      const there = await findGenerationIds(
        db,
        rows.map((row) => row.id),
      )
      const again = rows.filter((row) => !there.has(row.id)).map((row) => row.record)
      if (again.length > 0) await insertGenerations(db, again)
      missed += again.length
      this.#sql.exec("DELETE FROM outbox WHERE seq <= ?", last.seq)
    }
  }

  #deliveredUpTo(seq: number): void {
    this.#delivered = seq
    this.#sql.exec("INSERT OR REPLACE INTO delivery (name, value) VALUES ('delivered', ?)", seq)
    this.#sql.exec("DELETE FROM outbox WHERE seq <= ?", seq - MAX_KEPT)
  }
}

/** One message per workspace and batch of calls. */
function toMessages(rows: readonly Listened[], since: number): BroadcastMessage[] {
  const messages: Extract<BroadcastMessage, { kind: "calls" }>[] = []
  for (const { id, organization_id: organizationId, workspace_id: workspaceId } of rows) {
    const last = messages.at(-1)
    if (last?.workspaceId === workspaceId && last.generationIds.length < CALLS_OF_A_MESSAGE) last.generationIds.push(id)
    else messages.push({ kind: "calls", organizationId, workspaceId, generationIds: [id], since })
  }
  return messages
}
