import { LIMITS, type Run } from "./run.ts"

export type Opening = Pick<Run, "id" | "session" | "mode" | "isBackground" | "client" | "schedule">

/** A turn that was not sent to the agent yet. `now`: epoch milliseconds. */
export function newRun(opening: Opening, now: number): Run {
  const { id, session, mode, isBackground = false, client = null, schedule } = opening
  return {
    id,
    session,
    acp: null,
    state: "streaming",
    mode,
    isBackground,
    client,
    ...(schedule && { schedule }),
    startedAt: now,
    ending: null,
    openRpc: null,
    isLoading: false,
    promptRpc: null,
    pendingPrompts: [],
    question: null,
    queued: [],
    questionCount: 0,
    keptBytes: 0,
    hasOverflowed: false,
    usage: null,
    costUsd: null,
    model: null,
    turnDeadline: turnDeadlineOf({ isBackground, client }, now),
    graceDeadline: null,
  }
}

/** Deadline of chat responses and background work. Turns of ACP clients have none. */
export function turnDeadlineOf({ isBackground, client }: Pick<Run, "isBackground" | "client">, now: number) {
  if (isBackground) return now + LIMITS.backgroundMs
  return client ? null : now + LIMITS.turnMs
}
