import { type Json, type Outcome, type Shape } from "./shapes.ts"

/** Upstream responses in the Messages and Responses formats as providers and their compatible servers send them. */

const USAGE = { input_tokens: 10, output_tokens: 5 }
const HELLO = { text: "Hello world", completion: 5 }
const WEATHER = { tool: { name: "weather", args: '{"city":"Rome"}' }, completion: 5 }

const named = (event: Json) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`
const bare = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
const stream = (...events: (Json | string)[]) =>
  events.map((event) => (typeof event === "string" ? event : named(event))).join("")

const MESSAGE = { id: "msg_up", type: "message", role: "assistant", model: "vendor-model" }
const begin = (more: Json = {}) => ({
  type: "message_start",
  message: {
    ...MESSAGE,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...USAGE, output_tokens: 1 },
    ...more,
  },
})
const startBlock = (block: Json, index = 0) => ({ type: "content_block_start", index, content_block: block })
const startText = (index = 0) => startBlock({ type: "text", text: "" }, index)
const delta = (fields: Json, index = 0) => ({ type: "content_block_delta", index, delta: fields })
const text = (piece: string, index = 0) => delta({ type: "text_delta", text: piece }, index)
const thought = (piece: string, index = 0) => delta({ type: "thinking_delta", thinking: piece }, index)
const input = (piece: string, index = 0) => delta({ type: "input_json_delta", partial_json: piece }, index)
const stopBlock = (index = 0) => ({ type: "content_block_stop", index })
const end = (reason: string | null = "end_turn", usage: Json | undefined = { output_tokens: 5 }) => ({
  type: "message_delta",
  delta: { stop_reason: reason, stop_sequence: null },
  ...(usage && { usage }),
})
const STOP = { type: "message_stop" }
const helloAt = (index: number) => [startText(index), text("Hello", index), text(" world", index), stopBlock(index)]
const hello = helloAt(0)
const startTool = (more: Json = {}, index = 0) =>
  startBlock({ type: "tool_use", id: "toolu_1", name: "weather", input: {}, ...more }, index)

const messages = (name: string, outcome: Outcome, ...events: (Json | string)[]): Shape => ({
  name: `Messages: ${name}`,
  wire: "messages",
  ...outcome,
  body: stream(...events),
})

/** Streams of the Messages format that every client reads completely. */
export const MESSAGES_STREAMS: Shape[] = [
  messages("as the contract has it", HELLO, begin(), { type: "ping" }, ...hello, end(), STOP),
  messages("without event names", HELLO, ...[begin(), ...hello, end(), STOP].map(bare)),
  messages(
    "types only in event names",
    HELLO,
    ...[begin(), ...hello, end(), STOP].map(
      ({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`,
    ),
  ),
  messages("pings without data", HELLO, begin(), "event: ping\n\n", ...hello, "event: ping\ndata:\n\n", end(), STOP),
  messages(
    "no usage in message_delta",
    { text: "Hello world" },
    begin(),
    ...hello,
    { ...end(), usage: undefined },
    STOP,
  ),
  messages("usage: null in message_delta", { text: "Hello world" }, begin(), ...hello, { ...end(), usage: null }, STOP),
  messages(
    "no usage at all",
    { text: "Hello world", completion: 3 },
    begin({ usage: undefined }),
    ...hello,
    { ...end(), usage: undefined },
    STOP,
  ),
  messages(
    "the complete usage only in message_delta",
    HELLO,
    begin({ usage: { input_tokens: 0, output_tokens: 0 } }),
    ...hello,
    end("end_turn", USAGE),
    STOP,
  ),
  messages("no content_block_start", HELLO, begin(), text("Hello"), text(" world"), stopBlock(), end(), STOP),
  messages("no content_block_stop", HELLO, begin(), startText(), text("Hello"), text(" world"), end(), STOP),
  messages("neither start nor stop of the block", HELLO, begin(), text("Hello"), text(" world"), end(), STOP),
  messages(
    "the text in content_block_start",
    HELLO,
    begin(),
    startBlock({ type: "text", text: "Hello world" }),
    stopBlock(),
    end(),
    STOP,
  ),
  messages(
    "deltas without an index",
    HELLO,
    begin(),
    { ...startText(), index: undefined },
    { ...text("Hello"), index: undefined },
    { ...text(" world"), index: undefined },
    { ...stopBlock(), index: undefined },
    end(),
    STOP,
  ),
  messages(
    "a tool call",
    WEATHER,
    begin(),
    startTool(),
    input('{"city":'),
    input('"Rome"}'),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call whose input is in content_block_start",
    WEATHER,
    begin(),
    startTool({ input: { city: "Rome" } }),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "input in content_block_start and again in deltas",
    WEATHER,
    begin(),
    startTool({ input: { city: "Rome" } }),
    input('{"city":"Rome"}'),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call with input as a string",
    WEATHER,
    begin(),
    startTool({ input: '{"city":"Rome"}' }),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call with input: empty string",
    WEATHER,
    begin(),
    startTool({ input: "" }),
    input('{"city":"Rome"}'),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call without id",
    WEATHER,
    begin(),
    startTool({ id: undefined }),
    input('{"city":"Rome"}'),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call that ends with end_turn",
    WEATHER,
    begin(),
    startTool(),
    input('{"city":"Rome"}'),
    stopBlock(),
    end("end_turn"),
    STOP,
  ),
  messages(
    "a tool call without input",
    { tool: { name: "weather", args: "{}" }, completion: 5 },
    begin(),
    startTool({ input: undefined }),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "a tool call with an empty piece",
    { tool: { name: "weather", args: "{}" }, completion: 5 },
    begin(),
    startTool(),
    input(""),
    stopBlock(),
    end("tool_use"),
    STOP,
  ),
  messages(
    "thinking without a signature",
    { ...HELLO, reasoning: "Hm." },
    begin(),
    startBlock({ type: "thinking", thinking: "" }),
    thought("Hm"),
    thought("."),
    stopBlock(),
    ...helloAt(1),
    end(),
    STOP,
  ),
  messages(
    "thinking without a start",
    { ...HELLO, reasoning: "Hm." },
    begin(),
    thought("Hm."),
    ...helloAt(1),
    end(),
    STOP,
  ),
  messages(
    "blocks that share an index",
    { ...HELLO, reasoning: "Hm." },
    begin(),
    startBlock({ type: "thinking", thinking: "" }),
    thought("Hm."),
    stopBlock(),
    ...hello,
    end(),
    STOP,
  ),
  messages(
    "no content_block_stop between thinking and text",
    { ...HELLO, reasoning: "Hm." },
    begin(),
    startBlock({ type: "thinking", thinking: "" }),
    thought("Hm."),
    startText(1),
    text("Hello world", 1),
    end(),
    STOP,
  ),
  messages(
    "a message_start with the first block",
    HELLO,
    begin({ content: [{ type: "text", text: "Hello world" }] }),
    end(),
    STOP,
  ),
  messages("finish reasons of the chat format", HELLO, begin(), ...hello, end("stop"), STOP),
  messages("stop_reason: null at the end", HELLO, begin(), ...hello, end(null), STOP),
  messages("no message_delta", { text: "Hello world" }, begin(), ...hello, STOP),
  messages("no message_stop", HELLO, begin(), ...hello, end()),
  messages("no message_stop, and a lost connection", HELLO, begin(), ...hello, end()),
  messages("two message_delta", HELLO, begin(), ...hello, { ...end(), usage: undefined }, end("end_turn"), STOP),
  messages(
    "stop_reason and usage in two message_delta",
    HELLO,
    begin(),
    ...hello,
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_delta", delta: {}, usage: { output_tokens: 5 } },
    STOP,
  ),
  messages("two message_start", HELLO, begin(), begin(), ...hello, end(), STOP),
  messages("no message_start", HELLO, ...hello, end("end_turn", USAGE), STOP),
  messages("[DONE] at the end", HELLO, begin(), ...hello, end(), STOP, "data: [DONE]\n\n"),
  messages("[DONE] in place of message_stop", HELLO, begin(), ...hello, end(), "data: [DONE]\n\n"),
  messages("events after message_stop", HELLO, begin(), ...hello, end(), STOP, text("late"), STOP),
  messages("a stop reason of the provider's own", HELLO, begin(), ...hello, end("eos_token"), STOP),
  messages(
    "unknown events",
    HELLO,
    begin(),
    { type: "content_block_progress", index: 0 },
    ...hello,
    { type: "usage_update" },
    end(),
    STOP,
  ),
  messages(
    "a text block of null",
    HELLO,
    begin(),
    startBlock({ type: "text", text: null }),
    text("Hello"),
    text(" world"),
    stopBlock(),
    end(),
    STOP,
  ),
  messages(
    "input_tokens: null",
    { text: "Hello world" },
    begin({ usage: { input_tokens: null, output_tokens: null } }),
    ...hello,
    end(),
    STOP,
  ),
  messages(
    "the document in place of the stream",
    HELLO,
    JSON.stringify({
      ...MESSAGE,
      content: [{ type: "text", text: "Hello world" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: USAGE,
    }),
  ),
  messages("an error event", { fails: true }, begin(), startText(), text("Hello"), {
    type: "error",
    error: { type: "overloaded_error", message: "Overloaded" },
  }),
  messages(
    "an error event without type",
    { fails: true },
    begin(),
    startText(),
    text("Hello"),
    bare({ error: { message: "Overloaded" } }),
  ),
  messages(
    "an error event with a text",
    { fails: true },
    begin(),
    startText(),
    text("Hello"),
    "event: error\ndata: overloaded\n\n",
  ),
  messages(
    "an error event as the first",
    { fails: true },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ),
  messages("an error after the stop reason", { fails: true }, begin(), ...hello, end(), {
    type: "error",
    error: { type: "api_error", message: "late" },
  }),
  messages("an end in the middle", { fails: true }, begin(), startText(), text("Hello")),
  messages("an end after the block", { fails: true }, begin(), ...hello),
]

const messagesJson = (name: string, outcome: Outcome, more: Json): Shape => ({
  name: `Messages: ${name}`,
  wire: "messages",
  type: "application/json",
  ...outcome,
  body: JSON.stringify({
    ...MESSAGE,
    content: [{ type: "text", text: "Hello world" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: USAGE,
    ...more,
  }),
})
const TOOL = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } }

export const MESSAGES_DOCUMENTS: Shape[] = [
  messagesJson("as the contract has it", HELLO, {}),
  messagesJson("no usage", { text: "Hello world", completion: 3 }, { usage: undefined }),
  messagesJson("usage: null", { text: "Hello world", completion: 3 }, { usage: null }),
  messagesJson("stop_reason: null", HELLO, { stop_reason: null }),
  messagesJson("no stop_reason", HELLO, { stop_reason: undefined, stop_sequence: undefined }),
  messagesJson("no id, model and role", HELLO, { id: undefined, model: undefined, role: undefined }),
  messagesJson("content as a string", HELLO, { content: "Hello world" }),
  messagesJson("no type", HELLO, { type: undefined }),
  messagesJson(
    "a thinking block without a signature",
    { ...HELLO, reasoning: "Hm." },
    {
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Hello world" },
      ],
    },
  ),
  messagesJson("a tool call", WEATHER, { content: [TOOL], stop_reason: "tool_use" }),
  messagesJson("a tool call that ends with end_turn", WEATHER, { content: [TOOL] }),
  messagesJson("a tool call with input as a string", WEATHER, {
    content: [{ ...TOOL, input: '{"city":"Rome"}' }],
    stop_reason: "tool_use",
  }),
  messagesJson("a tool call without id", WEATHER, { content: [{ ...TOOL, id: undefined }], stop_reason: "tool_use" }),
  messagesJson(
    "a tool call without input",
    { tool: { name: "weather", args: "{}" }, completion: 5 },
    { content: [{ ...TOOL, input: undefined }], stop_reason: "tool_use" },
  ),
  {
    name: "Messages: a stream instead of a document",
    wire: "messages",
    ...HELLO,
    body: stream(begin(), ...hello, end(), STOP),
  },
  {
    name: "Messages: a stream without content_block_start instead of a document",
    wire: "messages",
    ...HELLO,
    body: stream(begin(), text("Hello"), text(" world"), end(), STOP),
  },
  messagesJson(
    "an error in a 200",
    { fails: true },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, content: undefined },
  ),
]

const RESPONSE = { id: "resp_up", object: "response", created_at: 1_790_000_000, model: "vendor-model" }
const PART = { type: "output_text", text: "Hello world", annotations: [] }
const ITEM = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [PART] }
const CALL = {
  type: "function_call",
  id: "fc_1",
  call_id: "c1",
  name: "weather",
  arguments: '{"city":"Rome"}',
  status: "completed",
}
const RESULT_USAGE = { ...USAGE, total_tokens: 15 }
const at = { item_id: "msg_1", output_index: 0, content_index: 0 }
const begun = { ...RESPONSE, status: "in_progress", output: [], usage: null }
const CREATED = { type: "response.created", response: begun }
const IN_PROGRESS = { type: "response.in_progress", response: begun }
const ADDED = {
  type: "response.output_item.added",
  output_index: 0,
  item: { ...ITEM, status: "in_progress", content: [] },
}
const PART_ADDED = { type: "response.content_part.added", ...at, part: { ...PART, text: "" } }
const say = (piece: string) => ({ type: "response.output_text.delta", ...at, delta: piece, logprobs: [] })
const SAID = { type: "response.output_text.done", ...at, text: "Hello world", logprobs: [] }
const PART_DONE = { type: "response.content_part.done", ...at, part: PART }
const ITEM_DONE = { type: "response.output_item.done", output_index: 0, item: ITEM }
const complete = (more: Json = {}) => ({
  type: "response.completed",
  response: { ...RESPONSE, status: "completed", output: [ITEM], usage: RESULT_USAGE, ...more },
})
const said = [ADDED, PART_ADDED, say("Hello"), say(" world"), SAID, PART_DONE, ITEM_DONE]
const callAt = { item_id: "fc_1", output_index: 0 }
const CALL_ADDED = {
  type: "response.output_item.added",
  output_index: 0,
  item: { ...CALL, arguments: "", status: "in_progress" },
}
const args = (piece: string) => ({ type: "response.function_call_arguments.delta", ...callAt, delta: piece })
const ARGS_DONE = { type: "response.function_call_arguments.done", ...callAt, arguments: CALL.arguments }
const CALL_DONE = { type: "response.output_item.done", output_index: 0, item: CALL }
const called = [CALL_ADDED, args('{"city":'), args('"Rome"}'), ARGS_DONE, CALL_DONE]

const numbered = (events: (Json | string)[]) => {
  let number = 0
  return events.map((event) => (typeof event === "string" ? event : { ...event, sequence_number: number++ }))
}
const responses = (name: string, outcome: Outcome, ...events: (Json | string)[]): Shape => ({
  name: `Responses: ${name}`,
  wire: "responses",
  ...outcome,
  body: stream(...numbered(events)),
})

/** Streams of the Responses format that every client reads completely. */
export const RESPONSES_STREAMS: Shape[] = [
  responses("as the contract has it", HELLO, CREATED, IN_PROGRESS, ...said, complete()),
  responses("without response.created", HELLO, ...said, complete()),
  responses(
    "types only in event names",
    HELLO,
    ...[CREATED, ...said, complete()].map(({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`),
  ),
  responses("only response.in_progress", HELLO, IN_PROGRESS, ...said, complete()),
  responses("response.created twice", HELLO, CREATED, CREATED, ...said, complete()),
  { ...responses("without sequence_number", HELLO), body: stream(CREATED, IN_PROGRESS, ...said, complete()) },
  {
    ...responses("without event names", HELLO),
    body: stream(...[CREATED, IN_PROGRESS, ...said, complete()].map(bare)),
  },
  responses("response.completed with an empty output", HELLO, CREATED, ...said, complete({ output: [] })),
  responses("response.completed without output", HELLO, CREATED, ...said, complete({ output: undefined })),
  responses(
    "a tool call, and response.completed with an empty output",
    WEATHER,
    CREATED,
    ...called,
    complete({ output: [] }),
  ),
  responses("no usage", { text: "Hello world" }, CREATED, ...said, complete({ usage: undefined })),
  responses("usage: null", { text: "Hello world" }, CREATED, ...said, complete({ usage: null })),
  responses("[DONE] after the end", HELLO, CREATED, ...said, complete(), "data: [DONE]\n\n"),
  responses("deltas only", HELLO, CREATED, say("Hello"), say(" world"), complete()),
  responses("deltas only, and an empty output", HELLO, CREATED, say("Hello"), say(" world"), complete({ output: [] })),
  responses(
    "deltas without ids and indexes",
    HELLO,
    CREATED,
    { type: "response.output_text.delta", delta: "Hello" },
    { type: "response.output_text.delta", delta: " world" },
    complete(),
  ),
  responses("no content part events", HELLO, CREATED, ADDED, say("Hello"), say(" world"), ITEM_DONE, complete()),
  responses("no done events", HELLO, CREATED, ADDED, PART_ADDED, say("Hello"), say(" world"), complete()),
  responses(
    "no done events, and an empty output",
    HELLO,
    CREATED,
    ADDED,
    PART_ADDED,
    say("Hello"),
    say(" world"),
    complete({ output: [] }),
  ),
  responses("done events only", HELLO, CREATED, ADDED, ITEM_DONE, complete()),
  responses("the end only", HELLO, CREATED, complete()),
  responses("a tool call", WEATHER, CREATED, ...called, complete({ output: [CALL] })),
  responses(
    "a tool call without deltas",
    WEATHER,
    CREATED,
    CALL_ADDED,
    ARGS_DONE,
    CALL_DONE,
    complete({ output: [CALL] }),
  ),
  responses("a tool call in the end only", WEATHER, CREATED, complete({ output: [CALL] })),
  responses(
    "a tool call without call_id",
    WEATHER,
    CREATED,
    ...called.map((event) => ("item" in event ? { ...event, item: { ...event.item, call_id: undefined } } : event)),
    complete({ output: [{ ...CALL, call_id: undefined }] }),
  ),
  responses(
    "item ids that change",
    HELLO,
    CREATED,
    ...said.map((event, number) => ("item_id" in event ? { ...event, item_id: `msg_${number}` } : event)),
    complete(),
  ),
  responses(
    "null fields",
    HELLO,
    { ...CREATED, response: { ...begun, error: null, incomplete_details: null, output: null, tools: null } },
    ...said,
    complete({ error: null }),
  ),
  responses(
    "pings",
    HELLO,
    CREATED,
    { type: "keepalive" },
    "event: ping\ndata: {}\n\n",
    ...said,
    ": ping\n\n",
    complete(),
  ),
  responses("a status that is not completed at the end", HELLO, CREATED, ...said, complete({ status: "in_progress" })),
  responses("response.done in place of response.completed", HELLO, CREATED, ...said, {
    ...complete(),
    type: "response.done",
  }),
  responses("no end, with all items done", { fails: true }, CREATED, ...said),
  responses("no end, with [DONE]", { text: "Hello world" }, CREATED, ...said, "data: [DONE]\n\n"),
  responses("an end in the middle", { fails: true }, CREATED, ADDED, PART_ADDED, say("Hello")),
  responses("an error event", { fails: true }, CREATED, ADDED, PART_ADDED, say("Hello"), {
    type: "error",
    code: "server_error",
    message: "Overloaded",
  }),
  responses("response.failed", { fails: true }, CREATED, ADDED, PART_ADDED, say("Hello"), {
    type: "response.failed",
    response: { ...begun, status: "failed", error: { code: "server_error", message: "Overloaded" } },
  }),
  responses(
    "an error without type",
    { fails: true },
    CREATED,
    ADDED,
    PART_ADDED,
    say("Hello"),
    bare({ error: { message: "Overloaded" } }),
  ),
]

const responsesJson = (name: string, outcome: Outcome, more: Json): Shape => ({
  name: `Responses: ${name}`,
  wire: "responses",
  type: "application/json",
  ...outcome,
  body: JSON.stringify({ ...RESPONSE, status: "completed", output: [ITEM], usage: RESULT_USAGE, ...more }),
})

export const RESPONSES_DOCUMENTS: Shape[] = [
  responsesJson("as the contract has it", HELLO, {}),
  responsesJson("no usage", { text: "Hello world" }, { usage: undefined }),
  responsesJson("no status", HELLO, { status: undefined }),
  responsesJson("no object, id, model and created_at", HELLO, {
    object: undefined,
    id: undefined,
    model: undefined,
    created_at: undefined,
  }),
  responsesJson("a tool call", WEATHER, { output: [CALL] }),
  responsesJson("a tool call without call_id", WEATHER, { output: [{ ...CALL, call_id: undefined }] }),
  responsesJson("items without ids", HELLO, { output: [{ ...ITEM, id: undefined, status: undefined }] }),
  responsesJson("text parts as text", HELLO, {
    output: [{ ...ITEM, content: [{ type: "text", text: "Hello world" }] }],
  }),
  responsesJson("content as a string", HELLO, { output: [{ ...ITEM, content: "Hello world" }] }),
  {
    name: "Responses: a stream instead of a document",
    wire: "responses",
    ...HELLO,
    body: stream(...numbered([CREATED, ...said, complete()])),
  },
  {
    name: "Responses: a stream with an empty output instead of a document",
    wire: "responses",
    ...HELLO,
    body: stream(...numbered([CREATED, ...said, complete({ output: [] })])),
  },
  responsesJson(
    "an error",
    { fails: true },
    { status: "failed", error: { code: "server_error", message: "Overloaded" }, output: [] },
  ),
]
