/** A rule of a request field: bodies that follow it, and bodies that break it, each added to a valid request. */
export type FieldRow = { promise: string; accepts?: readonly object[]; refuses?: readonly object[] }

/** `count` pairs, the first with a key and a value of these lengths. */
const metadata = (count: number, keyLength = 2, valueLength = 1) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      at === 0 ? "k".repeat(keyLength) : `key${at}`,
      at === 0 ? "v".repeat(valueLength) : "v",
    ]),
  )

const TOOL = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }
const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } }

export const nullable = (...names: string[]) => names.map((name) => ({ [name]: null }))
export const each = (name: string, ...values: unknown[]) => values.map((value) => ({ [name]: value }))

/** Rules that chat completions and responses share. */
export const shared: FieldRow[] = [
  {
    promise: "metadata maps strings to strings",
    accepts: each("metadata", {}),
    refuses: each("metadata", { a: 1 }, "a"),
  },
  {
    promise: "metadata has at most 16 pairs",
    accepts: each("metadata", metadata(16)),
    refuses: each("metadata", metadata(17)),
  },
  {
    promise: "a key of metadata has at most 64 characters",
    accepts: each("metadata", metadata(1, 64)),
    refuses: each("metadata", metadata(1, 65)),
  },
  {
    promise: "a value of metadata has at most 512 characters",
    accepts: each("metadata", metadata(1, 2, 512)),
    refuses: each("metadata", metadata(1, 2, 513)),
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
    promise: "stop_server_tools_when has at least one condition",
    refuses: each("stop_server_tools_when", [], { type: "step_count_is", step_count: 2 }),
  },
  {
    promise: "a condition of stop_server_tools_when has one of five types, such as step_count_is with its step_count",
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
    refuses: each("stop_server_tools_when", [{ type: "moon_phase" }], [{ type: "step_count_is" }]),
  },
  {
    promise: "the plugin auto-router takes allowed_models, excluded_models, cost_tier, enabled and pin_model",
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
    refuses: each(
      "plugins",
      [{ id: "auto-router", allowed_models: "sim/*" }],
      [{ id: "auto-router", excluded_models: 1 }],
      [{ id: "auto-router", cost_tier: 1 }],
      [{ id: "auto-router", enabled: "yes" }],
    ),
  },
  {
    promise: "plugins is an array of known plugins",
    accepts: each("plugins", []),
    refuses: each("plugins", {}, [{ id: "nonesuch" }], [{}]),
  },
  {
    promise: "cache_control at the top level is ephemeral",
    accepts: each("cache_control", { type: "ephemeral" }),
    refuses: each("cache_control", { type: "forever" }, {}, "ephemeral"),
  },
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
  { promise: "messages is required", refuses: each("messages", undefined, null) },
  { promise: "messages is an array of at least one item", refuses: each("messages", [], "Hi") },
  {
    promise: "an item of messages has one of five roles and its content",
    accepts: [
      {
        messages: [
          { role: "system", content: "S" },
          { role: "developer", content: "D" },
          { role: "user", content: "Hi" },
          { role: "assistant", content: null, tool_calls: [CALL] },
          { role: "tool", content: "T", tool_call_id: "c1" },
          { role: "user", content: "Hi" },
        ],
      },
    ],
    refuses: each(
      "messages",
      [{ role: "alien", content: "x" }],
      [{ content: "x" }],
      [{ role: "user" }],
      [{ role: "tool", content: "x" }],
    ),
  },
  {
    promise: "name of a message is optional and a string",
    accepts: each("messages", [{ role: "user", content: "Hi", name: "ada" }]),
    refuses: each("messages", [{ role: "user", content: "Hi", name: 7 }]),
  },
  {
    promise: "a content block may be an explicit breakpoint of the cache",
    accepts: each("messages", [
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] },
    ]),
  },
  {
    promise: "temperature is null or from 0 to 2",
    accepts: each("temperature", null, 0, 2),
    refuses: each("temperature", -0.1, 2.1),
  },
  { promise: "top_p is null or from 0 to 1", accepts: each("top_p", null, 0, 1), refuses: each("top_p", -0.1, 1.1) },
  ...["frequency_penalty", "presence_penalty"].map((name) => ({
    promise: `${name} is null or from -2 to 2`,
    accepts: each(name, null, -2, 2),
    refuses: each(name, -2.1, 2.1, "1"),
  })),
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
  ...["max_tokens", "max_completion_tokens"].map((name) => ({
    promise: `${name} is null or an integer`,
    accepts: each(name, null, 16),
    refuses: each(name, 1.5, "16"),
  })),
  ...["logprobs", "parallel_tool_calls"].map((name) => ({
    promise: `${name} is null or a boolean`,
    accepts: each(name, null, true, false),
    refuses: each(name, "yes", 1),
  })),
  {
    promise: "logit_bias is null or maps strings to numbers",
    accepts: each("logit_bias", null, { "50256": -100 }),
    refuses: each("logit_bias", { "50256": "x" }, []),
  },
  { promise: "model is a string", accepts: each("model", "sim/echo"), refuses: each("model", 7, {}) },
  {
    promise: "stream_options is an object",
    accepts: [{ stream: true, stream_options: { include_usage: true } }, ...each("stream_options", {})],
    refuses: each("stream_options", "usage"),
  },
  {
    promise: "reasoning has the keys effort and summary",
    accepts: each("reasoning", { effort: "high", summary: "auto" }, {}),
    refuses: each("reasoning", { effort: "huge" }, { summary: 1 }, "high"),
  },
  { promise: "stream is a boolean", accepts: each("stream", false), refuses: each("stream", "yes") },
  {
    promise: "debug is for streams only",
    accepts: [{ stream: true, debug: { echo_upstream_body: true } }],
    refuses: each("debug", { echo_upstream_body: true }),
  },
  {
    promise: "the shorthand of the reasoning effort has seven values or is null",
    accepts: each("reasoning_effort", "max", "xhigh", "high", "medium", "low", "minimal", "none", null),
    refuses: each("reasoning_effort", "huge", 3),
  },
  {
    promise: "the shorthand of the reasoning effort is refused where it differs from reasoning.effort",
    accepts: [{ reasoning_effort: "low", reasoning: { effort: "low" } }],
    refuses: [{ reasoning_effort: "low", reasoning: { effort: "high" } }],
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
    promise: "trace is an object with five known keys and any others",
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
    promise: "a repetition penalty is a number around 1",
    accepts: each("repetition_penalty", 1, 1.2),
    refuses: each("repetition_penalty", "1"),
  },
  {
    promise: "a predicted output has the type content and its content",
    accepts: each("prediction", { type: "content", content: "x" }),
    refuses: each("prediction", { type: "guess", content: "x" }, { type: "content" }),
  },
  {
    promise: "the controls of the prompt cache have a mode and a ttl",
    accepts: each("prompt_cache_options", { mode: "explicit", ttl: "30m" }),
    refuses: each("prompt_cache_options", { mode: "sometimes" }),
  },
  {
    promise: "tools is an array of functions",
    accepts: each("tools", [TOOL], []),
    refuses: each("tools", [{ type: "function" }], TOOL),
  },
  {
    promise: "tool_choice is a word or an object",
    accepts: ["auto", "none", { type: "function", function: { name: "f" } }].map((choice) => ({
      tools: [TOOL],
      tool_choice: choice,
    })),
    refuses: [{ tools: [TOOL], tool_choice: "perhaps" }],
  },
]
