import { isInteger, isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import { errorOfUnknownShape } from "../../chat/provider-error.ts"
import { toErrorStatus } from "../errors.ts"
import { toFinishReason } from "../stop-reasons.ts"
import { addCounts, NO_COUNTS, toChatUsage } from "../usage.ts"
import { appendBlockDelta, startBlock, stopAll, stopBlock, emitUnanswered } from "./blocks.ts"
import { type MessagesReading, type ReadingFacts, pushDelta, pushChunk, type Turn } from "./turn.ts"

/**
 * Converts the events of a Messages stream to chat chunks: each step takes a state and an event, and returns
 * the next state with the chunks between the two. Upstream JSON is untrusted: every field is checked.
 */
export type { MessagesReading, ReadingFacts } from "./turn.ts"

export function newMessagesReading(facts: ReadingFacts = {}): MessagesReading {
  return {
    facts,
    phase: "new",
    id: null,
    model: null,
    blocks: new Map(),
    serverCalls: [],
    calls: 0,
    details: 0,
    length: 0,
    counts: NO_COUNTS,
    isCountNew: false,
    countedLength: 0,
    serviceTier: null,
  }
}

/** Takes one event. Emits nothing after the end or the failure of the message. */
export function advance(state: MessagesReading, event: Json): [state: MessagesReading, chunks: Json[]] {
  if (state.phase === "over" || state.phase === "failed") return [state, []]
  const turn: Turn = { state: { ...state }, chunks: [] }
  take(turn, event)
  return [turn.state, turn.chunks]
}

/** The usage reported so far, in chat format. Prompt tokens are known from the start, also for a stream that is cut. */
export function usageOf({ counts }: MessagesReading): Json | null {
  return toChatUsage(counts)
}

function take(turn: Turn, event: Json): void {
  const index = isInteger(event["index"]) ? event["index"] : 0
  const inside = (key: string) => (isObject(event[key]) ? event[key] : {})
  switch (event["type"]) {
    case "message_start":
      return onStart(turn, inside("message"))
    case "content_block_start":
      return startBlock(turn, index, inside("content_block"))
    case "content_block_delta":
      return appendBlockDelta(turn, index, inside("delta"))
    case "content_block_stop":
      return stopBlock(turn, index)
    case "message_delta":
      return onEnding(turn, inside("delta"), event["usage"])
    case "message_stop":
      endBlocks(turn)
      emitUsage(turn)
      turn.state.phase = "over"
      return
    default:
      if (event["type"] === "error" || (event["type"] === undefined && isObject(event["error"])))
        return fail(turn, toChatError(event["error"]))
      if (event["type"] !== undefined) return
      const { message, status, code } = errorOfUnknownShape(event) ?? {}
      if (message !== undefined) fail(turn, { message, code: status ?? code })
  }
}

function onStart(turn: Turn, message: Json): void {
  const { state } = turn
  state.phase = "under way"
  if (typeof message["id"] === "string") state.id = message["id"]
  if (typeof message["model"] === "string") state.model = message["model"]
  pushDelta(turn, { role: "assistant", content: "" })
  const blocks = objectsOf(message["content"])
  for (const block of blocks) {
    startBlock(turn, 0, block)
    stopBlock(turn, 0)
  }
  onUsage(turn, message["usage"])
}

function onEnding(turn: Turn, delta: Json, usage: unknown): void {
  const { stop_reason: stopReason, stop_sequence: sequence, stop_details: details } = delta
  onUsage(turn, usage)
  if (typeof stopReason === "string") {
    endBlocks(turn)
    pushDelta(turn, {}, toFinishReason(stopReason), {
      native_finish_reason: stopReason,
      ...(typeof sequence === "string" && { stop_sequence: sequence }),
      ...(isObject(details) && { stop_details: details }),
    })
  }
  emitUsage(turn)
}

function endBlocks(turn: Turn): void {
  stopAll(turn)
  emitUnanswered(turn)
}

function onUsage({ state }: Turn, usage: unknown): void {
  if (!isObject(usage)) return
  state.counts = addCounts(state.counts, usage)
  state.isCountNew = true
  if (usage["output_tokens"] != null) state.countedLength = state.length
  const { service_tier: tier } = usage
  if (typeof tier === "string") state.serviceTier = tier === "standard" ? "default" : tier
}

function emitUsage(turn: Turn): void {
  const { state } = turn
  const usage = toChatUsage(state.counts)
  // A count from before the text does not include it.
  if (!usage || !state.isCountNew || state.length > state.countedLength) return
  state.isCountNew = false
  pushChunk(turn, { choices: [], usage, ...(state.serviceTier !== null && { service_tier: state.serviceTier }) })
}

function fail(turn: Turn, error: Json): void {
  pushChunk(turn, { choices: [], error })
  turn.state.phase = "failed"
}

/** Converts a Messages error to a chat error, with the status of its type. */
export function toChatError(error: unknown): Json {
  const { type, message } = isObject(error) ? error : {}
  const name = typeof type === "string" ? type : "api_error"
  const text = typeof message === "string" ? message : "The provider reported an error."
  return { message: text, code: toErrorStatus(name), type: name }
}
