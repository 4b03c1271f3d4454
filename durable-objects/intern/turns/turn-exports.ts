import type { Env } from "../../../src/config/env.ts"
import type { InternIdentity } from "../../../src/interns/hosts/rpc.ts"
import type { TurnUsage } from "../../../src/interns/run/acp/acp.ts"
import type { Run } from "../../../src/interns/run/run.ts"
import { type TurnRecord, turnIdOf } from "../../../src/observability/turn.ts"
import { insertTurn, toMessage } from "../../../src/observability/turn-store.ts"
import { logError } from "../../../src/support/log.ts"
import { questionsOf } from "./turn-questions.ts"
import type { RunStore } from "../run-store.ts"
import type { SessionLog } from "../sessions/session-log.ts"

/** Above this number, which needs a long outage of D1, the oldest are dropped. A stored value has at most 2 MB. */
const MAX_WAITING = 20
const RETRY_MS = 30_000

/** An ended turn, before the intern's record is read. */
type EndedTurn = Omit<TurnRecord, "internId" | "organizationId" | "workspaceId">

export function turnRecordOf(run: Run, error: TurnRecord["error"], log: SessionLog, now: number): EndedTurn {
  const { id: runId, session, mode, usage, startedAt = now } = run
  return {
    id: turnIdOf(runId, now),
    runId,
    session,
    origin: log.get(session)?.origin ?? "chat",
    mode,
    model: run.model,
    startedAt,
    endedAt: now,
    error,
    usage: sumOf(usage),
    questions: run.questionCount === 0 ? [] : questionsOf(log.lastTurn(session), run, now),
  }
}

function sumOf(usage: TurnUsage | null): TurnRecord["usage"] {
  if (!usage) return null
  const calls = (usage.by_model ?? []).reduce((sum, one) => sum + one.calls, 0)
  return { calls, totalTokens: usage.total_tokens, costUsd: usage.cost ?? null }
}

type TurnExportsDeps = {
  runs: RunStore
  now: () => number
  waitUntil: (work: Promise<unknown>) => void
  /** Sets the alarm to the earliest deadline. */
  schedule: () => void
}

/**
 * Ended turns for the destinations of the workspace: stored here until they are in D1 and queued. Without a
 * destination, nothing is queued.
 */
export class TurnExports {
  readonly #runs: RunStore
  readonly #env: Env
  readonly #now: () => number
  readonly #waitUntil: (work: Promise<unknown>) => void
  readonly #schedule: () => void
  /** Time of the next try for the remaining turns; null for none. */
  #retryAt: number | null = null

  constructor(env: Env, { runs, now, waitUntil, schedule }: TurnExportsDeps) {
    this.#runs = runs
    this.#env = env
    this.#now = now
    this.#waitUntil = waitUntil
    this.#schedule = schedule
  }

  /**
   * Sends turns left by another isolate. Not by an alarm: the object is awake, and a running alarm hides the next one.
   */
  recover(): void {
    for (const turn of this.#waiting) this.#waitUntil(this.#send(turn))
  }

  /** Called after the storage was emptied. */
  reset(): void {
    this.#retryAt = null
  }

  get dueAt(): number | null {
    return this.#retryAt
  }

  get #waiting(): TurnRecord[] {
    return this.#runs.fact("turnExports") ?? []
  }

  /** Stores a turn. It is sent when the returned function is called with its usage, or after a restart without it. */
  add({ id: internId, organizationId, workspaceId }: InternIdentity, ended: EndedTurn) {
    const turn: TurnRecord = { ...ended, internId, organizationId, workspaceId }
    this.#runs.setFact("turnExports", [...this.#waiting, turn].slice(-MAX_WAITING))
    return (usage: TurnUsage | null): void => {
      this.#waitUntil(this.#send({ ...turn, usage: sumOf(usage) }))
    }
  }

  async deliverDue(): Promise<void> {
    if (this.#retryAt === null || this.#retryAt > this.#now()) return
    this.#retryAt = null
    for (const turn of this.#waiting) await this.#send(turn)
  }

  #others({ id: sent }: TurnRecord): TurnRecord[] {
    return this.#waiting.filter(({ id }) => id !== sent)
  }

  async #send(turn: TurnRecord): Promise<void> {
    try {
      const isListened = await insertTurn(this.#env.DB, turn)
      if (isListened) await this.#env.BROADCAST.send(toMessage(turn, turn.id, turn.endedAt))
      this.#runs.setFact("turnExports", this.#others(turn))
    } catch (cause) {
      this.#runs.setFact("turnExports", [...this.#others(turn), turn].slice(-MAX_WAITING))
      logError("a turn of an intern was not stored for destinations", { intern: turn.internId }, cause)
      this.#retryAt = this.#now() + RETRY_MS
      this.#schedule()
    }
  }
}
