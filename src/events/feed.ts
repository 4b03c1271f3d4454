import { toCall } from "../calls/call.ts"
import { type CallScope, listCallsSince, type StoredCall } from "../calls/store.ts"
import { listOpenQuestions, type OpenQuestion, type QuestionScope } from "../interns/questions-store.ts"
import { isObject, parseJson } from "../support/text/json.ts"
import { type Timer, toTimestamp } from "../support/time/time.ts"

/** Duration of a connection. Clients reconnect with `Last-Event-ID`. */
export const CONNECTION_MS = 300_000
/** Between two queries of a connection. */
const TICK_MS = 1_000
const PING_MS = 15_000
/** How often the key is checked again. */
const RECHECK_MS = 10_000
const MAX_CALLS_PER_TICK = 500
/**
 * Calls arrive in the database out of order by less than this. A connection begins that much earlier, so that none is
 * missed between two connections or after a list; clients recognize repeated ones by their id.
 */
const OVERLAP_MS = 5_000
/** A client that was disconnected for longer reads the list. */
const MAX_RESUME_MS = 600_000

export type ServerEvent = { event: "call" | "question" | "ping"; id?: string; data: unknown }

export type FeedInput = {
  db: D1Database
  calls: CallScope
  /** Null if the key has no interns. */
  questions: QuestionScope | null
  /** `Last-Event-ID`. */
  lastEventId: string | null
  /** Whether the key still works. */
  isAllowed: () => Promise<boolean>
  signal: AbortSignal
  timer: Timer
  now: () => number
}

/**
 * New calls and changes of open questions. One query a second: calls and questions in turn. Ends after CONNECTION_MS,
 * when the client disconnects, or when the key stops working.
 */
export async function* readFeed(input: FeedInput): AsyncGenerator<ServerEvent> {
  const { db, signal, timer, now, isAllowed } = input
  const startedAt = now()
  const calls = new CallFeed(input.calls, input.lastEventId, startedAt)
  const questions = input.questions && new QuestionFeed(input.questions)
  let pingAt = startedAt + PING_MS
  let recheckAt = startedAt + RECHECK_MS
  for (let tick = 0; !signal.aborted && now() - startedAt < CONNECTION_MS; tick++) {
    if (questions && tick % 2 === 0) yield* await questions.read(db, now())
    else yield* await calls.read(db)
    if (now() >= pingAt) {
      pingAt = now() + PING_MS
      yield { event: "ping", data: { at: toTimestamp(now()) } }
    }
    if (now() >= recheckAt) {
      recheckAt = now() + RECHECK_MS
      if (!(await isAllowed())) return
    }
    await timer.wait(TICK_MS)
  }
}

/** Calls that ended since shortly before the feed began, each once. */
class CallFeed {
  readonly #scope: CallScope
  /** Ids that were sent, with the end of their call. */
  readonly #sent = new Map<string, number>()
  #since: number

  constructor(scope: CallScope, lastEventId: string | null, now: number) {
    this.#scope = scope
    const resumed = readEventId(lastEventId)
    const isRecent = resumed !== undefined && resumed.at <= now && now - resumed.at <= MAX_RESUME_MS
    if (isRecent) this.#sent.set(resumed.id, resumed.at)
    this.#since = (isRecent ? resumed.at : now) - OVERLAP_MS
  }

  async read(db: D1Database): Promise<ServerEvent[]> {
    const rows = await listCallsSince(db, this.#scope, this.#since, MAX_CALLS_PER_TICK)
    const events = rows.filter((row) => this.#isNew(row)).map(toCallEvent)
    const newest = rows.at(-1)?.at ?? this.#since
    // A full page continues where it ended; otherwise late calls are searched again.
    const isFull = rows.length === MAX_CALLS_PER_TICK
    this.#since = Math.max(this.#since, isFull ? newest : newest - OVERLAP_MS)
    for (const [id, at] of this.#sent) if (at < this.#since) this.#sent.delete(id)
    return events
  }

  #isNew({ at, generation: { id } }: StoredCall): boolean {
    if (this.#sent.has(id)) return false
    this.#sent.set(id, at)
    return true
  }
}

function toCallEvent(row: StoredCall): ServerEvent {
  return { event: "call", id: `${row.at}.${row.generation.id}`, data: toCall(row) }
}

function readEventId(text: string | null): { at: number; id: string } | undefined {
  const [, at, id] = /^(\d{1,15})\.((?:gen|rej|lease)-[0-9a-f-]{36})$/.exec(text ?? "") ?? []
  return at === undefined || id === undefined ? undefined : { at: Number(at), id }
}

/** Open questions: each when it is raised, and again when it is closed. */
class QuestionFeed {
  readonly #scope: QuestionScope
  #open = new Map<string, OpenQuestion>()

  constructor(scope: QuestionScope) {
    this.#scope = scope
  }

  async read(db: D1Database, now: number): Promise<ServerEvent[]> {
    const questions = await listOpenQuestions(db, this.#scope, now)
    const open = new Map(questions.map((question) => [question.id, question]))
    const raised = questions.filter(({ id }) => !this.#open.has(id))
    const closed = [...this.#open.values()].filter(({ id }) => !open.has(id))
    this.#open = open
    return [
      ...raised.map((question) => toQuestionEvent(question, "open")),
      ...closed.map((question) => toQuestionEvent(question, "closed")),
    ]
  }
}

export function toQuestion(row: OpenQuestion) {
  const { id, internId, internName, workspaceId, session, question, createdAt, deadline } = row
  const parsed = parseJson(question)
  return {
    id,
    intern: { id: internId, name: internName },
    workspace_id: workspaceId,
    session_id: session,
    created_at: toTimestamp(createdAt),
    deadline: toTimestamp(deadline),
    question: isObject(parsed) ? parsed : {},
  }
}

function toQuestionEvent(row: OpenQuestion, state: "open" | "closed"): ServerEvent {
  return { event: "question", data: { ...toQuestion(row), state } }
}
