import type { AcpEvent, RpcId } from "../../src/interns/run/acp/acp.ts"
import { type Delta, isOpen, type Run } from "../../src/interns/run/run.ts"
import type { Facts } from "./facts.ts"
import type { QuestionChange } from "./sessions/question-list.ts"
import { parseStored } from "../../src/support/text/json.ts"

/** Time for which an ended run is kept, to reject late answers to its questions. */
const ENDED_RETENTION_MS = 24 * 3_600_000
/** Limit of stored sessions: the least recently used ones are dropped and begin without history. */
const MAX_SESSIONS = 1_000
const MAX_ENDED = 1_000

// Names in storage, also used by earlier releases.
const PENDING_PROMPTS = "unsaid"
const QUESTION_COUNT = "asked"
const FACT_NAMES: Partial<Record<keyof Facts, string>> = { identity: "place", lifecycle: "life" }

type StoredRun = Omit<Run, "pendingPrompts" | "questionCount"> & {
  [PENDING_PROMPTS]: string[]
  [QUESTION_COUNT]: number
}

function toStored({ pendingPrompts, questionCount, ...run }: Run): StoredRun {
  return { ...run, [PENDING_PROMPTS]: pendingPrompts, [QUESTION_COUNT]: questionCount }
}

function fromStored({ [PENDING_PROMPTS]: pendingPrompts, [QUESTION_COUNT]: questionCount, ...run }: StoredRun): Run {
  return { ...run, pendingPrompts, questionCount }
}

export type StoredQuestion = { run: Run | undefined; session: string; isPending: boolean }

/**
 * Runs of an intern. Open runs are in memory, and every change is stored before anything is sent, so that an object
 * resumes after an eviction or a crash.
 */
export class RunStore {
  readonly #sql: SqlStorage
  readonly #open = new Map<string, Run>()
  readonly #onQuestion: (change: QuestionChange) => void

  constructor(sql: SqlStorage, onQuestion: (change: QuestionChange) => void = () => undefined) {
    this.#sql = sql
    this.#onQuestion = onQuestion
    this.reset()
    for (const { body } of sql.exec<{ body: string }>("SELECT body FROM runs WHERE is_open = 1")) {
      const run = fromStored(parseStored<StoredRun>(body))
      this.#open.set(run.id, run)
    }
  }

  /** Creates the tables, for a new or emptied storage. */
  reset(): void {
    this.#open.clear()
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, session TEXT NOT NULL, is_open INTEGER NOT NULL,
        body TEXT NOT NULL, ended_at INTEGER) STRICT;
      CREATE UNIQUE INDEX IF NOT EXISTS one_open_run ON runs (session) WHERE is_open = 1;
      CREATE TABLE IF NOT EXISTS questions (id TEXT PRIMARY KEY, run TEXT NOT NULL, session TEXT NOT NULL,
        is_pending INTEGER NOT NULL) STRICT;
      CREATE UNIQUE INDEX IF NOT EXISTS one_pending_question ON questions (run) WHERE is_pending = 1;
      CREATE TABLE IF NOT EXISTS kept (n INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, acp TEXT NOT NULL, epoch TEXT NOT NULL,
        used_at INTEGER NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    `)
  }

  /** Open runs, oldest first. */
  get open(): Run[] {
    return [...this.#open.values()]
  }

  get(id: string): Run | undefined {
    return this.#open.get(id)
  }

  ofSession(session: string): Run | undefined {
    return this.open.find((run) => run.session === session)
  }

  /** The run of an agent session. */
  ofAcp(acp: string): Run | undefined {
    return this.open.find((run) => run.acp === acp)
  }

  /** The run of an agent session with this question. `rpc`: the agent's id of the question. */
  ofQuestion(acp: string, rpc: RpcId): Run | undefined {
    const run = this.ofAcp(acp)
    return run && [run.question, ...run.queued].some((question) => question?.rpc === rpc) ? run : undefined
  }

  /** The run that sent this request to the agent. */
  ofRpc(rpc: RpcId): Run | undefined {
    return this.open.find(
      ({ openRpc, promptRpc, steers = [] }) =>
        openRpc === rpc || promptRpc === rpc || steers.some((message) => message.rpc === rpc),
    )
  }

  /** The run that an event of the agent concerns. */
  runOf(news: AcpEvent): Run | undefined {
    if ("acp" in news) return this.ofAcp(news.acp)
    return news.is === "result" || news.is === "failure" ? this.ofRpc(news.rpc) : undefined
  }

  save(run: Run, now: number): void {
    const before = this.#open.get(run.id)
    if (before === run) return
    const isRunOpen = isOpen(run)
    this.#sql.exec(
      `INSERT INTO runs (id, session, is_open, body, ended_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET is_open = excluded.is_open, body = excluded.body, ended_at = excluded.ended_at`,
      run.id,
      run.session,
      isRunOpen ? 1 : 0,
      isRunOpen ? JSON.stringify(toStored(run)) : "",
      isRunOpen ? null : now,
    )
    if (before?.question?.id !== run.question?.id) {
      this.#saveQuestion(run)
      this.#onQuestion({ run, before: before?.question ?? null, identity: this.fact("identity"), now })
    }
    if (isRunOpen) this.#open.set(run.id, run)
    else this.#open.delete(run.id)
  }

  #saveQuestion({ id, session, question }: Run): void {
    this.#sql.exec("UPDATE questions SET is_pending = 0 WHERE run = ?", id)
    if (!question) return
    this.#sql.exec("INSERT INTO questions (id, run, session, is_pending) VALUES (?, ?, ?, 1)", question.id, id, session)
  }

  question(id: string): StoredQuestion | undefined {
    const [row] = this.#sql.exec<{ run: string; session: string; is_pending: number }>(
      "SELECT run, session, is_pending FROM questions WHERE id = ?",
      id,
    )
    return row && { run: this.#open.get(row.run), session: row.session, isPending: row.is_pending === 1 }
  }

  keep(run: string, delta: Delta): void {
    this.#sql.exec("INSERT INTO kept (run, body) VALUES (?, ?)", run, JSON.stringify(delta))
  }

  kept(run: string): Delta[] {
    const rows = this.#sql.exec<{ body: string }>("SELECT body FROM kept WHERE run = ? ORDER BY n", run)
    return [...rows].map(({ body }) => parseStored<Delta>(body))
  }

  clearBuffer(run: string): void {
    this.#sql.exec("DELETE FROM kept WHERE run = ?", run)
  }

  /** The agent's id of a session, and the epoch of the agent that had it in memory. */
  session(id: string): { acp: string; epoch: string } | undefined {
    const [row] = this.#sql.exec<{ acp: string; epoch: string }>("SELECT acp, epoch FROM sessions WHERE id = ?", id)
    return row
  }

  /** A session by its id or by the agent's id. */
  find(name: string): { id: string; acp: string; epoch: string } | undefined {
    // Tries the id first, which is the primary key; the agent's id has no index.
    const session = this.session(name)
    if (session) return { id: name, ...session }
    const [row] = this.#sql.exec<{ id: string; acp: string; epoch: string }>(
      "SELECT id, acp, epoch FROM sessions WHERE acp = ? ORDER BY used_at DESC LIMIT 1",
      name,
    )
    return row
  }

  bind(session: string, acp: string, epoch: string, now: number): void {
    this.#sql.exec(
      `INSERT INTO sessions (id, acp, epoch, used_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET acp = excluded.acp, epoch = excluded.epoch, used_at = excluded.used_at`,
      session,
      acp,
      epoch,
      now,
    )
  }

  /** Unlinks the agent's session, which is not continued. */
  unbind(session: string): void {
    this.#sql.exec("DELETE FROM sessions WHERE id = ?", session)
  }

  /** Deletes ended runs and sessions past their retention. */
  prune(now: number): void {
    this.#sql.exec(
      `DELETE FROM runs WHERE is_open = 0 AND (ended_at < ? OR id NOT IN
         (SELECT id FROM runs WHERE is_open = 0 ORDER BY ended_at DESC LIMIT ?))`,
      now - ENDED_RETENTION_MS,
      MAX_ENDED,
    )
    this.#sql.exec("DELETE FROM questions WHERE run NOT IN (SELECT id FROM runs)")
    this.#sql.exec(
      "DELETE FROM sessions WHERE id NOT IN (SELECT id FROM sessions ORDER BY used_at DESC LIMIT ?)",
      MAX_SESSIONS,
    )
  }

  fact<Name extends keyof Facts>(name: Name): Facts[Name] | undefined {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = ?", FACT_NAMES[name] ?? name)
    return row && (JSON.parse(row.value) as Facts[Name])
  }

  setFact<Name extends keyof Facts>(name: Name, value: Facts[Name]): void {
    this.#sql.exec(
      "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      FACT_NAMES[name] ?? name,
      JSON.stringify(value),
    )
  }

  /** An unused request id; the next number is also free. */
  nextRpc(): number {
    const next = (this.fact("rpc") ?? 0) + 2
    this.setFact("rpc", next)
    return next
  }
}
