import type { SessionPermission } from "../../../src/interns/hosts/rpc.ts"
import type { AcpEvent } from "../../../src/interns/run/acp/acp.ts"
import type { Reply } from "../../../src/interns/run/advance.ts"
import { record } from "../../../src/interns/run/acp/acp-values.ts"
import type { Question, Run, Step } from "../../../src/interns/run/run.ts"
import { type Decision, decide, sessionAnswer, subjectOf } from "../../../src/interns/run/session-permission.ts"

/** Maximum per session; the oldest are deleted. */
const MAX_ANSWERS = 200

/** Standing answers of a session to a daemon's agent. An embedded agent stores its own. */
export class SessionPermissions {
  readonly #sql: SqlStorage
  readonly #isEmbedded: () => boolean

  constructor(sql: SqlStorage, isEmbedded: () => boolean) {
    this.#sql = sql
    this.#isEmbedded = isEmbedded
  }

  /** Creates the table on first use: most interns are embedded, and each table takes a page or two. */
  #makeTable(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS standing_answers (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL,
        subject TEXT NOT NULL, name TEXT NOT NULL, decision TEXT NOT NULL, UNIQUE (session, subject)) STRICT;
    `)
  }

  list(session: string): SessionPermission[] {
    if (this.#isEmbedded()) return []
    this.#makeTable()
    const rows = this.#sql.exec<{ name: string; decision: Decision }>(
      "SELECT name, decision FROM standing_answers WHERE session = ? ORDER BY n",
      session,
    )
    return [...rows].map(({ name: operation, decision }) => ({ operation, decision }))
  }

  /** `name` null: all answers of the session. Returns the number removed. */
  forget(session: string, name: string | null): number {
    if (this.#isEmbedded()) return 0
    this.#makeTable()
    const rows = this.#sql.exec(
      "DELETE FROM standing_answers WHERE session = ?1 AND (?2 IS NULL OR name = ?2) RETURNING n",
      session,
      name,
    )
    return rows.toArray().length
  }

  /** The step of a run whose question has a standing answer. */
  step(run: Run, news: AcpEvent): Step | undefined {
    if (news.is !== "permission" || run.mode === "self-drive" || this.#isEmbedded()) return undefined
    const subject = subjectOf(news)
    this.#makeTable()
    const [row] = subject
      ? this.#sql.exec<{ decision: Decision }>(
          "SELECT decision FROM standing_answers WHERE session = ? AND subject = ?",
          run.session,
          subject.key,
        )
      : []
    return row && decide(run, news, row.decision)
  }

  /** Stores an answer of a chat that applies to the session, and returns the answer for the agent. */
  ofChat(session: string, question: Question, reply: Reply): Reply {
    if (reply.is !== "option") return reply
    return { is: "option", optionId: this.#keep(session, question, reply.optionId) ?? reply.optionId }
  }

  /** The same for an ACP client, whose answer is a result. */
  ofClient(session: string, question: Question, result: unknown): unknown {
    const { optionId } = record(record(result)["outcome"])
    const once = this.#keep(session, question, optionId)
    return once === undefined ? result : { outcome: { outcome: "selected", optionId: once } }
  }

  #keep(session: string, question: Question, optionId: unknown): string | undefined {
    const answer = this.#isEmbedded() ? undefined : sessionAnswer(question, optionId)
    if (!answer || question.kind !== "permission") return undefined
    const subject = subjectOf(question)
    this.#makeTable()
    if (subject) this.#put(session, subject, answer.decision)
    return answer.optionId
  }

  #put(session: string, { key, name }: { key: string; name: string }, decision: Decision): void {
    this.#sql.exec(
      `INSERT INTO standing_answers (session, subject, name, decision) VALUES (?, ?, ?, ?)
       ON CONFLICT (session, subject) DO UPDATE SET decision = excluded.decision`,
      session,
      key,
      name,
      decision,
    )
    this.#sql.exec("DELETE FROM standing_answers WHERE session NOT IN (SELECT id FROM session_log)")
    this.#sql.exec(
      `DELETE FROM standing_answers WHERE session = ?1 AND n NOT IN
         (SELECT n FROM standing_answers WHERE session = ?1 ORDER BY n DESC LIMIT ?2)`,
      session,
      MAX_ANSWERS,
    )
  }
}
