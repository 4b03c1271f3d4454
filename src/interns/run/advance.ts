import { type AcpEvent, usageOf } from "./acp/acp.ts"
import { newQuestion, cancelOutcome, pause, openQuestion, selected } from "./questions.ts"
import { finishOf, CONNECTION_LOST, turnFailure } from "./endings.ts"
import { latePrompt, onSteerResponse, steered, textBlock } from "./steering.ts"
import { addUsage } from "./transcript.ts"
import { type Json, parseStored } from "../../support/text/json.ts"
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
  if (session?.isLive) return sendFirstPrompt({ ...run, acp: session.acp }, rpc)
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
function sendFirstPrompt(run: Run, rpc: number): Step {
  const { acp } = run
  if (acp === null) throw new Error("An open session has no name.")
  const [prompt = "", ...more] = run.pendingPrompts
  const effects: Effect[] = [
    { do: "bind", acp },
    { do: "request", rpc, method: "session/prompt", params: { sessionId: acp, prompt: [textBlock(prompt)] } },
  ]
  const prompted: Run = { ...run, openRpc: null, graceDeadline: null, promptRpc: rpc, pendingPrompts: [] }
  if (more.length === 0) return { run: prompted, effects }
  const { run: next, effects: steering } = steered(prompted, acp, more.join("\n\n"), rpc + 1)
  return { run: next, effects: [...effects, ...steering] }
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
    case "failure":
      return onResponse(run, news, now, rpc)
    default:
      return withoutEffects(run)
  }
}

const withoutEffects = (run: Run): Step => ({ run, effects: [] })

function onResponse(run: Run, news: AcpEvent & { is: "result" | "failure" }, now: number, rpc: number): Step {
  const steered = onSteerResponse(run, news)
  if (steered)
    return steered.heldResult ? turnEnded(steered, parseStored(steered.heldResult), now, rpc) : withoutEffects(steered)
  if (news.is === "result") {
    return news.rpc === run.openRpc ? sessionOpened(run, news.result, rpc) : turnEnded(run, news.result, now, rpc)
  }
  return news.rpc === run.openRpc ? sessionFailed(run, news, now, rpc) : turnFailed(run, news)
}

function onDelta(run: Run, delta: Delta, model: string | null): Step {
  // Before the first prompt, an agent that loads a session replays its old messages.
  if (run.promptRpc === null) return withoutEffects(run)
  const reported = model === null ? run : { ...run, model }
  // A background turn is recorded completely, and an ACP client receives output while its question is open.
  const isRead = run.state === "streaming" || (run.state === "paused" && isDetached(run))
  if (isRead) return { run: reported, effects: [{ do: "send", delta }] }
  if (run.state !== "paused" || run.hasOverflowed) return withoutEffects(reported)
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
  const effect: Effect =
    reply.is === "option"
      ? selected(question, reply.optionId)
      : { do: "respond", rpc: question.rpc, result: reply.result }
  const [next, ...rest] = queued
  if (next === undefined) return { run: resumed, effects: [...replay, effect] }
  const { run: paused, effects } = pause({ ...resumed, queued: rest }, next, now)
  return { run: paused, effects: [...replay, effect, ...effects] }
}

/** Cancels the agent's turn and answers its pending questions. */
export function cancel(run: Run, ending: Ending, now: number): Step {
  if (run.state === "cancelling" || run.state === "ended") return withoutEffects(run)
  const open = [...(run.question ? [run.question] : []), ...run.queued].map(cancelOutcome)
  // Without a prompt in progress, the agent cannot confirm a cancellation.
  const isIdle = run.promptRpc === null || run.acp === null || Boolean(run.heldResult)
  if (isIdle) return end({ ...run, ending }, finishOf(ending))
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
  if (run.state === "streaming" && run.promptRpc !== null && !run.heldResult) {
    return withoutEffects({ ...run, graceDeadline: null })
  }
  return withoutEffects(run)
}

/** The connection to the agent is lost. A paused run waits; a streaming run waits for the grace period. */
export function onHostLost(run: Run, now: number): Step {
  if (run.state !== "streaming" || run.graceDeadline !== null) return withoutEffects(run)
  return withoutEffects({ ...run, graceDeadline: now + LIMITS.graceMs })
}

/** The agent was replaced: the session in its memory is lost. */
export function connectionLost(run: Run): Step {
  return end({ ...run, question: null, queued: [] }, CONNECTION_LOST)
}

/** Handles the deadlines that have passed. */
export function tick(run: Run, now: number): Step {
  const isDue = (at: number | null) => at !== null && at <= now
  if (run.state === "ended") return withoutEffects(run)
  if (isDue(run.graceDeadline)) {
    if (run.openRpc !== null) return end(run, finishOf("not_opened"))
    if (run.heldResult) return end(withUsage(run, parseStored(run.heldResult)), { reason: "stop" })
    const { run: ended, effects } = end(run, CONNECTION_LOST)
    // The agent may still be running and reconnect, so it is cancelled as well.
    return { run: ended, effects: [cancellation(run.acp ?? ""), ...effects] }
  }
  if (run.state === "paused" && isDue(run.question?.deadline ?? null)) return cancel(run, "deadline", now)
  if (isDue(run.turnDeadline)) return cancel(run, "timeout", now)
  return withoutEffects(run)
}

function sessionOpened(run: Run, result: Record<string, unknown>, rpc: number): Step {
  const sessionId = result["sessionId"]
  const acp = typeof sessionId === "string" ? sessionId : run.acp
  if (acp === null) return end(run, turnFailure("The agent opened a session without a name.", null, -32_603))
  return sendFirstPrompt({ ...run, acp, isLoading: false }, rpc)
}

/** A session that cannot be loaded starts without its history. */
function sessionFailed(run: Run, failure: Failure, now: number, rpc: number): Step {
  if (!run.isLoading) return turnFailed(run, failure)
  const fresh: Run = { ...run, acp: null, isLoading: false, openRpc: rpc, graceDeadline: now + LIMITS.openingMs }
  return { run: fresh, effects: [open(rpc, undefined)] }
}

function turnEnded(run: Run, result: Json, now: number, rpc: number): Step {
  if (result["stopReason"] === "cancelled") return end(withUsage(run, result), finishOf(run.ending))
  if (run.state === "streaming" && (run.steers ?? []).length > 0) {
    return withoutEffects({
      ...run,
      heldResult: JSON.stringify(result),
      graceDeadline: run.graceDeadline ?? now + LIMITS.graceMs,
    })
  }
  const ended = withUsage(run, result)
  return (run.state === "streaming" ? latePrompt(ended, rpc) : undefined) ?? end(ended, { reason: "stop" })
}

/** The run with the usage of a turn of its agent. */
function withUsage(run: Run, result: Json): Run {
  const usage = usageOf(result)
  const cost = usage && usage.cost === undefined && run.costUsd !== null ? { cost: run.costUsd } : {}
  return { ...run, usage: addUsage(run.usage, usage && { ...usage, ...cost }), costUsd: null }
}

type Failure = AcpEvent & { is: "failure" }

function turnFailed(run: Run, { message, status, code, usage }: Failure): Step {
  const ended = { ...run, usage: addUsage(run.usage, usage) }
  // Some agents report a cancellation as an error.
  if (run.state === "cancelling") return end(ended, finishOf(run.ending))
  return end(ended, turnFailure(message, status, code))
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
    steers: [],
    lateTexts: [],
    heldResult: null,
  }
  return { run: ended, effects: [...open, { do: "forget kept" }, { do: "finish", finish }] }
}
