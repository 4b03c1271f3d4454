import { isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import { normalizeMessage } from "../messages/native/message.ts"
import { toEventFrame } from "../sse/frames.ts"
import type { StreamHead } from "../sse/stream-item.ts"

type Event = Json & { type: string }

/** Converts a Messages document to the events of the equivalent stream. */
export function toEvents(result: Json): StreamHead {
  const message = normalizeMessage(result)
  const { content, stop_reason: reason, stop_sequence: sequence, stop_details: details, usage, ...head } = message
  const blocks = objectsOf(content)
  const usageFields = isObject(usage) ? usage : {}
  const begun = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usageFields, output_tokens: 0 },
  }
  const ended = {
    stop_reason: reason ?? null,
    stop_sequence: sequence ?? null,
    ...(details != null && { stop_details: details }),
  }
  const events: Event[] = [
    { type: "message_start", message: begun },
    ...blocks.flatMap(emitBlock),
    { type: "message_delta", delta: ended, usage: usageFields },
    { type: "message_stop" },
  ]
  const frames = events.map(toEventFrame)
  return { ok: true, items: frames, rest: new Uint8Array(0), body: null }
}

function emitBlock(block: Json, index: number): Event[] {
  const { start, deltas } = splitBlock(block)
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]
}

/** Splits a block into its start and its deltas. Blocks of other types are complete at the start. */
function splitBlock(block: Json): { start: Json; deltas: Json[] } {
  const { type, text, thinking, signature, citations, input } = block
  if (type === "text" && typeof text === "string") {
    const cited = listOf(citations)
    const start = { ...block, text: "", ...(cited.length > 0 && { citations: [] }) }
    const deltas = text === "" ? [] : [{ type: "text_delta", text }]
    return { start, deltas: [...deltas, ...cited.map((citation) => ({ type: "citations_delta", citation }))] }
  }
  if (type === "thinking" && typeof thinking === "string") {
    const deltas = thinking === "" ? [] : [{ type: "thinking_delta", thinking }]
    const isSigned = typeof signature === "string" && signature !== ""
    const start = { ...block, thinking: "", signature: "" }
    return { start, deltas: [...deltas, ...(isSigned ? [{ type: "signature_delta", signature }] : [])] }
  }
  if (typeof type === "string" && type.endsWith("tool_use") && isObject(input)) {
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) }
    return { start: { ...block, input: {} }, deltas: [delta] }
  }
  return { start: block, deltas: [] }
}
