import { type BroadcastMessage, MAX_CALLS_PER_MESSAGE, MAX_CONTENT_PER_MESSAGE } from "../../src/config/messages.ts"
import type { Settled } from "../../src/ledger/generation.ts"
import type { BroadcastPace, UnconfirmedCall } from "../../src/ledger/protocol.ts"
import { logError } from "../../src/support/log.ts"

const PUBLISHED_PER_BATCH = 100
const MAX_BACKOFF_MS = 60_000
/** Time for the queue consumer to confirm calls: at first, and at most. */
const CONFIRMATION_TIMEOUT_MS = 120_000
const MAX_CONFIRMED_IN_MS = 3_600_000
/** Publications after which unconfirmed calls lose their content: one per hour for 17 days. */
const MAX_ATTEMPTS_WITH_CONTENT = 408
/** Content that is stored elsewhere is one object per call: at most 25 of them are read for one message. */
const SIZE_ELSEWHERE = MAX_CONTENT_PER_MESSAGE / 25

/** `content`: JSON of the content, if it came with the settlement. */
export type NewBroadcast = { seq: number; generation: Settled; content: string | undefined }

type Call = {
  seq: number
  id: string
  organization_id: string
  workspace_id: string
  times: number
  /** UTF-16 units of content. */
  size: number
}

/**
 * Calls that have a destination. Their ids are queued once D1 has their generations. They are kept with their content
 * until the queue consumer confirms them, and queued again if it does not: in development, a queue is lost with its
 * process.
 */
export class Broadcasts {
  readonly #sql: SqlStorage
  #hasFresh: boolean
  /** Workspaces with failing destinations, and when their next calls are queued, in epoch milliseconds. */
  readonly #resting = new Map<string, { until: number; ms: number }>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`
      CREATE TABLE IF NOT EXISTS broadcasts (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL, organization_id TEXT NOT NULL, workspace_id TEXT NOT NULL
      );
      CREATE TABLE IF NOT EXISTS published (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL, organization_id TEXT NOT NULL, workspace_id TEXT NOT NULL,
        times INTEGER NOT NULL, again_at INTEGER NOT NULL
      );
      CREATE INDEX IF NOT EXISTS published_id ON published (id);
      CREATE INDEX IF NOT EXISTS published_again ON published (again_at);
      CREATE TABLE IF NOT EXISTS contents (seq INTEGER PRIMARY KEY, size INTEGER NOT NULL, content TEXT);
    `)
    this.#hasFresh = sql.exec("SELECT 1 FROM broadcasts LIMIT 1").toArray().length > 0
  }

  /** Called within the transaction that charges the calls. */
  add(calls: readonly NewBroadcast[]): void {
    if (calls.length === 0) return
    this.#hasFresh = true
    const rows = calls.map(({ seq, generation: { id, organizationId, workspaceId } }) => [
      seq,
      id,
      organizationId,
      workspaceId,
    ])
    this.#sql.exec(
      `INSERT INTO broadcasts (seq, id, organization_id, workspace_id)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`,
      JSON.stringify(rows),
    )
    for (const { seq, generation, content } of calls) {
      if (!generation.broadcast?.hasContent) continue
      const values = [seq, content?.length ?? SIZE_ELSEWHERE, content ?? null]
      this.#sql.exec("INSERT INTO contents (seq, size, content) VALUES (?, ?, ?)", ...values)
    }
  }

  /**
   * Queues calls up to the sequence number `delivered`. Returns the milliseconds until the next run; null when done.
   */
  async publish(queue: Queue<BroadcastMessage>, delivered: number, now: number): Promise<number | null> {
    const published = new Set<string>()
    for (;;) {
      const calls = this.#due(delivered, now)
      if (calls.length === 0) break
      for (const { workspace_id: workspaceId } of calls) published.add(workspaceId)
      // Marked before they are queued: the consumer may confirm them before `sendBatch` returns.
      this.#published(calls, now)
      try {
        await queue.sendBatch(toMessages(calls, now).map((body) => ({ body })))
      } catch (cause) {
        logError("calls were not queued for destinations; the outbox retries", { waitMs: MAX_BACKOFF_MS }, cause)
        this.#notPublished(calls, now)
        return MAX_BACKOFF_MS
      }
    }
    this.#restAgain(published, now)
    this.#hasFresh = this.#sql.exec("SELECT 1 FROM broadcasts LIMIT 1").toArray().length > 0
    const { at } = this.#sql.exec<{ at: number | null }>("SELECT min(again_at) AS at FROM published").one()
    const pausedWorkspaces = this.#hasFresh ? [...this.#resting.values()].map(({ until }) => until) : []
    const next = Math.min(at ?? Infinity, ...pausedWorkspaces)
    return next === Infinity ? null : Math.max(0, next - now)
  }

  #due(delivered: number, now: number): Call[] {
    const fresh = this.#hasFresh ? this.#fresh(delivered, now) : []
    if (fresh.length > 0) return fresh
    const query = `SELECT p.*, coalesce(c.size, 0) AS size FROM published p LEFT JOIN contents c ON c.seq = p.seq
      WHERE again_at <= ? ORDER BY again_at, workspace_id, p.seq LIMIT ?`
    return this.#sql.exec<Call>(query, now, PUBLISHED_PER_BATCH).toArray()
  }

  #fresh(delivered: number, now: number): Call[] {
    const pausedWorkspaces = [...this.#resting].flatMap(([workspaceId, { until }]) =>
      until > now ? [workspaceId] : [],
    )
    return this.#sql
      .exec<Call>(
        `SELECT b.*, 0 AS times, coalesce(c.size, 0) AS size FROM broadcasts b LEFT JOIN contents c ON c.seq = b.seq
         WHERE b.seq <= ? AND workspace_id NOT IN (SELECT value FROM json_each(?)) ORDER BY workspace_id, b.seq LIMIT ?`,
        delivered,
        JSON.stringify(pausedWorkspaces),
        PUBLISHED_PER_BATCH,
      )
      .toArray()
  }

  #published(calls: readonly Call[], now: number): void {
    const rows = calls.map(({ seq, id, organization_id, workspace_id, times }) => {
      const againAt = now + Math.min(MAX_CONFIRMED_IN_MS, CONFIRMATION_TIMEOUT_MS * 2 ** times)
      return [seq, id, organization_id, workspace_id, times + 1, againAt]
    })
    this.#sql.exec(
      `INSERT OR REPLACE INTO published (seq, id, organization_id, workspace_id, times, again_at)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)`,
      JSON.stringify(rows),
    )
    this.#deleteFrom("broadcasts", calls)
    const old = calls.filter(({ times }) => times >= MAX_ATTEMPTS_WITH_CONTENT)
    if (old.length > 0) this.#deleteFrom("contents", old)
  }

  /** Later calls also wait until the consumer reports the state of the destinations. */
  #restAgain(workspaceIds: ReadonlySet<string>, now: number): void {
    for (const id of workspaceIds) {
      const rest = this.#resting.get(id)
      if (rest) this.#resting.set(id, { ...rest, until: now + rest.ms })
    }
  }

  #notPublished(calls: readonly Call[], now: number): void {
    this.#sql.exec(
      "UPDATE published SET times = times - 1, again_at = ? WHERE seq IN (SELECT value FROM json_each(?))",
      now,
      JSON.stringify(calls.map(({ seq }) => seq)),
    )
  }

  #deleteFrom(table: "broadcasts" | "published" | "contents", calls: readonly { seq: number }[]): void {
    const seqs = JSON.stringify(calls.map(({ seq }) => seq))
    this.#sql.exec(`DELETE FROM ${table} WHERE seq IN (SELECT value FROM json_each(?))`, seqs)
  }

  /** Contents of the calls that are published and not confirmed. */
  unconfirmed(ids: readonly string[]): UnconfirmedCall[] {
    return this.#sql
      .exec<UnconfirmedCall>(
        `SELECT p.id, c.content FROM published p LEFT JOIN contents c ON c.seq = p.seq
         WHERE p.id IN (SELECT value FROM json_each(?)) ORDER BY p.seq`,
        JSON.stringify(ids),
      )
      .toArray()
  }

  /** Deletes these calls and their content. */
  confirm(ids: readonly string[], now: number, pace?: BroadcastPace): void {
    const query = "SELECT seq FROM published WHERE id IN (SELECT value FROM json_each(?))"
    const confirmed = this.#sql.exec<{ seq: number }>(query, JSON.stringify(ids)).toArray()
    this.#deleteFrom("published", confirmed)
    this.#deleteFrom("contents", confirmed)
    if (!pace) return
    const { workspaceId, pauseMs } = pace
    if (pauseMs > 0) this.#resting.set(workspaceId, { until: now + pauseMs, ms: pauseMs })
    else this.#resting.delete(workspaceId)
  }

  count(): number {
    const query = "SELECT (SELECT count(*) FROM broadcasts) + (SELECT count(*) FROM published) AS calls"
    return this.#sql.exec<{ calls: number }>(query).one().calls
  }
}

/** Each message has calls of one workspace and is small enough that an isolate can process several at once. */
function toMessages(calls: readonly Call[], since: number): BroadcastMessage[] {
  const messages: Extract<BroadcastMessage, { kind: "calls" }>[] = []
  let content = 0
  for (const { id, organization_id: organizationId, workspace_id: workspaceId, size } of calls) {
    const last = messages.at(-1)
    content += size
    const hasRoom = last && last.generationIds.length < MAX_CALLS_PER_MESSAGE && content <= MAX_CONTENT_PER_MESSAGE
    if (hasRoom && last.workspaceId === workspaceId) {
      last.generationIds.push(id)
    } else {
      messages.push({ kind: "calls", organizationId, workspaceId, generationIds: [id], since, isKept: true })
      content = size
    }
  }
  return messages
}
