import { readSessionCursor, toSessionCursor } from "../../../src/interns/cursor.ts"
import { RPC_ERRORS, type RpcError } from "../../../src/interns/hosts/client-frames.ts"
import { CLIENT_PAGE, toSessionInfo, transcriptUpdates } from "../../../src/interns/hosts/client-sessions.ts"
import type { Run } from "../../../src/interns/run/run.ts"
import type { ClientStore } from "./client-store.ts"
import type { RunStore } from "../run-store.ts"
import { MAX_ENTRIES, type SessionLog } from "../sessions/session-log.ts"
import { conflictOf } from "../turns/turn-guards.ts"

/** Why a request of a client is rejected. */
export type Rejection = RpcError
/** A session by the agent's id and by the name that the client uses. */
export type LoadableSession = { acp: string; name: string }

type Params = Record<string, unknown>

const MAX_SESSION_CHARS = 1_024

/** Resolves the session of an ACP client's request and checks access. Clients may use either id of a session. */
export class ClientSessionAccess {
  readonly #runs: RunStore
  readonly #store: ClientStore
  readonly #log: SessionLog

  constructor(runs: RunStore, store: ClientStore, log: SessionLog) {
    this.#runs = runs
    this.#store = store
    this.#log = log
  }

  /** Sessions that can be loaded, the most recently used first. */
  list({ cursor, cwd }: Params): Rejection | { result: Params } {
    const before = typeof cursor === "string" ? readSessionCursor(cursor) : undefined
    if (cursor != null && !before) return invalid("cursor: must be the nextCursor of a previous page.")
    const records = this.#log.list(CLIENT_PAGE + 1, before)
    const page = records.slice(0, CLIENT_PAGE)
    const last = page.at(-1)
    const sessions = page.filter(({ id }) => this.#runs.session(id)).map((record) => toSessionInfo(record, cwd))
    return { result: { sessions, ...(records.length > CLIENT_PAGE && last && { nextCursor: toSessionCursor(last) }) } }
  }

  /** A session that the gateway does not know may exist at the agent. */
  toLoad({ sessionId: name }: Params): Rejection | LoadableSession {
    if (!isSessionId(name)) return invalid("sessionId: must be the id of a session.")
    const session = this.#runs.find(name)
    const acp = session?.acp ?? name
    return this.#conflict(session?.id ?? name, acp) ?? { acp, name }
  }

  toPrompt(client: string, { sessionId: name, prompt }: Params) {
    if (!isSessionId(name)) return invalid("sessionId: must be the id of a session.")
    if (!Array.isArray(prompt)) return invalid("prompt: must be an array of content blocks.")
    const acp = this.#store.openedBy(client, name)
    const session = this.#runs.find(acp ?? name)
    const isOpenElsewhere = acp === undefined && session !== undefined && this.#store.ownerOf(session.acp) !== undefined
    const conflict = session && !isOpenElsewhere ? this.#conflict(session.id, session.acp) : undefined
    if (conflict) return conflict
    if (acp === undefined || !session) return NOT_OPEN
    return { session: session.id, acp, prompt: prompt as unknown[] }
  }

  /** The turn of a client in the session that it opened by this name. */
  promptOf(client: string, name: unknown): Run | undefined {
    const acp = typeof name === "string" ? this.#store.openedBy(client, name) : undefined
    const run = acp === undefined ? undefined : this.#runs.ofAcp(acp)
    return run?.client?.id === client ? run : undefined
  }

  /** The transcript of a session, for an agent that does not replay it. */
  replay(acp: string): Params[] {
    const session = this.#runs.find(acp)
    return session ? transcriptUpdates(this.#log.transcript(session.id, 0, MAX_ENTRIES)) : []
  }

  #conflict(session: string, acp: string): Rejection | undefined {
    const run = this.#runs.ofSession(session) ?? this.#runs.ofAcp(acp)
    if (run) {
      const { owner, message } = conflictOf(run, this.#runs.fact("identity"))
      const questionId = run.question?.id
      const data = {
        reason: "busy",
        retryable: true,
        door: owner,
        ...(questionId !== undefined && { question_id: questionId }),
      }
      return { code: RPC_ERRORS.busy, message, data }
    }
    if (!this.#store.isLoading(acp)) return undefined
    const message = "Another ACP client is loading this session. Retry in a moment."
    return { code: RPC_ERRORS.busy, message, data: { reason: "busy", retryable: true, door: "acp" } }
  }
}

const NOT_OPEN: Rejection = {
  code: RPC_ERRORS.noSession,
  message:
    "This connection does not have this session open: it was never opened here, or a chat or another client has used it since, or it was deleted. Load it again.",
}

function isSessionId(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_SESSION_CHARS
}

function invalid(message: string): Rejection {
  return { code: RPC_ERRORS.params, message }
}
