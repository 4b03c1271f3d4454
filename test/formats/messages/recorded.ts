/** Streams as the API sends them, with the chat chunks that they are translated to. */

export type Json = Record<string, unknown>

export const FACTS = { created: 1_700_000_000 }
const HEAD = {
  id: "msg_01A",
  object: "chat.completion.chunk",
  created: FACTS.created,
  model: "claude-sonnet-4-5-20250929",
}

export const start = (usage: Json = { input_tokens: 25, output_tokens: 1 }): Json => ({
  type: "message_start",
  message: {
    id: "msg_01A",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
})
export const begin = (index: number, block: Json): Json => ({
  type: "content_block_start",
  index,
  content_block: block,
})
export const delta = (index: number, fragment: Json): Json => ({ type: "content_block_delta", index, delta: fragment })
export const stop = (index: number): Json => ({ type: "content_block_stop", index })
export const text = (index: number, value: string): Json => delta(index, { type: "text_delta", text: value })
export const json = (index: number, piece: string): Json =>
  delta(index, { type: "input_json_delta", partial_json: piece })
export const end = (reason: string, usage: Json = { output_tokens: 15 }, further: Json = {}): Json[] => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null, ...further }, usage },
  { type: "message_stop" },
]
export const PING: Json = { type: "ping" }
const beginText = (index: number) => begin(index, { type: "text", text: "" })

export const deltaChunk = (fragment: Json, finishReason: string | null = null, further: Json = {}): Json => ({
  ...HEAD,
  choices: [{ index: 0, delta: fragment, finish_reason: finishReason, ...further }],
})
export const ended = (reason: string, native: string, further: Json = {}): Json =>
  deltaChunk({}, reason, { native_finish_reason: native, ...further })
export const counted = (prompt: number, completion: number, details: Json = {}, further: Json = {}): Json => ({
  ...HEAD,
  choices: [],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...details },
    ...further,
  },
})
const ROLE = deltaChunk({ role: "assistant", content: "" })
const format = "anthropic-claude-v1"
const detail = (index: number, fields: Json) => ({ type: "reasoning.text", ...fields, format, index })
const call = (index: number, id: string, name: string) =>
  deltaChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })
const args = (index: number, piece: string) => deltaChunk({ tool_calls: [{ index, function: { arguments: piece } }] })

type Recorded = { events: Json[]; chunks: Json[] }

const CITED = {
  type: "web_search_result_location",
  cited_text: "It is 9 million.",
  url: "https://example.org/city",
  title: "The city",
  encrypted_index: "EpQB",
}
const FOUND = [
  {
    type: "web_search_result",
    url: "https://example.org/city",
    title: "The city",
    encrypted_content: "EqgB",
    page_age: null,
  },
]

export const RECORDED: Record<string, Recorded> = {
  "a text": {
    events: [start(), beginText(0), PING, text(0, "Hello"), text(0, "!"), stop(0), ...end("end_turn")],
    chunks: [
      ROLE,
      deltaChunk({ content: "Hello" }),
      deltaChunk({ content: "!" }),
      ended("stop", "end_turn"),
      counted(25, 15),
    ],
  },
  "thinking with its signature": {
    events: [
      start(),
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Let me " }),
      delta(0, { type: "thinking_delta", thinking: "see." }),
      delta(0, { type: "signature_delta", signature: "EqQBCgIYAhIM==" }),
      stop(0),
      beginText(1),
      text(1, "27"),
      stop(1),
      ...end("end_turn", { output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } }),
    ],
    chunks: [
      ROLE,
      deltaChunk({ reasoning: "Let me ", reasoning_details: [detail(0, { text: "Let me " })] }),
      deltaChunk({ reasoning: "see.", reasoning_details: [detail(0, { text: "see." })] }),
      deltaChunk({ reasoning_details: [detail(0, { signature: "EqQBCgIYAhIM==" })] }),
      deltaChunk({ content: "27" }),
      ended("stop", "end_turn"),
      counted(25, 40, {}, { completion_tokens_details: { reasoning_tokens: 30 } }),
    ],
  },
  "thinking that is redacted, between two that are not": {
    events: [
      start(),
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "One." }),
      delta(0, { type: "signature_delta", signature: "s1" }),
      stop(0),
      begin(1, { type: "redacted_thinking", data: "EmwKAhgB" }),
      stop(1),
      begin(2, { type: "thinking", thinking: "", signature: "" }),
      delta(2, { type: "signature_delta", signature: "s2" }),
      stop(2),
      ...end("end_turn"),
    ],
    chunks: [
      ROLE,
      deltaChunk({ reasoning: "One.", reasoning_details: [detail(0, { text: "One." })] }),
      deltaChunk({ reasoning_details: [detail(0, { signature: "s1" })] }),
      deltaChunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "EmwKAhgB", format, index: 1 }] }),
      deltaChunk({ reasoning_details: [detail(2, { signature: "s2" })] }),
      ended("stop", "end_turn"),
      counted(25, 15),
    ],
  },
  "a tool whose JSON comes in pieces": {
    events: [
      start(),
      beginText(0),
      text(0, "I look."),
      stop(0),
      begin(1, { type: "tool_use", id: "toolu_01", name: "get_weather", input: {} }),
      json(1, ""),
      json(1, '{"city": "Pa'),
      json(1, 'ris"}'),
      stop(1),
      ...end("tool_use"),
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "I look." }),
      call(0, "toolu_01", "get_weather"),
      args(0, '{"city": "Pa'),
      args(0, 'ris"}'),
      ended("tool_calls", "tool_use"),
      counted(25, 15),
    ],
  },
  "two tools, counted from 0 whatever their blocks are": {
    events: [
      start(),
      beginText(0),
      text(0, "Both."),
      stop(0),
      begin(1, { type: "tool_use", id: "toolu_01", name: "f", input: {} }),
      json(1, '{"x":1}'),
      stop(1),
      begin(2, { type: "tool_use", id: "toolu_02", name: "g", input: {} }),
      json(2, '{"y":2}'),
      stop(2),
      ...end("tool_use"),
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "Both." }),
      call(0, "toolu_01", "f"),
      args(0, '{"x":1}'),
      call(1, "toolu_02", "g"),
      args(1, '{"y":2}'),
      ended("tool_calls", "tool_use"),
      counted(25, 15),
    ],
  },
  "a tool without arguments": {
    events: [
      start(),
      begin(0, { type: "tool_use", id: "toolu_01", name: "now", input: {} }),
      json(0, ""),
      stop(0),
      ...end("tool_use"),
    ],
    chunks: [ROLE, call(0, "toolu_01", "now"), args(0, "{}"), ended("tool_calls", "tool_use"), counted(25, 15)],
  },
  "a tool whose input comes whole with its start": {
    events: [
      start(),
      begin(0, { type: "tool_use", id: "toolu_01", name: "f", input: { x: 1 } }),
      stop(0),
      ...end("tool_use"),
    ],
    chunks: [ROLE, call(0, "toolu_01", "f"), args(0, '{"x":1}'), ended("tool_calls", "tool_use"), counted(25, 15)],
  },
  "a prompt of which a part was cached and a part is now": {
    events: [
      start({
        input_tokens: 4,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 1_000,
        cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
        output_tokens: 1,
        service_tier: "standard",
      }),
      beginText(0),
      text(0, "Yes."),
      stop(0),
      ...end("end_turn", {
        input_tokens: 4,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 1_000,
        output_tokens: 5,
      }),
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "Yes." }),
      ended("stop", "end_turn"),
      {
        ...counted(1_104, 5, { cached_tokens: 1_000, cache_write_tokens: 100, cache_write_1h_tokens: 40 }),
        service_tier: "default",
      },
    ],
  },
  "a refusal": {
    events: [
      start(),
      beginText(0),
      text(0, "I "),
      stop(0),
      ...end(
        "refusal",
        { output_tokens: 2 },
        { stop_details: { type: "refusal", category: "bio", explanation: null } },
      ),
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "I " }),
      ended("content_filter", "refusal", { stop_details: { type: "refusal", category: "bio", explanation: null } }),
      counted(25, 2),
    ],
  },
  "an answer that a limit cut in the middle of a call": {
    events: [
      start(),
      begin(0, { type: "tool_use", id: "toolu_01", name: "f", input: {} }),
      json(0, '{"x":'),
      ...end("max_tokens"),
    ],
    chunks: [ROLE, call(0, "toolu_01", "f"), args(0, '{"x":'), ended("length", "max_tokens"), counted(25, 15)],
  },
  "a stop sequence": {
    events: [
      start(),
      beginText(0),
      text(0, "1 2"),
      stop(0),
      ...end("stop_sequence", undefined, { stop_sequence: "3" }),
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "1 2" }),
      ended("stop", "stop_sequence", { stop_sequence: "3" }),
      counted(25, 15),
    ],
  },
  "an error in the middle": {
    events: [
      start(),
      beginText(0),
      text(0, "Half"),
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ],
    chunks: [
      ROLE,
      deltaChunk({ content: "Half" }),
      { ...HEAD, choices: [], error: { message: "Overloaded", code: 529, type: "overloaded_error" } },
    ],
  },
  "pings, and events of a later version": {
    events: [
      PING,
      start(),
      PING,
      PING,
      { type: "message_note", note: "new" },
      beginText(0),
      delta(0, { type: "sparkle_delta", sparkle: "*" }),
      PING,
      text(0, "Hi"),
      stop(0),
      begin(1, { type: "hologram", data: "?" }),
      stop(1),
      PING,
      ...end("end_turn"),
    ],
    chunks: [ROLE, deltaChunk({ content: "Hi" }), ended("stop", "end_turn"), counted(25, 15)],
  },
  "a search of the web, and words that cite it": {
    events: [
      start(),
      begin(0, { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: {} }),
      json(0, '{"query": "ci'),
      json(0, 'ty"}'),
      stop(0),
      begin(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: FOUND }),
      stop(1),
      beginText(2),
      text(2, "So: "),
      stop(2),
      begin(3, { type: "text", text: "", citations: [] }),
      delta(3, { type: "citations_delta", citation: CITED }),
      delta(3, { type: "citations_delta", citation: { type: "page_location", document_title: "A book" } }),
      text(3, "9 million"),
      stop(3),
      ...end("end_turn", { input_tokens: 900, output_tokens: 15, server_tool_use: { web_search_requests: 1 } }),
    ],
    chunks: [
      ROLE,
      deltaChunk({
        reasoning_details: [
          {
            type: "reasoning.server_tool_call",
            tool_name: "web_search",
            tool_call_id: "srvtoolu_01",
            arguments: '{"query":"city"}',
            result: JSON.stringify(FOUND),
            format,
            index: 0,
          },
        ],
      }),
      deltaChunk({ content: "So: " }),
      deltaChunk({ content: "9 million" }),
      deltaChunk({
        annotations: [
          {
            type: "url_citation",
            url_citation: {
              url: "https://example.org/city",
              title: "The city",
              content: "It is 9 million.",
              start_index: 4,
              end_index: 13,
            },
          },
        ],
      }),
      ended("stop", "end_turn"),
      counted(900, 15, {}, { server_tool_use_details: { web_search_requests: 1 } }),
    ],
  },
  "a turn that pauses before its tool has answered": {
    events: [
      start(),
      begin(0, { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "x" } }),
      stop(0),
      ...end("pause_turn"),
    ],
    chunks: [
      ROLE,
      deltaChunk({
        reasoning_details: [
          {
            type: "reasoning.server_tool_call",
            tool_name: "web_search",
            tool_call_id: "srvtoolu_01",
            arguments: '{"query":"x"}',
            result: "",
            format,
            index: 0,
          },
        ],
      }),
      ended("stop", "pause_turn"),
      counted(25, 15),
    ],
  },
}

const encoder = new TextEncoder()

/** The bytes of a stream as the API writes them. */
export function bytesOf(events: readonly Json[]): Uint8Array {
  return encoder.encode(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  )
}
