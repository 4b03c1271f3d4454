import { newMeter } from "../chat/meter.ts"
import { type ProviderError } from "../chat/provider-error.ts"
import { isObject, type Json, listOf, withoutNulls } from "../../support/text/json.ts"
import { readItem } from "../sse/read-item.ts"
import type { StreamItem } from "../sse/stream-item.ts"
import { toToolInput } from "../tools/tool-arguments.ts"
import { MessageEvents } from "../messages/native/events.ts"
import type { ResponseReader } from "./reader.ts"

/** A block so far. The JSON of its input is parsed when it is complete. */
type Growing = { block: Json; input: string }

/** Assembles a message from the events of its stream. */
export function toMessage(
  items: readonly StreamItem[],
  reader: ResponseReader,
): { result: Json | undefined; error: ProviderError | null } {
  const meter = newMeter()
  let message: Json = {}
  const blocks = new Map<unknown, Growing>()
  const events = new MessageEvents(() => ({ type: "message", role: "assistant" }))
  for (const item of items) {
    const event = readItem(item, meter, reader)
    // Its content is lost.
    if (event === "malformed") return { result: undefined, error: meter.error }
    if (typeof event === "string") continue
    for (const normal of events.take(event)) {
      if (normal["type"] === "message_start" && isObject(normal["message"])) message = normal["message"]
      else if (normal["type"] === "message_delta") message = endMessage(message, normal)
      else appendToBlocks(blocks, normal)
    }
  }
  // Without a stop reason or the last event the stream was cut: a partial response is not returned.
  if (meter.error || (meter.finishReason === null && !meter.done)) return { result: undefined, error: meter.error }
  return { result: { ...message, content: [...blocks.values()].map(toBlock) }, error: null }
}

function endMessage(message: Json, event: Json): Json {
  const { type: _, delta, usage, ...further } = event
  const usageFields = {
    ...(isObject(message["usage"]) && message["usage"]),
    ...(isObject(usage) && withoutNulls(usage)),
  }
  return { ...message, ...further, ...(isObject(delta) && delta), usage: usageFields }
}

function appendToBlocks(blocks: Map<unknown, Growing>, { type, index, content_block: begun, delta }: Json): void {
  if (type === "content_block_start" && isObject(begun)) blocks.set(index, { block: { ...begun }, input: "" })
  const growing = blocks.get(index)
  if (type !== "content_block_delta" || !growing || !isObject(delta)) return
  const { type: kind, partial_json: piece, citation, ...text } = delta
  if (kind === "input_json_delta") growing.input += typeof piece === "string" ? piece : ""
  else if (kind === "citations_delta") growing.block["citations"] = [...listOf(growing.block["citations"]), citation]
  else for (const [key, value] of Object.entries(text)) growing.block[key] = join(growing.block[key], value)
}

function join(previous: unknown, piece: unknown): unknown {
  return typeof previous === "string" && typeof piece === "string" ? previous + piece : piece
}

function toBlock({ block, input }: Growing): Json {
  return input === "" ? block : { ...block, input: toToolInput(input) }
}
