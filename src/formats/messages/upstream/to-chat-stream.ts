import type { Json } from "../../../support/text/json.ts"
import { dataOf, DONE_FRAME, isErrorEvent, parseEvent, strayText } from "../../sse/frames.ts"
import type { FrameTranslator, StreamItem } from "../../sse/stream-item.ts"
import { advance, newMessagesReading, type ReadingFacts, usageOf } from "./meter.ts"

const PING_FRAME = new TextEncoder().encode(": ping\n\n")

/** `onUsage` is called with each update of the usage, so that a stream that ends early is charged by it. */
export type ChatStreamFacts = ReadingFacts & { onUsage?: (usage: Json) => void }

/**
 * Translates the frames of a Messages stream to chat events, delta by delta. A frame that is not JSON is returned
 * unchanged. A stream without its final event ends without `[DONE]`.
 */
export function chatTranslator({ onUsage, ...facts }: ChatStreamFacts = {}): FrameTranslator {
  let state = newMessagesReading(facts)
  const hasEnded = () => state.phase === "over"
  return (frame) => {
    if (hasEnded() || state.phase === "failed") return []
    const data = dataOf(frame)
    if (data === undefined || data === "")
      return [data === undefined && strayText(frame, data) !== undefined ? frame : PING_FRAME]
    const reported = parseEvent(frame, data)
    if (!reported) return [frame]
    const isNamedError = typeof reported["type"] !== "string" && isErrorEvent(frame)
    const event = isNamedError ? { type: "error", error: reported } : reported
    const { counts } = state
    const [next, chunks] = advance(state, event)
    state = next
    const usage = counts === state.counts ? null : usageOf(state)
    if (usage) onUsage?.(usage)
    const items: StreamItem[] = hasEnded() ? [...chunks, DONE_FRAME] : chunks
    return items.length > 0 ? items : event["type"] === "ping" ? [PING_FRAME] : []
  }
}
