import { costsIn, type Costs } from "../usage.ts"
import { toProviderError } from "../chat/provider-error.ts"
import { isArray, isObject, type Json, listOf } from "../../support/text/json.ts"
import { readDetails } from "../responses/reasoning-details.ts"
import { toMessagesError } from "./errors.ts"
import type { MessagesEvent } from "./schemas.ts"
import { toStopReason } from "./stop-reasons.ts"
import { takeCall, onDetail, onText } from "./stream/on-delta.ts"
import { emitNext } from "./stream/emit.ts"
import { emit, type EventState, type MessageFacts, type MessageFailure, newTurn, type Turn } from "./stream/turn.ts"
import { toMessagesUsage } from "./usage.ts"

/**
 * Converts a chat stream to Messages events: each step takes a state and returns the next one with the events
 * between the two. Nothing is emitted after `message_stop` or `error`.
 */
export type { EventState, MessageFacts, MessageFailure } from "./stream/turn.ts"
export type Step = [state: EventState, events: MessagesEvent[]]

/** Data known when the response has ended. Usage and cost replace those of the chunks. */
export type Ending = Costs & { usage?: Json; metadata?: Json }

export function newEventState(facts: MessageFacts): EventState {
  return {
    facts,
    phase: "new",
    drafts: [],
    head: 0,
    isBegun: false,
    index: 0,
    finishReason: null,
    nativeReason: null,
    stopSequence: null,
    stopDetails: null,
    failure: null,
    usage: undefined,
    metadata: {},
  }
}

/** Emits `message_start`. The other steps emit it first if it was not emitted yet. */
export function start(state: EventState): Step {
  return step(state, () => {})
}

/** Takes one `chat.completion.chunk`. Upstream JSON is untrusted: every field is checked. */
export function advance(state: EventState, chunk: Json): Step {
  // Usage of the first chunk goes into `message_start`.
  const withUsage = isObject(chunk["usage"]) ? { ...state, usage: chunk["usage"] } : state
  return step(withUsage, (turn) => {
    take(turn, chunk)
    emitNext(turn, false)
  })
}

/** Ends a response that the provider completed, also if a limit truncated it. */
export function finish(state: EventState, ending: Ending = {}): Step {
  const failure = state.failure ?? (state.finishReason === "error" ? BROKEN : null)
  if (failure) return fail(state, failure)
  return step(state, (turn) => {
    emitNext(turn, true)
    const { finishReason, nativeReason, stopSequence, stopDetails, drafts, metadata } = turn.state
    const hasCalls = drafts.some(({ kind }) => kind === "call")
    emit(turn, "message_delta", {
      delta: {
        stop_reason: toStopReason(finishReason, nativeReason, hasCalls),
        stop_sequence: stopSequence,
        ...(stopDetails && { stop_details: stopDetails }),
      },
      usage: {
        ...toMessagesUsage(ending.usage ?? turn.state.usage),
        ...costsIn(ending),
      },
      ...metadata,
      ...ending.metadata,
    })
    emit(turn, "message_stop")
    turn.state.phase = "over"
  })
}

/** Ends a failed stream. Open blocks stay open: an `error` event may end a Messages stream at any point. */
export function fail(state: EventState, failure: MessageFailure): Step {
  if (state.phase === "over") return [state, []]
  return [{ ...state, phase: "over" }, [toMessagesError(failure.code, failure.message)]]
}

/** Emits a heartbeat: the `ping` event of the Messages API. */
export function keepAlive(state: EventState): Step {
  if (state.phase === "new") return start(state)
  return step(state, (turn) => emit(turn, "ping"))
}

function step(state: EventState, work: (turn: Turn) => void): Step {
  if (state.phase === "over") return [state, []]
  const turn = newTurn(state)
  if (state.phase === "new") {
    turn.state.phase = "under way"
    emit(turn, "message_start", { message: newMessage(turn.state.facts, turn.state.usage) })
  }
  work(turn)
  return [turn.state, turn.events]
}

/** A message that starts; its usage is an estimate if none was reported. */
export function newMessage(facts: MessageFacts, usage?: unknown): Json {
  const { cost: _, ...usageFields } = toMessagesUsage(
    usage ?? { prompt_tokens: facts.promptEstimate ?? 0, completion_tokens: 0 },
  )
  return {
    id: facts.id,
    type: "message",
    role: "assistant",
    model: facts.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageFields,
  }
}

const METADATA = ["service_metadata", "openrouter_metadata"]

function take(turn: Turn, chunk: Json): void {
  const { state } = turn
  for (const key of METADATA) if (isObject(chunk[key])) state.metadata = { ...state.metadata, [key]: chunk[key] }
  state.failure ??= toFailure(chunk["error"])
  const choices = listOf(chunk["choices"])
  // A message has one choice: the first.
  const choice = choices.find((one) => isObject(one) && (one["index"] ?? 0) === 0)
  if (!isObject(choice)) return
  if (isObject(choice["delta"])) onDelta(turn, choice["delta"])
  if (typeof choice["finish_reason"] === "string") onFinish(turn, choice["finish_reason"], choice)
}

function onDelta(turn: Turn, delta: Json): void {
  for (const detail of readDetails(delta)) onDetail(turn, detail)
  onText(turn, toText(delta["content"]))
  // A refusal is emitted as text; the stop reason marks it as a refusal.
  onText(turn, toText(delta["refusal"]))
  for (const call of listOf(delta["tool_calls"])) takeCall(turn, call)
}

function onFinish({ state }: Turn, reason: string, choice: Json): void {
  const { native_finish_reason: native, stop_sequence: sequence, stop_details: details } = choice
  state.finishReason = reason
  if (typeof native === "string") state.nativeReason = native
  if (typeof sequence === "string") state.stopSequence = sequence
  if (isObject(details)) state.stopDetails = details
}

function toText(content: unknown): string {
  if (typeof content === "string") return content
  if (!isArray(content)) return ""
  return content.map((part) => (isObject(part) ? toText(part["text"]) : "")).join("")
}

const BROKEN: MessageFailure = {
  code: 502,
  message: "The provider closed the stream before the response was complete.",
}

function toFailure(error: unknown): MessageFailure | null {
  const result = toProviderError(error)
  return result && { code: result.status ?? BROKEN.code, message: result.message }
}
