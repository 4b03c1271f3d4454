import type { ClientQuestion } from "../../../src/interns/hosts/client-frames.ts"
import type { RpcId } from "../../../src/interns/run/acp/acp.ts"
import { parseStored } from "../../../src/support/text/json.ts"

/** A request that opens a session. `id`: its id at the client. `acp`: the session; null for a new one. */
export type ClientRequest = { rpc: number; client: string; id: RpcId; method: string; acp: string | null }

export type PendingQuestion = { id: number; client: string; rpc: RpcId; acp: string; method: ClientQuestion }

/** The client that has a session open, and the name it used. */
export type OpenSession = { client: string; name: string }

type RequestRow = { rpc: number; client: string; id: string; method: string; acp: string | null }
type QuestionRow = { id: number; client: string; rpc: string; acp: string; method: ClientQuestion }

/**
 * State of ACP clients: open sessions, requests to the agent and questions from it. Stored before anything is sent,
 * because sockets survive an eviction of the object. `acp`: the agent's id of a session.
 */
export class ClientStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.reset()
  }

  /** Creates the tables, for a new or emptied storage. */
  reset(): void {
    this.#sql.exec(`
      DROP TABLE IF EXISTS client_sessions;
      CREATE TABLE IF NOT EXISTS opened_sessions (acp TEXT PRIMARY KEY, client TEXT NOT NULL, name TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS client_requests (rpc INTEGER PRIMARY KEY, client TEXT NOT NULL, id TEXT NOT NULL,
        method TEXT NOT NULL, acp TEXT, left_at INTEGER) STRICT;
      CREATE TABLE IF NOT EXISTS client_questions (id INTEGER PRIMARY KEY, client TEXT NOT NULL, rpc TEXT NOT NULL,
        acp TEXT NOT NULL, method TEXT NOT NULL) STRICT;
    `)
  }

  /** All clients with open state. */
  clients(): string[] {
    const rows = this.#sql.exec<{ client: string }>(
      `SELECT client FROM opened_sessions UNION SELECT client FROM client_questions
       UNION SELECT client FROM client_requests`,
    )
    return [...rows].map(({ client }) => client)
  }

  ownerOf(acp: string): OpenSession | undefined {
    const [row] = this.#sql.exec<OpenSession>("SELECT client, name FROM opened_sessions WHERE acp = ?", acp)
    return row
  }

  /** The agent's id of the session that a client has open by this name. */
  openedBy(client: string, name: string): string | undefined {
    const [row] = this.#sql.exec<{ acp: string }>(
      "SELECT acp FROM opened_sessions WHERE client = ? AND name = ?",
      client,
      name,
    )
    return row?.acp
  }

  setOwner(acp: string, { client, name }: OpenSession): void {
    this.#sql.exec(
      `INSERT INTO opened_sessions (acp, client, name) VALUES (?, ?, ?)
       ON CONFLICT (acp) DO UPDATE SET client = excluded.client, name = excluded.name`,
      acp,
      client,
      name,
    )
  }

  clearOwner(acp: string): void {
    this.#sql.exec("DELETE FROM opened_sessions WHERE acp = ?", acp)
  }

  saveRequest({ rpc, client, id, method, acp }: ClientRequest): void {
    this.#sql.exec(
      "INSERT INTO client_requests (rpc, client, id, method, acp) VALUES (?, ?, ?, ?, ?)",
      rpc,
      client,
      JSON.stringify(id),
      method,
      acp,
    )
  }

  /** Removes and returns the request that the agent responded to. */
  takeRequest(rpc: RpcId): ClientRequest | undefined {
    if (typeof rpc !== "number") return undefined
    const [row] = this.#sql.exec<RequestRow>("DELETE FROM client_requests WHERE rpc = ? RETURNING *", rpc)
    return row && toRequest(row)
  }

  takeRequests(): ClientRequest[] {
    return [...this.#sql.exec<RequestRow>("DELETE FROM client_requests RETURNING *")].map(toRequest)
  }

  get requestCount(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM client_requests").one().n
  }

  isLoading(acp: string): boolean {
    return this.#sql.exec("SELECT 1 FROM client_requests WHERE acp = ?", acp).toArray().length > 0
  }

  put({ id, client, rpc, acp, method }: PendingQuestion): void {
    this.#sql.exec(
      "INSERT INTO client_questions (id, client, rpc, acp, method) VALUES (?, ?, ?, ?, ?)",
      id,
      client,
      JSON.stringify(rpc),
      acp,
      method,
    )
  }

  /** Removes and returns the question that this client answers; undefined for the question of another client. */
  takeQuestion(id: RpcId, client: string): PendingQuestion | undefined {
    if (typeof id !== "number" || !Number.isSafeInteger(id)) return undefined
    const [row] = this.#sql.exec<QuestionRow>(
      "DELETE FROM client_questions WHERE id = ? AND client = ? RETURNING *",
      id,
      client,
    )
    return row && toQuestion(row)
  }

  /** Removes and returns a question by the agent's id. */
  takeQuestionOf(rpc: RpcId): PendingQuestion | undefined {
    const [row] = this.#sql.exec<QuestionRow>(
      "DELETE FROM client_questions WHERE rpc = ? RETURNING *",
      JSON.stringify(rpc),
    )
    return row && toQuestion(row)
  }

  /** Removes and returns the questions of a session, which can no longer be answered. */
  takeQuestionsIn(acp: string): PendingQuestion[] {
    const rows = this.#sql.exec<QuestionRow>("DELETE FROM client_questions WHERE acp = ? RETURNING *", acp)
    return [...rows].map(toQuestion)
  }

  /** Removes a disconnected client and closes its sessions. Returns its questions. */
  removeClient(client: string): PendingQuestion[] {
    this.#sql.exec("DELETE FROM opened_sessions WHERE client = ?", client)
    this.#sql.exec("DELETE FROM client_requests WHERE client = ?", client)
    const rows = this.#sql.exec<QuestionRow>("DELETE FROM client_questions WHERE client = ? RETURNING *", client)
    return [...rows].map(toQuestion)
  }

  /** Called when the agent was replaced: the new one does not have the sessions. */
  deleteSessions(): void {
    this.#sql.exec("DELETE FROM opened_sessions")
    this.#sql.exec("DELETE FROM client_questions")
  }
}

function toRequest({ rpc, client, id, method, acp }: RequestRow): ClientRequest {
  return { rpc, client, id: parseStored<RpcId>(id), method, acp }
}

function toQuestion({ id, client, rpc, acp, method }: QuestionRow): PendingQuestion {
  return { id, client, rpc: parseStored<RpcId>(rpc), acp, method }
}
