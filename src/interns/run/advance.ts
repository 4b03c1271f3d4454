import { type AcpEvent, usageOf } from "./acp.ts"
import { newQuestion, cancelOutcome, pause, openQuestion, selected } from "./questions.ts"
import { finishOf, CONNECTION_LOST, turnFailure } from "./endings.ts"
import { newRun, type Opening, turnDeadlineOf } from "./opening.ts"
import { type Delta, type Effect, type Ending, isDetached, LIMITS, type Finish, type Run, type Step } from "./run.ts"

/**
 * Transitions of a run, pure: every function takes a run and an event, and returns the next run and the effects to
 * perform. `now` is epoch milliseconds; `rpc` is a fresh request id, and the next number is free as well.
 */

/** The agent's id of the session, and whether the current agent has it in memory. */
export type KnownSession = { acp: string; isLive: boolean } | undefined

export function startRun(
  { prompt, ...opening }: Opening & { prompt: string },
  session: KnownSession,
  now: number,
  rpc: number,
): Step {
  const run: Run = { ...newRun(opening, now), pendingPrompts: [prompt] }
  if (session?.isLive) return opened({ ...run, acp: session.acp }, rpc)
  const isLoading = session !== undefined
  return {
    run: { ...run, acp: session?.acp ?? null, openRpc: rpc, isLoading, graceDeadline: now + LIMITS.openingMs },
    effects: [open(rpc, session?.acp)],
  }
}

function open(rpc: number, acp: string | undefined): Effect {
  return acp === undefined
    ? { do: "request", rpc, method: "session/new", params: {} }
    : { do: "request", rpc, method: "session/load", params: { sessionId: acp } }
}

/** The session is open: sends the first prompt, and steers with the messages that arrived meanwhile. */
function opened(run: Run, rpc: number): Step {
  const { acp } = run
  if (acp === null) throw new Error("An open session has no name.")
  const [prompt = "", ...more] = run.pendingPrompts
  const effects: Effect[] = [
    { do: "bind", acp },
    { do: "request", rpc, method: "session/prompt", params: { sessionId: acp, prompt: [textBlock(prompt)] } },
  ]
  if (more.length > 0) effects.push(steering(acp, more.join("\n\n"), rpc + 1))
  return { run: { ...run, openRpc: null, graceDeadline: null, promptRpc: rpc, pendingPrompts: [] }, effects }
}

const textBlock = (text: string) => ({ type: "text", text })

function steering(acp: string, text: string, rpc: number): Effect {
  return { do: "request", rpc, method: "_intern/steer", params: { sessionId: acp, prompt: [textBlock(text)] } }
}

/** The client sends a further message to a run that it streams. */
export function steer(run: Run, text: string, rpc: number): Step {
  if (run.promptRpc === null || run.acp === null) {
    return { run: { ...run, pendingPrompts: [...run.pendingPrompts, text] }, effects: [] }
  }
  return { run, effects: [steering(run.acp, text, rpc)] }
}

/** Handles an event of the agent for this run. */
export function onAcpEvent(run: Run, news: AcpEvent, now: number, rpc: number): Step {
  switch (news.is) {
    case "text":
    case "thought":
      return onDelta(run, news.is === "text" ? { content: news.text } : { reasoning: news.text }, news.model)
    case "cost":
      return { run: { ...run, costUsd: news.usd }, effects: [] }
    case "permission": {
      const { is: kind, rpc: requested, operation, options, details } = news
      return openQuestion(run, { ...newQuestion(run, requested), kind, operation, options, details }, now)
    }
    case "elicitation": {
      const { is: kind, rpc: requested, message, fields } = news
      return openQuestion(run, { ...newQuestion(run, requested), kind, message, fields }, now)
    }
    case "result":
      return news.rpc === run.openRpc ? sessionOpened(run, news.result, rpc) : turnEnded(run, news.result)
    case "failure":
      return news.rpc === run.openRpc ? sessionFailed(run, news, now, rpc) : turnFailed(run, news)
    default:
      return unchanged(run)
  }
}

const unchanged = (run: Run): Step => ({ run, effects: [] })

function onDelta(run: Run, delta: Delta, model: string | null): Step {
  // Before the first prompt, an agent that loads a session replays its old messages.
  if (run.promptRpc === null) return unchanged(run)
  const reported = model === null ? run : { ...run, model }
  // A background turn is recorded completely, and an ACP client receives output while its question is open.
  const isRead = run.state === "streaming" || (run.state === "paused" && isDetached(run))
  if (isRead) return { run: reported, effects: [{ do: "say", delta }] }
  if (run.state !== "paused" || run.hasOverflowed) return unchanged(reported)
  const keptBytes = run.keptBytes + JSON.stringify(delta).length
  if (keptBytes > LIMITS.replayBytes) {
    return { run: { ...reported, hasOverflowed: true, keptBytes: 0 }, effects: [{ do: "forget kept" }] }
  }
  return { run: { ...reported, keptBytes }, effects: [{ do: "keep", delta }] }
}

/** A validated answer of the client (answer.ts). */
export type Reply = { is: "option"; optionId: string } | { is: "result"; result: unknown } | { is: "cancel" }

/**
 * The client that answered is attached: the replay buffer is sent first, then the answer goes to the agent. An answer
 * without a response to read makes it a background run.
 */
export function onAnswer(run: Run, reply: Reply, now: number, isBackground = run.isBackground ?? false): Step {
  const { question, queued } = run
  if (question === null) throw new Error("The answered run has no question.")
  const turnDeadline = turnDeadlineOf({ ...run, isBackground }, now)
  const resumed: Run = { ...run, state: "streaming", isBackground, question: null, keptBytes: 0, turnDeadline }
  const replay: Effect[] = [{ do: "replay" }]
  if (reply.is === "cancel") {
    const { run: cancelled, effects } = cancel({ ...resumed, question }, "answered_cancel", now)
    return { run: cancelled, effects: [...replay, ...effects] }
  }
  const answer: Effect =
    reply.is === "option"
      ? selected(question, reply.optionId)
      : { do: "respond", rpc: question.rpc, result: reply.result }
  const [next, ...rest] = queued
  if (next === undefined) return { run: resumed, effects: [...replay, answer] }
  const { run: paused, effects } = pause({ ...resumed, queued: rest }, next, now)
  return { run: paused, effects: [...replay, answer, ...effects] }
}

/** Cancels the agent's turn and answers its pending questions. */
export function cancel(run: Run, ending: Ending, now: number): Step {
  if (run.state === "cancelling" || run.state === "ended") return unchanged(run)
  const open = [...(run.question ? [run.question] : []), ...run.queued].map(cancelOutcome)
  const isOpening = run.promptRpc === null || run.acp === null
  // Without a prompt, the agent cannot confirm a cancellation.
  if (isOpening) return end({ ...run, ending }, finishOf(ending))
  const cancelled: Run = {
    ...run,
    state: "cancelling",
    ending,
    question: null,
    queued: [],
    keptBytes: 0,
    turnDeadline: null,
    graceDeadline: now + LIMITS.graceMs,
  }
  // Order of the protocol: if the question is answered first, the agent may end its turn as not cancelled.
  return { run: cancelled, effects: [cancellation(run.acp ?? ""), ...open, { do: "forget kept" }] }
}

function cancellation(acp: string): Effect {
  return { do: "notify", method: "session/cancel", params: { sessionId: acp } }
}

/** The same agent has reconnected: repeats messages that it may have missed. */
export function onHostBack(run: Run): Step {
  if (run.state === "cancelling" && run.acp !== null) return { run, effects: [cancellation(run.acp)] }
  if (run.state === "streaming" && run.promptRpc !== null) return unchanged({ ...run, graceDeadline: null })
  return unchanged(run)
}

/** The connection to the agent is lost. A paused run waits; a streaming run waits for the grace period. */
export function onHostLost(run: Run, now: number): Step {
  if (run.state !== "streaming" || run.graceDeadline !== null) return unchanged(run)
  return unchanged({ ...run, graceDeadline: now + LIMITS.graceMs })
}

/** The agent was replaced: the session in its memory is lost. */
export function connectionLost(run: Run): Step {
  return end({ ...run, question: null, queued: [] }, CONNECTION_LOST)
}

/** Handles the deadlines that have passed. */
export function tick(run: Run, now: number): Step {
  const isDue = (at: number | null) => at !== null && at <= now
  if (run.state === "ended") return unchanged(run)
  if (isDue(run.graceDeadline)) {
    if (run.openRpc !== null) return end(run, finishOf("not_opened"))
    const { run: ended, effects } = end(run, CONNECTION_LOST)
    // The agent may still be running and reconnect, so it is cancelled as well.
    return { run: ended, effects: [cancellation(run.acp ?? ""), ...effects] }
  }
  if (run.state === "paused" && isDue(run.question?.deadline ?? null)) return cancel(run, "deadline", now)
  if (isDue(run.turnDeadline)) return cancel(run, "timeout", now)
  return unchanged(run)
}

function sessionOpened(run: Run, result: Record<string, unknown>, rpc: number): Step {
  const sessionId = result["sessionId"]
  const acp = typeof sessionId === "string" ? sessionId : run.acp
  if (acp === null) return end(run, turnFailure("The agent opened a session without a name.", null, -32_603))
  return opened({ ...run, acp, isLoading: false }, rpc)
}

/** A session that cannot be loaded starts without its history. */
function sessionFailed(run: Run, failure: Failure, now: number, rpc: number): Step {
  if (!run.isLoading) return turnFailed(run, failure)
  const fresh: Run = { ...run, acp: null, isLoading: false, openRpc: rpc, graceDeadline: now + LIMITS.openingMs }
  return { run: fresh, effects: [open(rpc, undefined)] }
}

function turnEnded(run: Run, result: Record<string, unknown>): Step {
  const usage = usageOf(result)
  const cost = usage && usage.cost === undefined && run.costUsd !== null ? { cost: run.costUsd } : {}
  const charged: Run = { ...run, usage: usage && { ...usage, ...cost } }
  if (result["stopReason"] !== "cancelled") return end(charged, { reason: "stop" })
  return end(charged, finishOf(run.ending))
}

type Failure = AcpEvent & { is: "failure" }

function turnFailed(run: Run, { message, status, code, usage }: Failure): Step {
  const charged = { ...run, usage: usage ?? run.usage }
  // Some agents report a cancellation as an error.
  if (run.state === "cancelling") return end(charged, finishOf(run.ending))
  return end(charged, turnFailure(message, status, code))
}

function end(run: Run, finish: Finish): Step {
  const open = [...(run.question ? [run.question] : []), ...run.queued].map(cancelOutcome)
  const ended: Run = {
    ...run,
    state: "ended",
    question: null,
    queued: [],
    keptBytes: 0,
    turnDeadline: null,
    graceDeadline: null,
    openRpc: null,
    promptRpc: null,
  }
  return { run: ended, effects: [...open, { do: "forget kept" }, { do: "finish", finish }] }
}
