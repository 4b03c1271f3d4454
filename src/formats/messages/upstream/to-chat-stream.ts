import { concat } from "../../../support/bytes.ts"
import { isObject, type Json } from "../../../support/json.ts"
import { dataOf, DONE_FRAME, FrameSplitter, toFrame } from "../../sse/frames.ts"
import { advance, newMessagesReading, type ReadingFacts, usageOf } from "./meter.ts"

const PING_FRAME = new TextEncoder().encode(": ping\n\n")

/** `onUsage` hears of the usage whenever more of it is known, so that a cut stream has told what it cost. */
export type ChatStreamFacts = ReadingFacts & { onUsage?: (usage: Json) => void }

/**
 * The bytes of a Messages stream as the bytes of a chat stream. Pieces go out as they come in, one for one. What is not
 * JSON goes on as it is, for the road to refuse; a stream that does not say its end has none here either.
 */
export function toChatStream({ onUsage, ...facts }: ChatStreamFacts = {}): TransformStream<Uint8Array, Uint8Array> {
  const splitter = new FrameSplitter()
  let state = newMessagesReading(facts)

  const take = (frame: Uint8Array): Uint8Array[] => {
    if (state.phase === "over" || state.phase === "failed") return []
    const data = dataOf(frame)
    if (data === undefined || data === "") return [PING_FRAME]
    const event = parse(data)
    if (event === undefined) return [frame]
    const { counts } = state
    const [next, chunks] = advance(state, event)
    state = next
    const usage = counts === state.counts ? null : usageOf(state)
    if (usage) onUsage?.(usage)
    const frames = chunks.map(toFrame)
    if (isOver()) frames.push(DONE_FRAME)
    return frames.length > 0 ? frames : event["type"] === "ping" ? [PING_FRAME] : []
  }
  const isOver = () => state.phase === "over"

  return new TransformStream({
    transform(chunk, controller) {
      const frames = splitter.push(chunk).flatMap(take)
      if (frames.length > 0) controller.enqueue(concat(frames))
    },
    flush(controller) {
      const last = splitter.finish()
      // Half an event is a cut, which the end of the stream tells already.
      const frames = last && parse(dataOf(last) ?? "") ? take(last) : []
      if (frames.length > 0) controller.enqueue(concat(frames))
    },
  })
}

function parse(data: string): Json | undefined {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : undefined
  } catch {
    return undefined
  }
}
