/** A rule of a request field: bodies that follow it, and bodies that break it, each beside a valid request. */
export type FieldRow = { promise: string; accepts?: readonly object[]; refuses?: readonly object[] }

/** `count` pairs, the first with a key and a value of these lengths. */
const metadata = (count: number, keyLength = 2, valueLength = 1) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      at === 0 ? "k".repeat(keyLength) : `key${at}`,
      at === 0 ? "v".repeat(valueLength) : "v",
    ]),
  )

const nullable = (...names: string[]) => names.map((name) => ({ [name]: null }))
const each = (name: string, ...values: unknown[]) => values.map((value) => ({ [name]: value }))

/** Rules that chat completions and responses share. */
const shared: FieldRow[] = [
  {
    promise: "metadata is at most 16 pairs, with keys of 64 and values of 512 characters, of strings only",
    accepts: each("metadata", metadata(16, 64, 512), {}),
    refuses: each("metadata", metadata(17), metadata(1, 65), metadata(1, 2, 513), { a: 1 }),
  },
  {
    promise: "session_id has at most 256 characters",
    accepts: each("session_id", "s".repeat(256)),
    refuses: each("session_id", "s".repeat(257), 7),
  },
  {
    promise: "service_tier is auto, default, fast, flex, priority, scale or null",
    accepts: each("service_tier", "auto", "default", "fast", "flex", "priority", "scale", null),
    refuses: each("service_tier", "turbo"),
  },
  {
    promise: "route is fallback, sort or null",
    accepts: each("route", "fallback", "sort", null),
    refuses: each("route", "random"),
  },
  {
    promise: "stop_server_tools_when has at least one condition, of five known types",
    accepts: each(
      "stop_server_tools_when",
      [{ type: "step_count_is", step_count: 2 }],
      [
        { type: "has_tool_call", tool_name: "x" },
        { type: "max_tokens_used", max_tokens: 100 },
      ],
      [{ type: "max_cost", max_cost_in_dollars: 1 }],
      [{ type: "finish_reason_is", reason: "stop" }],
    ),
    refuses: each("stop_server_tools_when", [], [{ type: "moon_phase" }], [{ type: "step_count_is" }]),
  },
  {
    promise: "the plugin auto-router takes model patterns, a cost tier and flags; an unknown plugin is refused",
    accepts: each("plugins", [
      {
        id: "auto-router",
        allowed_models: ["sim/*"],
        excluded_models: ["sim/slow"],
        cost_tier: "low",
        enabled: false,
        pin_model: true,
      },
    ]),
    refuses: each("plugins", [{ id: "nonesuch" }], [{ id: "auto-router", allowed_models: "sim/*" }]),
  },
  { promise: "cache_control at the top level is ephemeral", accepts: each("cache_control", { type: "ephemeral" }) },
  {
    promise: "image_config is an object",
    accepts: each("image_config", { size: "1:1" }),
    refuses: each("image_config", 1),
  },
  {
    promise: "provider.allow_fallbacks is a boolean",
    accepts: each("provider", { allow_fallbacks: false }),
    refuses: each("provider", { allow_fallbacks: "no" }),
  },
  { promise: "user is a string", accepts: each("user", "u-1"), refuses: each("user", 5) },
]

export const chatRows: FieldRow[] = [
  ...shared,
  {
    promise: "messages is required and has at least one item with a known role",
    refuses: [...each("messages", undefined, [], "Hi"), { messages: [{ role: "alien", content: "x" }] }],
  },
  {
    promise: "temperature is null or from 0 to 2",
    accepts: each("temperature", null, 0, 2),
    refuses: each("temperature", -0.1, 2.1),
  },
  { promise: "top_p is null or from 0 to 1", accepts: each("top_p", null, 0, 1), refuses: each("top_p", -0.1, 1.1) },
  {
    promise: "frequency_penalty and presence_penalty are null or from -2 to 2",
    accepts: [...each("frequency_penalty", null, -2, 2), ...each("presence_penalty", null, -2, 2)],
    refuses: [...each("frequency_penalty", -2.1, 2.1), ...each("presence_penalty", -2.1, 2.1)],
  },
  {
    promise: "top_logprobs is null or from 0 to 20",
    accepts: [{ logprobs: true, top_logprobs: 20 }, ...each("top_logprobs", null)],
    refuses: [{ logprobs: true, top_logprobs: 21 }],
  },
  { promise: "seed is an integer or null", accepts: each("seed", 1, null), refuses: each("seed", 1.5, "1") },
  {
    promise: "stop is a string or up to 4 strings",
    accepts: each("stop", "zz", ["za", "zb", "zc", "zd"]),
    refuses: each("stop", ["a", "b", "c", "d", "e"], 4),
  },
  {
    promise: "modalities are text, image or audio",
    accepts: each("modalities", ["text"]),
    refuses: each("modalities", ["smell"]),
  },
  {
    promise: "fields of type X or null accept null",
    accepts: nullable("logit_bias", "logprobs", "max_tokens", "max_completion_tokens", "parallel_tool_calls"),
  },
  {
    promise: "logit_bias maps strings to numbers",
    accepts: each("logit_bias", { "50256": -100 }),
    refuses: each("logit_bias", { "50256": "x" }),
  },
  { promise: "stream is a boolean", accepts: each("stream", false), refuses: each("stream", "yes") },
  {
    promise: "debug is for streams only",
    accepts: [{ stream: true, debug: { echo_upstream_body: true } }],
    refuses: each("debug", { echo_upstream_body: true }),
  },
  {
    promise: "the shorthand of the reasoning effort has eight values and may not differ from reasoning.effort",
    accepts: [
      ...each("reasoning_effort", "max", "xhigh", "high", "medium", "low", "minimal", "none", null),
      { reasoning_effort: "low", reasoning: { effort: "low" } },
    ],
    refuses: [...each("reasoning_effort", "huge"), { reasoning_effort: "low", reasoning: { effort: "high" } }],
  },
  {
    promise: "response_format has a type",
    accepts: each("response_format", { type: "json_object" }),
    refuses: each("response_format", "json"),
  },
  {
    promise: "models lists candidates",
    accepts: [{ model: undefined, models: ["sim/echo", "sim/json"] }],
    refuses: each("models", "sim/echo"),
  },
  { promise: "min_p is a number", accepts: each("min_p", 0.1), refuses: each("min_p", "0.1") },
  {
    promise: "trace has known keys and passes others through",
    accepts: each("trace", {
      trace_id: "t",
      trace_name: "n",
      span_name: "s",
      generation_name: "g",
      parent_span_id: "p",
      team: "x",
    }),
  },
  {
    promise: "a repetition penalty, a predicted output and prompt-cache controls are accepted",
    accepts: [
      ...each("repetition_penalty", 1, 1.2),
      ...each("prediction", { type: "content", content: "x" }),
      ...each("prompt_cache_options", { mode: "explicit", ttl: "30m" }),
    ],
  },
  {
    promise: "tools are functions",
    accepts: [
      {
        tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
        tool_choice: "auto",
      },
    ],
    refuses: each("tools", [{ type: "function" }]),
  },
]

export const responsesRows: FieldRow[] = [
  ...shared,
  {
    promise: "input is a string or an array of items",
    accepts: each("input", "Hi", [{ type: "message", role: "user", content: "Hi" }]),
    refuses: each("input", 5, undefined),
  },
  {
    promise: "keys of metadata have no brackets",
    refuses: each("metadata", { "a[b]": "x" }),
  },
  { promise: "background is null or false", accepts: each("background", null, false) },
  { promise: "max_tool_calls is at most 30", accepts: each("max_tool_calls", 30), refuses: each("max_tool_calls", 31) },
  {
    promise: "modalities are text or image",
    accepts: each("modalities", ["text", "image"]),
    refuses: each("modalities", ["audio"]),
  },
  {
    promise: "reasoning has effort, summary and enabled",
    accepts: each("reasoning", { effort: "medium", summary: "auto", enabled: true }),
    refuses: each("reasoning", { effort: "huge" }),
  },
  {
    promise: "include has five allowed values",
    accepts: each("include", [
      "file_search_call.results",
      "message.input_image.image_url",
      "computer_call_output.output.image_url",
      "reasoning.encrypted_content",
      "code_interpreter_call.outputs",
    ]),
    refuses: each("include", ["everything"]),
  },
  {
    promise: "a reference to a prior response, a stored prompt or a conversation is refused unless it is null",
    accepts: nullable("previous_response_id", "prompt", "conversation"),
    refuses: [...each("previous_response_id", "resp_1"), ...each("prompt", { id: "p" }), ...each("conversation", "c")],
  },
]
