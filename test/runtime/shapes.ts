/** Upstream responses as providers really send them, with what every client must get. */

export type Outcome = {
  text?: string
  tool?: { name: string; args: string }
  tools?: { name: string; args: string }[]
  /** Charged and reported completion tokens. */
  completion?: number
  reasoning?: string
  /** The call fails: with an HTTP status, or with an error in the stream. */
  fails?: true
}

export type Shape = Outcome & {
  name: string
  body: string
  type?: string
  /** The connection is lost at the end of the body. */
  breaks?: true
  /** The API format of the provider; chat by default. */
  wire?: "messages" | "responses"
  /** The value of the `content-encoding` header, with the body as sent. */
  encoding?: string
}

const HEAD = { id: "up-1", object: "chat.completion.chunk", created: 1_790_000_000, model: "vendor-model" }
const DONE = "data: [DONE]\n\n"
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

export type Json = Record<string, unknown>

const frame = (value: Json | string) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: Json, more: Json = {}, choice: Json = {}) =>
  frame({ ...HEAD, choices: [{ index: 0, delta, finish_reason: null, ...choice }], ...more })
const text = (content: string, more: Json = {}) => chunk({ content }, more)
const finish = (reason = "stop", more: Json = {}) => chunk({}, more, { finish_reason: reason })
const usage = (counts: unknown = USAGE) => frame({ ...HEAD, choices: [], usage: counts })
const stream = (...frames: string[]) => frames.join("")
const HELLO = { text: "Hello world", completion: 5 }
const hello = [text("Hello"), text(" world")]
/** A complete stream, with this usage. */
const helloWith = (counts?: unknown) => stream(...hello, finish(), usage(counts), DONE)

const DELTA = { message: undefined, delta: { role: "assistant", content: "Hello world" } }

const call = (fields: Json, called: Json, index: number | undefined = 0) =>
  chunk({ tool_calls: [{ ...(index !== undefined && { index }), ...fields, function: called }] })
const WEATHER_CALLED = { name: "weather", arguments: '{"city":"Rome"}' }
const WEATHER = { tool: { name: "weather", args: '{"city":"Rome"}' }, completion: 5 }

/** Streams that every client reads completely. */
export const STREAMS: Shape[] = [
  { name: "as the contract has it", ...HELLO, body: helloWith() },
  {
    name: "usage: null on every chunk, and padding, as OpenAI",
    ...HELLO,
    body: stream(
      chunk({ role: "assistant", content: "", refusal: null }, { usage: null, obfuscation: "x1" }),
      text("Hello", { usage: null, obfuscation: "a" }),
      text(" world", { usage: null, obfuscation: "" }),
      finish("stop", { usage: null, obfuscation: "abc" }),
      usage({ ...USAGE, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: null }),
      DONE,
    ),
  },
  {
    name: "a finish reason of the provider's own",
    ...HELLO,
    body: stream(...hello, finish("eos_token"), usage(), DONE),
  },
  { name: "[DONE] without a finish reason", ...HELLO, body: stream(...hello, usage(), DONE) },
  { name: "no usage at all", text: "Hello world", completion: 3, body: stream(...hello, finish(), DONE) },
  { name: "usage in the last content chunk", ...HELLO, body: stream(...hello, finish("stop", { usage: USAGE }), DONE) },
  {
    name: "growing usage on every chunk",
    ...HELLO,
    body: stream(
      text("Hello", { usage: { ...USAGE, completion_tokens: 1, total_tokens: 11 } }),
      text(" world", { usage: { ...USAGE, completion_tokens: 2, total_tokens: 12 } }),
      finish("stop", { usage: USAGE }),
      DONE,
    ),
  },
  {
    name: "usage as input_tokens and output_tokens",
    ...HELLO,
    body: helloWith({ input_tokens: 10, output_tokens: 5 }),
  },
  {
    name: "a total that disagrees",
    ...HELLO,
    body: helloWith({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 10 }),
  },
  {
    name: "counts as strings",
    ...HELLO,
    body: helloWith({ prompt_tokens: "10", completion_tokens: "5", total_tokens: "15" }),
  },
  {
    name: "counts as fractions",
    text: "Hello world",
    completion: 6,
    body: helloWith({ prompt_tokens: 10.5, completion_tokens: 5.5, total_tokens: 16 }),
  },
  {
    name: "half a count",
    text: "Hello world",
    completion: 3,
    body: helloWith({ completion_tokens: null, prompt_tokens: 10 }),
  },
  {
    name: "an absurd count",
    text: "Hello world",
    completion: 3,
    body: helloWith({ prompt_tokens: 10, completion_tokens: 9e15, total_tokens: 9e15 }),
  },
  {
    name: "usage without the last blank line",
    ...HELLO,
    body: stream(...hello, finish(), usage()).slice(0, -2),
  },
  {
    name: "null details",
    ...HELLO,
    body: helloWith({
      ...USAGE,
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: null, audio_tokens: null },
    }),
  },
  {
    name: "details as fractions, strings and negative numbers",
    ...HELLO,
    body: helloWith({
      ...USAGE,
      prompt_tokens_details: { audio_tokens: 1.5 },
      completion_tokens_details: { reasoning_tokens: "2", audio_tokens: -1 },
    }),
  },
  { name: "no [DONE]", ...HELLO, body: stream(...hello, finish(), usage()) },
  { name: "lost after the usage", ...HELLO, body: stream(...hello, finish(), usage()), breaks: true },
  { name: "[DONE] without a space", ...HELLO, body: stream(...hello, finish(), usage(), "data:[DONE]\n\n") },
  {
    name: "data without a space",
    ...HELLO,
    body: helloWith().replaceAll("data: ", "data:"),
  },
  { name: "CRLF", ...HELLO, body: helloWith().replaceAll("\n", "\r\n") },
  { name: "CR", ...HELLO, body: helloWith().replaceAll("\n", "\r") },
  {
    name: "comments, empty data and bare event and id lines",
    ...HELLO,
    body: stream(
      ": hi\n\n",
      "data:\n\n",
      "id: 7\n\n",
      "event: ping\n\n",
      ...hello,
      "data: \n\n",
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "frames after [DONE]",
    ...HELLO,
    body: stream(...hello, finish(), usage(), DONE, text("late"), frame({ error: { message: "late" } }), DONE),
  },
  { name: "two [DONE]", ...HELLO, body: stream(...hello, finish(), usage(), DONE, DONE) },
  {
    name: "chunks without id, object, created and model",
    ...HELLO,
    body: stream(
      frame({ choices: [{ delta: { content: "Hello" } }] }),
      frame({ choices: [{ delta: { content: " world" } }] }),
      frame({ choices: [{ delta: {}, finish_reason: "stop" }] }),
      frame({ usage: USAGE }),
      DONE,
    ),
  },
  {
    name: "another id and model in every chunk",
    ...HELLO,
    body: stream(
      text("Hello", { id: "a", model: "x" }),
      text(" world", { id: "b", model: "y" }),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "created as a fraction",
    ...HELLO,
    body: stream(...hello.map((one) => one.replace("1790000000", "1790000000.5")), finish(), usage(), DONE),
  },
  {
    name: "null fingerprint, error and logprobs",
    ...HELLO,
    body: stream(
      text("Hello", { system_fingerprint: null, error: null }),
      chunk({ content: " world" }, { system_fingerprint: null }, { logprobs: null }),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "a role that is not assistant",
    ...HELLO,
    body: stream(
      chunk({ role: "model", content: "Hello" }),
      chunk({ role: null, content: " world" }),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "null lists and audio in the delta",
    ...HELLO,
    body: stream(
      chunk({ content: "Hello", tool_calls: null, audio: null, images: null, reasoning_details: null }),
      text(" world"),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "content in parts",
    ...HELLO,
    body: stream(chunk({ content: [{ type: "text", text: "Hello" }] }), text(" world"), finish(), usage(), DONE),
  },
  {
    name: "content as one part, and as a number",
    text: "Hello 5",
    completion: 5,
    body: stream(chunk({ content: { type: "text", text: "Hello " } }), chunk({ content: 5 }), finish(), usage(), DONE),
  },
  {
    name: "escaped and wide text",
    text: 'é "漢"\n🎈',
    completion: 5,
    body: stream(text('é "'), text('漢"\n'), text("🎈"), finish(), usage(), DONE),
  },
  {
    name: "a stream labelled application/json",
    ...HELLO,
    body: helloWith(),
    type: "application/json",
  },
  {
    name: "a stream labelled text/plain",
    ...HELLO,
    body: helloWith(),
    type: "text/plain",
  },
  {
    name: "a stream labelled text/html",
    ...HELLO,
    body: helloWith(),
    type: "text/html",
  },
  {
    name: "reasoning_content",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(
      chunk({ content: null, reasoning_content: "Hm" }),
      chunk({ content: null, reasoning_content: "." }),
      chunk({ content: "Hello", reasoning_content: null }),
      chunk({ content: " world", reasoning_content: null }),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "reasoning as parts, and as an object",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(
      chunk({ reasoning: [{ text: "H" }, "m"] }),
      chunk({ reasoning: { summary: "." } }),
      ...hello,
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "reasoning under two names",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(chunk({ reasoning: "Hm.", reasoning_content: "Hm." }), ...hello, finish(), usage(), DONE),
  },
  {
    name: "a tool call as the contract has it",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: "" }),
      call({}, { arguments: '{"city":' }),
      call({}, { arguments: '"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a tool call without an index",
    ...WEATHER,
    body: stream(
      chunk({ tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":' } }] }),
      chunk({ tool_calls: [{ function: { arguments: '"Rome"}' } }] }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a tool call numbered from 1",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: '{"city":' }, 1),
      call({}, { arguments: '"Rome"}' }, 1),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a tool call beside null, with its index as a string",
    ...WEATHER,
    body: stream(
      chunk({
        tool_calls: [null, { index: "1", id: "c1", function: { name: "weather", arguments: '{"city":' } }],
      }),
      chunk({ tool_calls: [{ index: "1", function: { arguments: '"Rome"}' } }] }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a tool call without id and type",
    ...WEATHER,
    body: stream(call({}, { name: "weather", arguments: '{"city":"Rome"}' }), finish("tool_calls"), usage(), DONE),
  },
  {
    name: "id, type and name repeated in every delta",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: '{"city":' }),
      call({ id: "c1", type: "function" }, { name: "weather", arguments: '"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a stop beside a tool call",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: '{"city":"Rome"}' }),
      finish("stop"),
      usage(),
      DONE,
    ),
  },
  {
    name: "arguments as an object",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: { city: "Rome" } }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a finished call repeated with the finish reason",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: '{"city":"Rome"}' }),
      chunk(
        {
          tool_calls: [
            { index: 0, id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
          ],
        },
        {},
        { finish_reason: "tool_calls" },
      ),
      usage(),
      DONE,
    ),
  },
  {
    name: "the complete message in the last chunk, as MiniMax",
    ...HELLO,
    body: stream(
      ...hello,
      frame({
        ...HEAD,
        object: "chat.completion",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello world" } }],
        usage: USAGE,
        base_resp: { status_code: 0, status_msg: "" },
      }),
      DONE,
    ),
  },
  {
    name: "the text so far beside each delta, as Perplexity",
    ...HELLO,
    body: stream(
      chunk({ content: "Hello" }, { usage: USAGE }, { message: { role: "assistant", content: "Hello" } }),
      chunk({ content: " world" }, { usage: USAGE }, { message: { role: "assistant", content: "Hello world" } }),
      chunk({ content: "" }, { usage: USAGE }, { message: { content: "Hello world" }, finish_reason: "stop" }),
    ),
  },
  {
    name: "one call without an array, as Text Generation Inference",
    ...WEATHER,
    body: stream(
      chunk({
        tool_calls: { index: 0, id: "", type: "function", function: { name: "weather", arguments: '{"city":' } },
      }),
      chunk({ tool_calls: { index: 0, id: "", type: "function", function: { name: null, arguments: '"Rome"}' } } }),
      finish("eos_token"),
      usage(),
      DONE,
    ),
  },
  {
    name: "a summary of reasoning as a part, as Databricks",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(
      chunk({ content: [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hm.", signature: "c2ln" }] }] }),
      ...hello,
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "reasoning between tags in the content",
    ...HELLO,
    reasoning: "Hm. <b> 1 < 2",
    body: stream(
      ...["<th", "ink>", "Hm. <b>", " 1 < 2", "</thi", "nk>", "\n\n", "Hello", " world"].map((part) => text(part)),
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "a tag later in the content",
    text: "Hello <think>world</think>",
    completion: 5,
    body: stream(text("Hello "), text("<think>"), text("world"), text("</think>"), finish(), usage(), DONE),
  },
  {
    name: "a tool call without arguments",
    tool: { name: "weather", args: "{}" },
    completion: 5,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: "" }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "empty arguments before the real ones",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: "{}" }),
      call({}, { arguments: '{"city":' }),
      call({}, { arguments: '"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "empty arguments after the name and before the real ones",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: "" }),
      call({}, { arguments: "{}" }),
      call({}, { arguments: '{"city":"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "empty arguments, and no others",
    tool: { name: "weather", args: "{}" },
    completion: 5,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: "{}" }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "empty arguments, and no finish reason",
    tool: { name: "weather", args: "{}" },
    completion: 5,
    body: stream(call({ id: "c1", type: "function" }, { name: "weather", arguments: "{}" }), usage(), DONE),
  },
  {
    name: "empty arguments as an object before the real ones",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "weather", arguments: {} }),
      call({ id: "c1", type: "function" }, { name: "weather", arguments: { city: "Rome" } }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "the name in fragments",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "wea", arguments: "" }),
      call({}, { name: "ther", arguments: "" }),
      call({}, { arguments: '{"city":"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "the name in fragments without arguments",
    tool: { name: "weather", args: "{}" },
    completion: 5,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "wea" }),
      call({ id: "c1" }, { name: "ther" }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "the name after the id",
    ...WEATHER,
    body: stream(
      call({ id: "c1", type: "function" }, { arguments: "" }),
      call({}, { name: "weather" }),
      call({}, { arguments: '{"city":"Rome"}' }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  ...[0, undefined].map((index) => ({
    name: `two equal calls in one delta with index ${index}`,
    tools: [WEATHER.tool, WEATHER.tool],
    completion: 5,
    body: stream(
      chunk({
        tool_calls: [1, 2].map(() => ({
          index,
          type: "function",
          function: { name: "weather", arguments: '{"city":"Rome"}' },
        })),
      }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  })),
  {
    name: "two equal calls with different ids",
    tools: [WEATHER.tool, WEATHER.tool],
    completion: 5,
    body: stream(
      call({ id: "c1", type: "function" }, WEATHER_CALLED),
      call({ id: "c2", type: "function" }, WEATHER_CALLED),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "function_call in place of tool_calls",
    ...WEATHER,
    body: stream(
      chunk({ content: null, function_call: { name: "weather", arguments: "" } }),
      chunk({ function_call: { arguments: '{"city":' } }),
      chunk({ function_call: { arguments: '"Rome"}' } }),
      finish("function_call"),
      usage(),
      DONE,
    ),
  },
  {
    name: "function_call beside tool_calls",
    ...WEATHER,
    body: stream(
      chunk({
        function_call: WEATHER_CALLED,
        tool_calls: [{ index: 0, id: "c1", type: "function", function: WEATHER_CALLED }],
      }),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  {
    name: "function_call: null",
    ...HELLO,
    body: stream(chunk({ content: "Hello", function_call: null }), text(" world"), finish(), usage(), DONE),
  },
  {
    name: "reasoning_details without reasoning",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "H", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "m.", index: 0 }] }),
      ...hello,
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "reasoning_details of a summary without reasoning",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(
      chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "Hm.", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "c2ln", index: 1 }] }),
      ...hello,
      finish(),
      usage(),
      DONE,
    ),
  },
  {
    name: "reasoning without reasoning_details",
    ...HELLO,
    reasoning: "Hm.",
    body: stream(chunk({ reasoning: "H" }), chunk({ reasoning: "m." }), ...hello, finish(), usage(), DONE),
  },
  ...["thought", "thinking", "reasoning", "seed:think"].map((tag) => ({
    name: `reasoning between <${tag}> tags in the content`,
    ...HELLO,
    reasoning: "Hm. </b>",
    body: stream(
      ...[`<${tag.slice(0, 3)}`, `${tag.slice(3)}>Hm.`, ` </b></${tag}`, ">\n\n", "Hello", " world"].map((part) =>
        text(part),
      ),
      finish(),
      usage(),
      DONE,
    ),
  })),
  {
    name: "pings that are not JSON",
    ...HELLO,
    body: stream("data: null\n\n", ...hello, "event: ping\ndata: ping\n\n", finish(), usage(), DONE),
  },
  {
    name: "a document instead of a stream",
    ...HELLO,
    body: JSON.stringify(documentOf({ content: "Hello world" })),
    type: "application/json",
  },
  {
    name: "a document with a delta instead of a stream",
    ...HELLO,
    body: JSON.stringify(documentOf({}, {}, DELTA)),
    type: "application/json",
  },
  {
    name: "an error frame",
    fails: true,
    body: stream(text("Hello"), frame({ error: { message: "overloaded", code: 529 } })),
  },
  {
    name: "an error event",
    fails: true,
    body: stream(text("Hello"), 'event: error\ndata: {"message":"overloaded"}\n\n', DONE),
  },
  {
    name: "an error in words",
    fails: true,
    body: stream(text("Hello"), frame({ error: "out of memory" }), DONE),
  },
  {
    name: "an error after the usage",
    fails: true,
    body: stream(...hello, usage(), frame({ error: { message: "late" } })),
  },
  ...[
    frame({ detail: "overloaded" }),
    frame({ detail: [{ loc: ["body"], msg: "overloaded" }] }),
    frame({ Message: "overloaded" }),
    frame({ code: 50001, msg: "overloaded" }),
    frame({ error_code: 17, error_msg: "overloaded" }),
    frame({ success: false, errors: [{ message: "overloaded" }] }),
    frame({ throttlingException: { message: "overloaded" } }),
    frame({ ...HEAD, choices: [], x_groq: { id: "r", error: "overloaded" } }),
    'event: error\r\ndata: {"reason":"overloaded"}\r\n\r\n',
    "event: error\ndata: {}\n\n",
    '{"error":"overloaded"}\n',
    "<html>Bad gateway</html>\n\n",
    "Internal Server Error\n\n",
  ].map((sent) => ({
    name: `before [DONE], ${sent.trim()}`,
    fails: true as const,
    body: stream(...hello, sent, DONE),
  })),
  {
    name: "an error in a list, as Google",
    fails: true,
    body: stream(
      text("Hello"),
      frame([{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }] as never),
    ),
  },
  {
    name: "an error in a list in place of a stream",
    fails: true,
    body: JSON.stringify([{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }]),
    type: "application/json",
  },
  { name: "an event that is not JSON", fails: true, body: stream(text("Hello"), "data: {broken\n\n", finish(), DONE) },
  { name: "an end in the middle", fails: true, body: stream(...hello) },
  { name: "a connection lost in the middle", fails: true, body: stream(...hello), breaks: true },
  { name: "half an event at the end", fails: true, body: stream(...hello, 'data: {"choices":[{"ind') },
  { name: "nothing", fails: true, body: "" },
  { name: "only [DONE]", fails: true, body: DONE },
  { name: "a page", fails: true, body: "<html>Bad gateway</html>", type: "text/html" },
]

function documentOf(message: Json, more: Json = {}, choice: Json = {}): Json {
  const { object: _, ...head } = HEAD
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...choice }],
    usage: USAGE,
    ...more,
  }
}

const document = (name: string, value: Json, outcome: Outcome): Shape => ({
  name,
  body: JSON.stringify(value),
  type: "application/json",
  ...outcome,
})
const weatherCall = (fields: Json = {}, called: Json = {}) => ({
  content: null,
  tool_calls: [
    { id: "c1", type: "function", ...fields, function: { name: "weather", arguments: '{"city":"Rome"}', ...called } },
  ],
})

/** JSON responses that every client reads. */
export const DOCUMENTS: Shape[] = [
  document("as the contract has it", documentOf({ content: "Hello world" }), HELLO),
  document("no usage", documentOf({ content: "Hello world" }, { usage: undefined }), {
    text: "Hello world",
    completion: 3,
  }),
  document("usage: null", documentOf({ content: "Hello world" }, { usage: null }), {
    text: "Hello world",
    completion: 3,
  }),
  document(
    "a total that disagrees",
    documentOf({ content: "Hello world" }, { usage: { ...USAGE, total_tokens: 3 } }),
    HELLO,
  ),
  document(
    "null details",
    documentOf({ content: "Hello world" }, { usage: { ...USAGE, prompt_tokens_details: null } }),
    HELLO,
  ),
  document("reasoning_content", documentOf({ content: "Hello world", reasoning_content: "Hm." }), {
    ...HELLO,
    reasoning: "Hm.",
  }),
  document("content in parts", documentOf({ content: [{ type: "text", text: "Hello world" }] }), HELLO),
  document(
    "no id, model and created",
    documentOf({ content: "Hello world" }, { id: null, model: null, created: null }),
    HELLO,
  ),
  document("a tool call", documentOf(weatherCall(), {}, { finish_reason: "tool_calls" }), WEATHER),
  document("a stop beside a tool call", documentOf(weatherCall()), WEATHER),
  document("a tool call without id and type", documentOf(weatherCall({ id: undefined, type: undefined })), WEATHER),
  document("reasoning between tags in the content", documentOf({ content: "<think>Hm.</think>\n\nHello world" }), {
    ...HELLO,
    reasoning: "Hm.",
  }),
  document(
    "function_call in place of tool_calls",
    documentOf({ content: null, function_call: WEATHER_CALLED }),
    WEATHER,
  ),
  document("function_call beside tool_calls", documentOf({ ...weatherCall(), function_call: WEATHER_CALLED }), WEATHER),
  document(
    "two equal calls",
    documentOf({ content: null, tool_calls: [1, 2].flatMap(() => weatherCall().tool_calls) }),
    {
      tools: [WEATHER.tool, WEATHER.tool],
      completion: 5,
    },
  ),
  document(
    "reasoning_details without reasoning",
    documentOf({ content: "Hello world", reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] }),
    { ...HELLO, reasoning: "Hm." },
  ),
  document("reasoning without reasoning_details", documentOf({ content: "Hello world", reasoning: "Hm." }), {
    ...HELLO,
    reasoning: "Hm.",
  }),
  document(
    "reasoning between <thought> tags in the content",
    documentOf({ content: "<thought>Hm.</thought>Hello world" }),
    {
      ...HELLO,
      reasoning: "Hm.",
    },
  ),
  {
    name: "a stream with empty arguments, fragments of a name and equal calls",
    tools: [WEATHER.tool, WEATHER.tool],
    completion: 5,
    body: stream(
      call({ id: "c1", type: "function" }, { name: "wea", arguments: "" }),
      call({}, { name: "ther", arguments: "{}" }),
      call({}, { arguments: '{"city":"Rome"}' }),
      call({ id: "c2" }, WEATHER_CALLED, 1),
      finish("tool_calls"),
      usage(),
      DONE,
    ),
  },
  document("a call of another type", documentOf(weatherCall({ type: "tool_call" })), WEATHER),
  document("arguments as an object", documentOf(weatherCall({}, { arguments: { city: "Rome" } })), WEATHER),
  document("a delta in place of the message", documentOf({}, {}, DELTA), HELLO),
  { name: "a stream instead of a document", ...HELLO, body: helloWith() },
  {
    name: "a stream labelled application/json",
    ...HELLO,
    body: stream(": hi\n\n", ...hello, finish(), usage(), DONE),
    type: "application/json",
  },
  ...["application/octet-stream", "text/plain", "text/json", "text/html", "application/x-ndjson", ""].map((type) => ({
    ...document(`a document labelled ${type || "nothing"}`, documentOf({ content: "Hello world" }), HELLO),
    type,
  })),
  {
    name: "a stream labelled application/octet-stream",
    ...HELLO,
    body: helloWith(),
    type: "application/octet-stream",
  },
  {
    name: "a page labelled application/octet-stream",
    fails: true,
    body: "<html>Bad gateway</html>",
    type: "application/octet-stream",
  },
  {
    name: "an error in a list, as Google",
    fails: true,
    body: JSON.stringify([{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }]),
    type: "application/json",
  },
  document("an error in a 200", { error: { message: "overloaded", code: 503 } }, { fails: true }),
  document("no choices", { ...HEAD, object: "chat.completion", choices: [] }, { fails: true }),
  { name: "broken JSON", fails: true, body: '{"choices":[', type: "application/json" },
]
