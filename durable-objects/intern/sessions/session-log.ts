import type { SessionState } from "../../../src/interns/hosts/rpc.ts"
import type { TurnUsage } from "../../../src/interns/run/acp/acp.ts"
import { parseStored } from "../../../src/support/text/json.ts"
import {
  addToDay,
  addUsage,
  type SessionOrigin,
  type SessionRecord,
  type StoredEntry,
  type TranscriptEntry,
  type TurnEnd,
} from "../../../src/interns/run/transcript.ts"
import type { RunStore } from "../run-store.ts"

/** Text of a session is joined up to this size, to avoid one row per token. */
const MAX_TEXT_LENGTH = 4_096
const MAX_PROMPT_LENGTH = 32_000
/** Limits: the oldest entries of a session, and the least recently used sessions, are deleted. */
export const MAX_ENTRIES = 5_000
const MAX_SESSIONS = 1_000
const PRUNE_EVERY = 256
/** Maximum of questions and answers of a turn for destinations. */
const MAX_PER_TURN = 200
const TITLE_LENGTH = 80

type Text = { kind: "text" | "reasoning"; text: string }
type SessionRow = { id: string; body: string; updated_at: number; created_at: number }
type SessionBody = Omit<SessionRecord, "id" | "createdAt" | "updatedAt">

/** Sessions of an intern with their transcripts, for clients that reconnect later. */
export class SessionLog {
  readonly #sql: SqlStorage
  readonly #now: () => number
  /** Text that may be extended, by session. `n`: number of its row, if it has one. */
  readonly #pending = new Map<string, Text & { n?: number; isStored: boolean }>()

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql
    this.#now = now
    this.reset()
  }

  /** Creates the tables, for a new or emptied storage. */
  reset(): void {
    this.#pending.clear()
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS session_log (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL) STRICT;
      CREATE INDEX IF NOT EXISTS session_log_updated ON session_log (updated_at, id);
      CREATE TABLE IF NOT EXISTS transcript (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL,
        at INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE INDEX IF NOT EXISTS transcript_session ON transcript (session, n);
    `)
  }

  prompt(session: string, text: string, origin: SessionOrigin): void {
    const record = this.get(session)
    const title = text.replaceAll(/\s+/g, " ").trim().slice(0, TITLE_LENGTH)
    const body: SessionBody = record ? bodyOf(record) : { title, origin, turns: 0, usage: null, lastEnd: null }
    this.#save(session, { ...body, turns: body.turns + 1, lastEnd: null }, record?.createdAt ?? this.#now())
    if (!record) this.#pruneSessions()
    this.add(session, { kind: "prompt", text: text.slice(0, MAX_PROMPT_LENGTH) })
  }

  /** Adds a piece of the agent's text or reasoning. */
  appendText(session: string, kind: Text["kind"], piece: string): void {
    const pending = this.#pending.get(session)
    if (pending && (pending.kind !== kind || pending.text.length + piece.length > MAX_TEXT_LENGTH)) this.#flush(session)
    const joined = this.#pending.get(session)
    const text = (joined?.text ?? "") + piece
    this.#pending.set(session, { ...joined, kind, text, isStored: false })
    if (text.length >= MAX_TEXT_LENGTH) this.#flush(session)
  }

  /** Stores all pending text, for an agent whose messages are not repeated after an eviction. */
  store(): void {
    for (const session of this.#pending.keys()) this.#store(session)
  }

  add(session: string, entry: TranscriptEntry): void {
    this.#flush(session)
    this.#insert(session, entry)
  }

  /** `usage`: added to that of the session; null if `count` follows. Returns the number of the entry. */
  end(session: string, end: TurnEnd, usage: TurnUsage | null): number {
    this.#flush(session)
    const entry = this.#insert(session, { kind: "end", ...end })
    const record = this.get(session)
    if (!record) return entry
    this.#addUsage(record, usage, { lastEnd: end })
    return entry
  }

  /** Sets the usage of an ended turn in its end entry, and adds it to that of the session. */
  count(session: string, entry: number, usage: TurnUsage | null): void {
    const record = this.get(session)
    if (!record || !usage) return
    this.#sql.exec(
      "UPDATE transcript SET body = json_set(body, '$.usage', json(?)) WHERE n = ?",
      JSON.stringify(usage),
      entry,
    )
    this.#addUsage(record, usage, {})
  }

  #addUsage(record: SessionRecord, turn: TurnUsage | null, more: Partial<SessionBody>): void {
    const body = bodyOf(record)
    const day = addToDay(body.day, turn, this.#now())
    this.#save(record.id, { ...body, usage: addUsage(body.usage, turn), day, ...more }, record.createdAt)
  }

  get(session: string): SessionRecord | undefined {
    const [row] = this.#sql.exec<SessionRow>("SELECT * FROM session_log WHERE id = ?", session)
    return row && toRecord(row)
  }

  /** The most recently used first. `before`: the last record of the previous page. `origin`: filters by origin. */
  list(limit: number, before?: Pick<SessionRecord, "id" | "updatedAt">, origin?: string): SessionRecord[] {
    const rows = this.#sql.exec<SessionRow>(
      `SELECT * FROM session_log WHERE (updated_at, id) < (?1, ?2) AND (?4 IS NULL OR json_extract(body, '$.origin') = ?4)
       ORDER BY updated_at DESC, id DESC LIMIT ?3`,
      before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
      before?.id ?? "",
      limit,
      origin ?? null,
    )
    return [...rows].map(toRecord)
  }

  /** Cost of the turns of a schedule that ended since the start of a day. */
  costSince(origin: SessionOrigin, startOfDay: number): number {
    const [row] = this.#sql.exec<{ cost: number | null }>(
      `SELECT sum(CASE WHEN json_extract(body, '$.day') IS NULL THEN json_extract(body, '$.usage.cost')
         WHEN json_extract(body, '$.day.start') >= ?2 THEN json_extract(body, '$.day.cost') END) AS cost
       FROM session_log WHERE json_extract(body, '$.origin') = ?1 AND updated_at >= ?2`,
      origin,
      startOfDay,
    )
    return row?.cost ?? 0
  }

  /** Entries after `after`, oldest first. */
  transcript(session: string, after: number, limit: number): StoredEntry[] {
    this.#flush(session)
    const rows = this.#sql.exec<StoredEntry>(
      "SELECT n, at, body FROM transcript WHERE session = ? AND n > ? ORDER BY n LIMIT ?",
      session,
      after,
      limit,
    )
    return rows.toArray()
  }

  /** Questions and answers of the last ended turn. */
  lastTurn(session: string): StoredEntry[] {
    const rows = this.#sql.exec<StoredEntry>(
      `SELECT n, at, body FROM transcript WHERE session = ?1 AND json_extract(body, '$.kind') IN ('question', 'answer')
         AND n > coalesce((SELECT n FROM transcript WHERE session = ?1 AND json_extract(body, '$.kind') = 'end'
           ORDER BY n DESC LIMIT 1 OFFSET 1), 0) ORDER BY n LIMIT ?2`,
      session,
      MAX_PER_TURN,
    )
    return rows.toArray()
  }

  delete(session: string): void {
    this.#pending.delete(session)
    this.#sql.exec("DELETE FROM transcript WHERE session = ?", session)
    this.#sql.exec("DELETE FROM session_log WHERE id = ?", session)
  }

  #flush(session: string): void {
    this.#store(session)
    this.#pending.delete(session)
  }

  #store(session: string): void {
    const pending = this.#pending.get(session)
    if (!pending || pending.isStored) return
    const { kind, text, n } = pending
    if (n !== undefined) this.#sql.exec("UPDATE transcript SET body = ? WHERE n = ?", JSON.stringify({ kind, text }), n)
    this.#pending.set(session, { kind, text, n: n ?? this.#insert(session, { kind, text }), isStored: true })
  }

  #insert(session: string, entry: TranscriptEntry): number {
    const [row] = this.#sql.exec<{ n: number }>(
      "INSERT INTO transcript (session, at, body) VALUES (?, ?, ?) RETURNING n",
      session,
      this.#now(),
      JSON.stringify(entry),
    )
    const n = row?.n ?? 0
    if (n % PRUNE_EVERY === 0) this.#pruneEntries(session)
    return n
  }

  #save(id: string, body: SessionBody, createdAt: number): void {
    this.#sql.exec(
      `INSERT INTO session_log (id, body, created_at, updated_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`,
      id,
      JSON.stringify(body),
      createdAt,
      this.#now(),
    )
  }

  #pruneEntries(session: string): void {
    this.#sql.exec(
      `DELETE FROM transcript WHERE session = ?1 AND n <=
         (SELECT n FROM transcript WHERE session = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)`,
      session,
      MAX_ENTRIES,
    )
  }

  #pruneSessions(): void {
    const pruned = this.#sql.exec<{ id: string }>(
      "SELECT id FROM session_log ORDER BY updated_at DESC, id DESC LIMIT -1 OFFSET ?",
      MAX_SESSIONS,
    )
    for (const { id } of pruned.toArray()) this.delete(id)
  }
}

function toRecord({ id, body, created_at: createdAt, updated_at: updatedAt }: SessionRow): SessionRecord {
  return { id, createdAt, updatedAt, ...parseStored<SessionBody>(body) }
}

function bodyOf(record: SessionRecord): SessionBody {
  const { id: _, createdAt: __, updatedAt: ___, ...body } = record
  return body
}

/** A session with its run in progress. */
export function stateOf(record: SessionRecord, runs: RunStore): SessionState {
  const run = runs.ofSession(record.id)
  const acp = run?.acp ?? runs.session(record.id)?.acp ?? null
  return { record, acp, run: run ? { questionId: run.question?.id ?? null } : null }
}
