import type { GatewayError } from "../../../src/errors/errors.ts"
import type { InternIdentity } from "../../../src/interns/hosts/rpc.ts"
import { internError } from "../../../src/interns/lifecycle/reasons.ts"
import type { Reply } from "../../../src/interns/run/advance.ts"
import { readReply } from "../../../src/interns/run/answer.ts"
import { LIMITS, nextDeadline, type Run } from "../../../src/interns/run/run.ts"
import type { RaceTimer } from "../../../src/support/time/time.ts"
import type { RunStore } from "../run-store.ts"

/** Checks before a turn. Each throws the error for the client. */

const MINUTE_MS = 60_000

/**
 * Finds the run whose pending question this answers. The checks run in the order in which clients must see their
 * errors. `late`: called with a run whose question has expired.
 */
export function findPending(
  runs: RunStore,
  { session, id, content }: { session: string | null; id: string; content: string },
  now: number,
  late: (run: Run) => void,
): { run: Run; reply: Reply } {
  const question = runs.question(id)
  if (!question || question.session !== session) {
    throw internError("interaction_unknown", "No question of this session has this tool_call_id.")
  }
  const run = question.run
  if (!run || run.state === "cancelling") throw internError("interaction_not_pending", "The run that asked has ended.")
  if (!question.isPending || run.question?.id !== id) {
    throw internError("interaction_unknown", "This question was answered before.")
  }
  if (run.question.deadline <= now) {
    late(run)
    throw internError("interaction_not_pending", "The question has expired, and the run was cancelled.")
  }
  const reply = readReply(run.question, content)
  if (run.hasOverflowed && reply.is !== "cancel") {
    throw internError(
      "attachment_failed",
      "The run produced more output while paused than the replay buffer holds. Answer `cancel` to free the session.",
    )
  }
  return { run, reply }
}

/** Limits prompts per minute. Timestamps are stored, because the object may be evicted in between. */
export function rateLimitTurn(runs: RunStore, now: number): void {
  const within = (runs.fact("turns") ?? []).filter((at) => at > now - MINUTE_MS)
  const [oldest = now] = within
  if (within.length >= LIMITS.turnsPerMinute) {
    const seconds = Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1000))
    const message = `An intern accepts ${LIMITS.turnsPerMinute} turns per minute. Retry in ${seconds} s.`
    throw internError("rate_limited", message, {
      "retry-after": String(seconds),
      "x-ratelimit-limit": String(LIMITS.turnsPerMinute),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(oldest + MINUTE_MS),
    })
  }
  runs.setFact("turns", [...within, now])
}

export function requireCapacity(open: number, openRuns: number): void {
  if (open < openRuns) return
  const message = `This intern has ${openRuns} open runs, which is the maximum. Answer one of them, or wait.`
  throw internError("busy", message, { "retry-after": "5" })
}

/** Limits the messages that the agent of a run has not taken: a run is one row of the storage. */
export function requireSteerRoom({ pendingPrompts, steers = [], lateTexts = [] }: Run, text: string): void {
  const waiting = [...pendingPrompts, ...lateTexts, ...steers.map((message) => message.text), text]
  if (waiting.reduce((sum, { length }) => sum + length, 0) <= LIMITS.steerChars) return
  const message = `The agent has not taken the last messages of this session. They may have ${LIMITS.steerChars} characters in total: wait, or cancel the turn.`
  throw internError("busy", message, { "retry-after": "5" })
}

/** Why a session accepts no prompt now. */
export function sessionBusyError(run: Run, now: number): GatewayError {
  const at = nextDeadline(run) ?? now
  const seconds = String(Math.max(1, Math.ceil((at - now) / 1000)))
  const message =
    run.state === "paused"
      ? "The intern waits for an answer to its question in this session. Answer it, or use another session."
      : "The run of this session is being cancelled. Retry in a moment."
  return internError("busy_session", message, { "retry-after": seconds })
}

/** The owner of the current turn of a session, and the options of others. `identity`: identity of the intern. */
export function conflictOf(
  { client, isBackground, question, session, state }: Run,
  identity: Pick<InternIdentity, "id"> | undefined,
): { owner: "acp" | "chat" | "background"; message: string } {
  const owner = client ? "acp" : isBackground ? "background" : "chat"
  const subject = { acp: "An ACP client has a turn", chat: "A chat has a turn", background: "A background turn runs" }[
    owner
  ]
  if (state === "cancelling")
    return { owner, message: `${subject} in this session, which is being cancelled. Retry in a moment.` }
  const path = `/interns/${identity?.id ?? "{id}"}`
  const cancel = `cancel it with POST ${path}/sessions/${encodeURIComponent(session)}/cancel`
  const message = question
    ? `${subject} in this session, and waits for an answer. Answer with POST ${path}/questions/${question.id}, or ${cancel}.`
    : `${subject} in this session. Wait for its end, or ${cancel}.`
  return { owner, message }
}

/** Why a session accepts nothing from a chat while an ACP client has a turn in it. */
export function clientBusyError(run: Run, identity: InternIdentity | undefined): GatewayError {
  return internError("busy_session", conflictOf(run, identity).message, { "retry-after": "5" })
}

/** Why a session accepts no prompt from a chat while an ACP client loads it. */
export function loadingError(): GatewayError {
  const message = "An ACP client is loading this session. Retry in a moment, or use another session."
  return internError("busy_session", message, { "retry-after": "1" })
}

/** An event that several callers await, each with its own timeout. */
export class HostEvent {
  readonly #waiting = new Set<() => void>()

  async within(ms: number, timer: RaceTimer): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    await timer.within(promise, ms)
    this.#waiting.delete(resolve)
  }

  notify(): void {
    for (const arrived of this.#waiting) arrived()
  }
}

export function unreachable(): GatewayError {
  return internError("intern_unreachable", "The intern's daemon is not connected. Start it, or retry soon.")
}
