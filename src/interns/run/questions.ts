import type { RpcId } from "./acp/acp.ts"
import { type Effect, isDetached, LIMITS, type Question, type Run, type Step } from "./run.ts"

export const newQuestion = (run: Run, rpc: RpcId) => ({
  id: `call_${run.id.replaceAll("-", "")}_${run.questionCount}`,
  rpc,
  deadline: 0,
})

/**
 * Handles a question of the agent: sends it to the client, queues it behind an open question, or answers it at once in
 * self-drive mode.
 */
export function openQuestion(run: Run, question: Question, now: number): Step {
  const counted = { ...run, questionCount: run.questionCount + 1 }
  if (run.state === "cancelling" || run.state === "ended") return { run: counted, effects: [cancelOutcome(question)] }
  if (question.kind === "permission" && run.mode === "self-drive") {
    const option = optionOf(question, "allow_once") ?? optionOf(question, "allow_always")
    return { run: counted, effects: [option === undefined ? cancelOutcome(question) : selected(question, option)] }
  }
  if (run.state !== "paused") return pause(counted, question, now)
  const queued = [...run.queued, question]
  // A run is one row of the storage, and an agent could request permissions without end.
  if (JSON.stringify([run.question, ...queued]).length > LIMITS.queuedChars) {
    return { run: counted, effects: [cancelOutcome(question)] }
  }
  return { run: { ...counted, queued }, effects: [] }
}

export function pause(run: Run, opened: Question, now: number): Step {
  const deadline = now + (isDetached(run) ? LIMITS.backgroundQuestionMs : LIMITS.questionTimeoutMs)
  const question = { ...opened, deadline }
  return {
    run: { ...run, state: "paused", question, turnDeadline: null },
    effects: [{ do: "finish", finish: { reason: "tool_calls", question } }],
  }
}

/** The first option of a kind: agents may offer several, the narrowest first. */
export function optionOf(question: Question & { kind: "permission" }, kind: string): string | undefined {
  return question.options.find((option) => option.kind === kind)?.id
}

export const selected = ({ rpc }: Question, optionId: string): Effect => {
  return { do: "respond", rpc, result: { outcome: { outcome: "selected", optionId } } }
}

export function cancelOutcome({ rpc, kind }: Question): Effect {
  const result = kind === "permission" ? { outcome: { outcome: "cancelled" } } : { action: "cancel" }
  return { do: "respond", rpc, result }
}
