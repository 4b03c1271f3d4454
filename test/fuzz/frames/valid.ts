import { DOCUMENTS, STREAMS } from "../../runtime/shapes.ts"
import type { Format } from "../differential/conversation.ts"
import { newScript, toResponse } from "../differential/script.ts"
import type { Random } from "../random.ts"

/** Responses of a provider of each API format, valid or with the usual deviations. */

export type Valid = { type: string; body: string }

export function newValid(format: Format, random: Random, isStreamed: boolean): Valid {
  if (format === "chat") return newChat(random, isStreamed)
  const [document, events] = format === "messages" ? [MESSAGE, MESSAGE_EVENTS] : [RESPONSE, RESPONSE_EVENTS]
  if (!isStreamed) return { type: "application/json", body: JSON.stringify(document) }
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return { type: "text/event-stream", body: frames.join("") }
}

function newChat(random: Random, isStreamed: boolean): Valid {
  if (random.chance(0.3)) {
    const { body, type = "text/event-stream" } = random.pick(isStreamed ? STREAMS : DOCUMENTS)
    return { type, body }
  }
  return toResponse({ ...newScript(random, ["weather"]), status: 200 }, isStreamed)
}

const MESSAGE_HEAD = { id: "msg_up", type: "message", role: "assistant", model: "vendor-model" }
const MESSAGE_USAGE = { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 }
const INPUT = { city: "Rome", days: [1, 2] }
const MESSAGE = {
  ...MESSAGE_HEAD,
  content: [
    { type: "thinking", thinking: "Hm.", signature: "sig==" },
    { type: "text", text: "Hello é 🎈" },
    { type: "tool_use", id: "toolu_1", name: "weather", input: INPUT },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: MESSAGE_USAGE,
}

const MESSAGE_EVENTS = [
  {
    type: "message_start",
    message: {
      ...MESSAGE_HEAD,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...MESSAGE_USAGE, output_tokens: 0 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig==" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hello é " } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "🎈" } },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: JSON.stringify(INPUT) } },
  { type: "content_block_stop", index: 2 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: MESSAGE_USAGE },
  { type: "message_stop" },
]

const RESPONSE_HEAD = { id: "resp_up", object: "response", created_at: 1_790_000_000, model: "vendor-model" }
const REASONING = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] }
const TEXT = { type: "output_text", text: "Hello é 🎈", annotations: [] }
const OUTPUT = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [TEXT] }
const CALL = { type: "function_call", id: "fc_1", call_id: "c1", name: "weather", arguments: '{"city":"Rome"}' }
const RESPONSE = {
  ...RESPONSE_HEAD,
  status: "completed",
  output: [REASONING, OUTPUT, CALL],
  usage: {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 25,
  },
}

const BEGUN = { ...RESPONSE_HEAD, status: "in_progress", output: [], usage: null }
const IN_TEXT = { item_id: "msg_1", output_index: 1, content_index: 0 }
const RESPONSE_EVENTS = [
  { type: "response.created", response: BEGUN },
  { type: "response.in_progress", response: BEGUN },
  { type: "response.output_item.added", output_index: 0, item: { ...REASONING, summary: [] } },
  { type: "response.reasoning_summary_text.delta", delta: "Hm.", summary_index: 0, item_id: "rs_1", output_index: 0 },
  { type: "response.output_item.done", output_index: 0, item: REASONING },
  { type: "response.output_item.added", output_index: 1, item: { ...OUTPUT, status: "in_progress", content: [] } },
  { type: "response.content_part.added", ...IN_TEXT, part: { ...TEXT, text: "" } },
  { type: "response.output_text.delta", ...IN_TEXT, delta: "Hello é ", logprobs: [] },
  { type: "response.output_text.delta", ...IN_TEXT, delta: "🎈", logprobs: [] },
  { type: "response.output_text.done", ...IN_TEXT, text: TEXT.text, logprobs: [] },
  { type: "response.content_part.done", ...IN_TEXT, part: TEXT },
  { type: "response.output_item.done", output_index: 1, item: OUTPUT },
  { type: "response.output_item.added", output_index: 2, item: { ...CALL, arguments: "" } },
  { type: "response.function_call_arguments.delta", delta: CALL.arguments, item_id: "fc_1", output_index: 2 },
  { type: "response.function_call_arguments.done", arguments: CALL.arguments, item_id: "fc_1", output_index: 2 },
  { type: "response.output_item.done", output_index: 2, item: CALL },
  { type: "response.completed", response: RESPONSE },
].map((event, number) => ({ ...event, sequence_number: number }))
