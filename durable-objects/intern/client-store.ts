import type { ClientQuestion } from "../../src/interns/hosts/client-frames.ts"
import type { RpcId } from "../../src/interns/run/acp.ts"
import { parseStored } from "../../src/support/json.ts"

export type ClientRequest = {
  rpc: number
  client: string
  /** The client's own name for it. */
  id: RpcId
  method: string
  /** The session that it concerns; null while that is being opened. */
  acp: string | null
  isLeft: boolean
}

export type PendingQuestion = { id: number; client: string; rpc: RpcId; acp: string; method: ClientQuestion }

type RequestRow = {
  rpc: number
  client: string
  id: string
  method: string
  acp: string | null
  left_at: number | null
}
type QuestionRow = { id: number; client: string; rpc: string; acp: string; method: ClientQuestion }

/**
 * State of ACP clients: session owners, requests to the agent and questions from it. Written to rows before anything is
 * sent, because sockets outlive the memory of the object.
 */
export class ClientStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.reset()
  }

  /** For a storage that is new, or was emptied. */
  reset(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS client_sessions (acp TEXT PRIMARY KEY, client TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS client_requests (rpc INTEGER PRIMARY KEY, client TEXT NOT NULL, id TEXT NOT NULL,
        method TEXT NOT NULL, acp TEXT, left_at INTEGER) STRICT;
      CREATE TABLE IF NOT EXISTS client_questions (id INTEGER PRIMARY KEY, client TEXT NOT NULL, rpc TEXT NOT NULL,
        acp TEXT NOT NULL, method TEXT NOT NULL) STRICT;
    `)
  }

  /** All clients with open state. */
  clients(): string[] {
    const rows = this.#sql.exec<{ client: string }>(
      `SELECT client FROM client_sessions UNION SELECT client FROM client_questions
       UNION SELECT client FROM client_requests WHERE left_at IS NULL`,
    )
    return [...rows].map(({ client }) => client)
  }

  ownerOf(acp: string): string | undefined {
    const [row] = this.#sql.exec<{ client: string }>("SELECT client FROM client_sessions WHERE acp = ?", acp)
    return row?.client
  }

  setOwner(acp: string, client: string): void {
    this.#sql.exec(
      "INSERT INTO client_sessions (acp, client) VALUES (?, ?) ON CONFLICT (acp) DO UPDATE SET client = excluded.client",
      acp,
      client,
    )
  }

  clearOwner(acp: string): void {
    this.#sql.exec("DELETE FROM client_sessions WHERE acp = ?", acp)
  }

  ask({ rpc, client, id, method, acp }: Omit<ClientRequest, "isLeft">): void {
    this.#sql.exec(
      "INSERT INTO client_requests (rpc, client, id, method, acp) VALUES (?, ?, ?, ?, ?)",
      rpc,
      client,
      JSON.stringify(id),
      method,
      acp,
    )
  }

  /** The request that the agent answers, which is over with it. */
  takeRequest(rpc: RpcId): ClientRequest | undefined {
    if (typeof rpc !== "number") return undefined
    const [row] = this.#sql.exec<RequestRow>("DELETE FROM client_requests WHERE rpc = ? RETURNING *", rpc)
    return row && toRequest(row)
  }

  takeRequests(): ClientRequest[] {
    return [...this.#sql.exec<RequestRow>("DELETE FROM client_requests RETURNING *")].map(toRequest)
  }

  /** Open requests, and those whose client disconnected after this instant. */
  openSince(leftSince: number): ClientRequest[] {
    const rows = this.#sql.exec<RequestRow>(
      "SELECT * FROM client_requests WHERE left_at IS NULL OR left_at > ? ORDER BY rpc",
      leftSince,
    )
    return [...rows].map(toRequest)
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

  /** The question that this client answers; the question of another is not its. */
  takeQuestion(id: RpcId, client: string): PendingQuestion | undefined {
    if (typeof id !== "number" || !Number.isSafeInteger(id)) return undefined
    const [row] = this.#sql.exec<QuestionRow>(
      "DELETE FROM client_questions WHERE id = ? AND client = ? RETURNING *",
      id,
      client,
    )
    return row && toQuestion(row)
  }

  /** Removes and returns the questions of a session, which cannot be answered any more. */
  takeQuestionsOf(acp: string): PendingQuestion[] {
    const rows = this.#sql.exec<QuestionRow>("DELETE FROM client_questions WHERE acp = ? RETURNING *", acp)
    return [...rows].map(toQuestion)
  }

  /**
   * Removes a disconnected client: its sessions lose their owner. Returns its prompts, which stay until the agent has
   * ended them, and its questions.
   */
  leave(client: string, now: number): { prompts: ClientRequest[]; questions: PendingQuestion[] } {
    this.#sql.exec("DELETE FROM client_sessions WHERE client = ?", client)
    this.#sql.exec("DELETE FROM client_requests WHERE client = ? AND method <> 'session/prompt'", client)
    const prompts = this.#sql.exec<RequestRow>(
      "UPDATE client_requests SET left_at = ? WHERE client = ? AND left_at IS NULL RETURNING *",
      now,
      client,
    )
    const left = [...prompts].map(toRequest)
    const questions = this.#sql.exec<QuestionRow>("DELETE FROM client_questions WHERE client = ? RETURNING *", client)
    return { prompts: left, questions: [...questions].map(toQuestion) }
  }

  /** The agent was replaced: the new one knows none of the sessions. */
  forgetSessions(): void {
    this.#sql.exec("DELETE FROM client_sessions")
    this.#sql.exec("DELETE FROM client_questions")
  }
}

function toRequest({ rpc, client, id, method, acp, left_at: leftAt }: RequestRow): ClientRequest {
  return { rpc, client, id: parseStored<RpcId>(id), method, acp, isLeft: leftAt !== null }
}

function toQuestion({ id, client, rpc, acp, method }: QuestionRow): PendingQuestion {
  return { id, client, rpc: parseStored<RpcId>(rpc), acp, method }
}
