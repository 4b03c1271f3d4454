import { costsIn, type Costs } from "../usage.ts"
import { readCallDelta } from "../chat/call-deltas.ts"
import { toProviderError } from "../chat/provider-error.ts"
import { isArray, isObject, type Json, listOf } from "../../support/text/json.ts"
import { readDetails } from "./reasoning-details.ts"
import { NOT_STARTED, type Progress, type ResponseFacts, type ResponseFailure, toResponse } from "./response.ts"
import type { ResponsesEvent, ResponsesRequest } from "./schemas.ts"
import { toolNames } from "./tool-names.ts"
import { itemAt, type ItemStatus } from "./stream/drafts.ts"
import { closeCall, takeCall, emitCall, isOpenCall } from "./stream/on-calls.ts"
import { onFields, emitFields } from "./stream/on-fields.ts"
import { onDetail, onLateReasoning } from "./stream/on-reasoning.ts"
import { onServerTool } from "./stream/on-tools.ts"
import { onAnnotations, onImage, onRefusal, onText } from "./stream/on-text.ts"
import { closeOpen, emit, type EventState, newTurn, type Turn } from "./stream/turn.ts"

/**
 * Converts a chat stream to Responses events: each step takes a state and returns the next one with the events
 * between the two. The terminal event has the complete response; nothing is emitted after it.
 */
export type { EventState } from "./stream/turn.ts"
export type Step = [state: EventState, events: ResponsesEvent[]]

/** Data known when the response has ended. Usage and cost replace those of the chunks. */
export type Ending = Costs & { completedAt: number; usage?: Json; metadata?: Json }

export function newEventState(request: ResponsesRequest, facts: ResponseFacts): EventState {
  return {
    request,
    facts,
    phase: "new",
    sequence: 0,
    items: [],
    calls: [],
    callFields: new Map(),
    names: toolNames(request.tools),
    open: null,
    late: [],
    finishReason: null,
    failure: null,
    usage: undefined,
    serviceTier: null,
    metadata: {},
  }
}

/** Emits `response.created` and `response.in_progress`. The other steps emit them first if still missing. */
export function start(state: EventState): Step {
  return step(state, () => {})
}

/** Takes one `chat.completion.chunk`. Upstream JSON is untrusted: every field is checked. */
export function advance(state: EventState, chunk: Json): Step {
  return step(state, (turn) => take(turn, chunk))
}

/** Ends a response that the provider completed, also if a limit truncated it. */
export function finish(state: EventState, ending: Ending): Step {
  return step(state, (turn) => {
    const result = isObject(turn.state.usage) ? turn.state.usage : undefined
    const usage = ending.usage ?? result
    turn.state.usage = usage && { ...usage, ...costsIn(ending) }
    turn.state.metadata = { ...turn.state.metadata, ...ending.metadata }
    const failure = turn.state.failure ?? (turn.state.finishReason === "error" ? BROKEN : null)
    if (failure) return endFailed(turn, failure)
    const incompleteReason = toIncompleteReason(turn.state.finishReason)
    const status = incompleteReason === null ? "completed" : "incomplete"
    closeAll(turn, status)
    end(turn, { status, incompleteReason, completedAt: status === "completed" ? ending.completedAt : null })
  })
}

/** Ends a failed stream: closes the open items and emits `response.failed` with the error and the charged usage. */
export function fail(state: EventState, failure: ResponseFailure, usage?: Json): Step {
  return step(state, (turn) => {
    turn.state.usage = usage
    endFailed(turn, failure)
  })
}

/** A heartbeat event, for clients whose idle timer ignores comments. */
export function keepAlive(state: EventState): Step {
  if (state.phase === "new") return start(state)
  return step(state, (turn) => emit(turn, "response.in_progress", { response: responseOf(turn) }))
}

function step(state: EventState, work: (turn: Turn) => void): Step {
  if (state.phase === "over") return [state, []]
  const turn = newTurn(state)
  if (state.phase === "new") {
    turn.state.phase = "under way"
    emit(turn, "response.created", { response: responseOf(turn) })
    emit(turn, "response.in_progress", { response: responseOf(turn) })
  }
  work(turn)
  return [turn.state, turn.events]
}

const METADATA = ["service_metadata", "openrouter_metadata"]

function take(turn: Turn, chunk: Json): void {
  const { state } = turn
  if (isObject(chunk["usage"])) state.usage = chunk["usage"]
  if (typeof chunk["service_tier"] === "string") state.serviceTier = chunk["service_tier"]
  for (const key of METADATA) if (isObject(chunk[key])) state.metadata = { ...state.metadata, [key]: chunk[key] }
  if (isObject(chunk["debug"])) emit(turn, "response.debug", { debug: chunk["debug"] })
  state.failure ??= toFailure(chunk["error"])
  const choices = listOf(chunk["choices"])
  // A response has one choice: the first.
  const choice = choices.find((one) => isObject(one) && (one["index"] ?? 0) === 0)
  if (!isObject(choice)) return
  if (isObject(choice["delta"])) onDelta(turn, choice["delta"], choice["logprobs"])
  if (typeof choice["finish_reason"] === "string") state.finishReason = choice["finish_reason"]
}

function onDelta(turn: Turn, delta: Json, logprobs: unknown): void {
  for (const detail of readDetails(delta)) onDetail(turn, onServerTool(turn, detail))
  onText(turn, toText(delta["content"]), isObject(logprobs) ? listOf(logprobs["content"]) : [])
  onAnnotations(turn, listOf(delta["annotations"]))
  onRefusal(turn, toText(delta["refusal"]))
  for (const image of listOf(delta["images"])) onImage(turn, image)
  for (const call of listOf(delta["tool_calls"])) {
    const before = turn.state.calls
    takeCall(turn, readCallDelta(call))
    onFields(turn, call, before)
  }
}

function toText(content: unknown): string {
  if (typeof content === "string") return content
  if (!isArray(content)) return ""
  return content.map((part) => (isObject(part) ? toText(part["text"]) : "")).join("")
}

const BROKEN: ResponseFailure = {
  code: 502,
  message: "The provider closed the stream before the response was complete.",
  error_type: "provider_unavailable",
}

function toFailure(error: unknown): ResponseFailure | null {
  const result = toProviderError(error)
  if (!result) return null
  const metadata = isObject(error) && isObject(error["metadata"]) ? error["metadata"] : {}
  const type = metadata["error_type"]
  return {
    code: result.status ?? BROKEN.code,
    message: result.message,
    error_type: typeof type === "string" ? type : BROKEN.error_type,
  }
}

function toIncompleteReason(finishReason: string | null): Progress["incompleteReason"] {
  if (finishReason === "length") return "max_output_tokens"
  return finishReason === "content_filter" ? finishReason : null
}

/** Closes open items in output order. If a limit truncated the response, only the last one is incomplete. */
function closeAll(turn: Turn, lastStatus: ItemStatus, otherStatus: ItemStatus = "completed"): void {
  const { state } = turn
  state.calls.forEach((_, at) => emitCall(turn, at))
  const growing = [...state.items.entries()].filter(
    ([at, draft]) => at === state.open || (draft.type === "function_call" && isOpenCall(turn, draft.call)),
  )
  for (const [scope, [, draft]] of growing.entries()) {
    const status = scope === growing.length - 1 ? lastStatus : otherStatus
    if (draft.type === "function_call") closeCall(turn, draft.call, status)
    else closeOpen(turn, status)
  }
  onLateReasoning(turn)
  emitFields(turn)
}

function endFailed(turn: Turn, failure: ResponseFailure): void {
  closeAll(turn, "incomplete", "incomplete")
  end(turn, { status: "failed", failure })
}

function end(turn: Turn, outcome: Partial<Progress> & Pick<Progress, "status">): void {
  const { state } = turn
  const { usage, serviceTier, metadata } = state
  const output = state.items.map((_, at) => itemAt(state, at))
  const progress = { ...NOT_STARTED, output, usage, serviceTier, metadata, ...outcome }
  emit(turn, `response.${outcome.status}`, { response: toResponse(state.request, state.facts, progress) })
  state.phase = "over"
}

/** The response before its end. Without items, since clients assemble them from the events. */
function responseOf({ state }: Turn): Json {
  return toResponse(state.request, state.facts, { ...NOT_STARTED, serviceTier: state.serviceTier })
}
