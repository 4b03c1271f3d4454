import type { ModelUsage, RpcId } from "../run/acp/acp.ts"
import type { ModelMessage } from "./call-model.ts"
import { parseStored } from "../../support/text/json.ts"

/** A prompt in progress. Stored in rows, so that it resumes when the object wakes. */
export type Turn = {
  rpc: RpcId
  rounds: number
  usage: { prompt: number; cached: number; completion: number; cost: number }
  /** Absent in turns of older versions. */
  models?: ModelUsage[]
  model: string | null
  /** Messages that steered the turn while it ran. */
  steers: string[]
  /** The call that waits for permission, or for which it was decided. */
  permission: { rpc: string; call: string; operation?: string; decision: "allow" | "reject" | null } | null
  isCancelled: boolean
}

export type Rule = "always" | "never"

/** Limit of history that is sent to the model: characters of the latest messages. */
const MAX_HISTORY_CHARS = 200_000
/** Limit of sessions: the oldest are deleted. */
const MAX_SESSIONS = 1_000

/** Storage of the embedded agent: sessions, their messages, and running turns. */
export class Memory {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`
      CREATE TABLE IF NOT EXISTS agent_sessions (id TEXT PRIMARY KEY, rules TEXT NOT NULL, turn TEXT) STRICT;
      CREATE TABLE IF NOT EXISTS agent_messages (n INTEGER PRIMARY KEY, session TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE INDEX IF NOT EXISTS agent_messages_session ON agent_messages (session, n);
    `)
  }

  begin(session: string): void {
    this.#sql.exec("INSERT INTO agent_sessions (id, rules) VALUES (?, '{}')", session)
    const forgotten = this.#sql.exec<{ id: string }>(
      `DELETE FROM agent_sessions WHERE turn IS NULL AND rowid NOT IN
         (SELECT rowid FROM agent_sessions ORDER BY rowid DESC LIMIT ?) RETURNING id`,
      MAX_SESSIONS,
    )
    for (const { id } of forgotten.toArray()) this.#sql.exec("DELETE FROM agent_messages WHERE session = ?", id)
  }

  has(session: string): boolean {
    return [...this.#sql.exec("SELECT 1 FROM agent_sessions WHERE id = ?", session)].length > 0
  }

  /** The permission rule that the client set for an operation in this session. */
  ruleOf(session: string, operation: string): Rule | undefined {
    return this.#rules(session).get(operation)
  }

  rule(session: string, operation: string, rule: Rule): void {
    const rules = Object.fromEntries(this.#rules(session).set(operation, rule))
    this.#sql.exec("UPDATE agent_sessions SET rules = ? WHERE id = ?", JSON.stringify(rules), session)
  }

  /** All rules of a session, by operation. */
  rules(session: string): [operation: string, rule: Rule][] {
    return [...this.#rules(session)]
  }

  /**
   * Deletes rules, so that the next call requests permission again. `operation` null: all of the session. Returns the number deleted.
   */
  deleteRules(session: string, operation: string | null): number {
    const remaining = this.rules(session).filter(([name]) => operation !== null && name !== operation)
    const count = this.rules(session).length - remaining.length
    const rules = JSON.stringify(Object.fromEntries(remaining))
    if (count > 0) this.#sql.exec("UPDATE agent_sessions SET rules = ? WHERE id = ?", rules, session)
    return count
  }

  #rules(session: string): Map<string, Rule> {
    const [row] = this.#sql.exec<{ rules: string }>("SELECT rules FROM agent_sessions WHERE id = ?", session)
    return new Map(Object.entries(parseStored<Record<string, Rule>>(row?.rules ?? "{}")))
  }

  turn(session: string): Turn | undefined {
    const [row] = this.#sql.exec<{ turn: string | null }>("SELECT turn FROM agent_sessions WHERE id = ?", session)
    return row?.turn == null ? undefined : parseStored<Turn>(row.turn)
  }

  /** Sessions with a turn in progress. */
  unfinished(): string[] {
    const rows = this.#sql.exec<{ id: string }>("SELECT id FROM agent_sessions WHERE turn IS NOT NULL")
    return [...rows].map(({ id }) => id)
  }

  setTurn(session: string, turn: Turn | undefined): void {
    const body = turn === undefined ? null : JSON.stringify(turn)
    this.#sql.exec("UPDATE agent_sessions SET turn = ? WHERE id = ?", body, session)
  }

  /** The session whose turn waits for the permission with this request id. */
  sessionAwaiting(rpc: RpcId): string | undefined {
    const [row] = this.#sql.exec<{ id: string }>(
      "SELECT id FROM agent_sessions WHERE turn IS NOT NULL AND json_extract(turn, '$.permission.rpc') = ?",
      String(rpc),
    )
    return row?.id
  }

  addMessage(session: string, message: ModelMessage): void {
    this.#sql.exec("INSERT INTO agent_messages (session, body) VALUES (?, ?)", session, JSON.stringify(message))
  }

  /** The latest messages, starting with a user message, because providers reject tool results without their call. */
  history(session: string): ModelMessage[] {
    const rows = this.#sql.exec<{ body: string }>(
      "SELECT body FROM agent_messages WHERE session = ? ORDER BY n DESC",
      session,
    )
    const latest: ModelMessage[] = []
    let chars = 0
    for (const { body } of rows) {
      chars += body.length
      if (chars > MAX_HISTORY_CHARS && latest.some(({ role }) => role === "user")) break
      latest.unshift(parseStored<ModelMessage>(body))
    }
    return latest.slice(
      Math.max(
        0,
        latest.findIndex(({ role }) => role === "user"),
      ),
    )
  }
}
