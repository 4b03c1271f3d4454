import type { Json, Outcome, Shape } from "./shapes.ts"

/** Complete responses of model servers and providers, with all their fields. */

const HELLO = { text: "Hello world", completion: 5 }
const THOUGHT = { ...HELLO, reasoning: "Hm." }
const WEATHER = { tool: { name: "weather", args: '{"city":"Rome"}' }, completion: 5 }
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const DONE = "data: [DONE]\n\n"

const frames = (...events: (Json | string)[]) =>
  events.map((event) => (typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`)).join("")

type Head = Json & { choice?: Json }

/** Chunks with the same fields around each delta. */
function chunksOf({ choice = {}, ...head }: Head) {
  return (delta: Json | undefined, more: Json = {}, further: Json = {}) => ({
    ...head,
    ...further,
    choices: [{ index: 0, ...(delta && { delta }), ...choice, ...more }],
  })
}

const shape = (name: string, outcome: Outcome, ...events: (Json | string)[]): Shape => ({
  name,
  ...outcome,
  body: frames(...events),
})

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_790_000_000, model: "vendor/model" }
const called = (name: string | null | undefined, args: unknown, more: Json = {}) => ({
  index: 0,
  ...more,
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})

const vllm = chunksOf({ ...HEAD, choice: { logprobs: null, finish_reason: null, token_ids: null } })
const sglang = chunksOf({ ...HEAD, usage: null, choice: { logprobs: null, finish_reason: null, matched_stop: null } })
const NULLS = { role: null, content: null, reasoning_content: null, tool_calls: null }
const llama = chunksOf({ ...HEAD, system_fingerprint: "b7000-abc", choice: { finish_reason: null } })
const TIMINGS = { prompt_n: 10, prompt_ms: 1.5, predicted_n: 5, predicted_per_second: 99.9 }
const ollama = chunksOf({ ...HEAD, system_fingerprint: "fp_ollama", choice: { finish_reason: null } })
const tgi = chunksOf({
  ...HEAD,
  system_fingerprint: "3.3.4-sha",
  usage: null,
  choice: { logprobs: null, finish_reason: null },
})
const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } }
const azure = chunksOf({
  ...HEAD,
  system_fingerprint: "fp_1",
  obfuscation: "xy",
  usage: null,
  choice: { content_filter_results: SAFE, logprobs: null, finish_reason: null },
})
const PROMPT_FILTER = [{ prompt_index: 0, content_filter_results: SAFE }]
const gemini = chunksOf({ ...HEAD, choice: {} })
const SIGNED = { extra_content: { google: { thought_signature: "c2ln" } } }
const deepseek = chunksOf({ ...HEAD, system_fingerprint: "fp_ds", choice: { logprobs: null, finish_reason: null } })
const DEEPSEEK_USAGE = {
  ...USAGE,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2 },
  prompt_cache_hit_tokens: 0,
  prompt_cache_miss_tokens: 10,
}
const moonshot = chunksOf({ ...HEAD, system_fingerprint: "fpv0_1", choice: { finish_reason: null } })
const zhipu = chunksOf({
  id: "2025",
  created: 1_790_000_000,
  object: "chat.completion.chunk",
  model: "glm",
  request_id: "r",
})
const dashscope = chunksOf({
  ...HEAD,
  system_fingerprint: null,
  usage: null,
  choice: { logprobs: null, finish_reason: null },
})
const xai = chunksOf({ ...HEAD, system_fingerprint: "fp_x" })
const mistral = chunksOf({ ...HEAD, p: "abcdefgh", choice: { finish_reason: null } })
const cohere = chunksOf({ ...HEAD, choice: { finish_reason: null } })
const perplexity = chunksOf({
  ...HEAD,
  citations: ["https://a.test"],
  search_results: [{ title: "A", url: "https://a.test", date: null }],
})
const SONAR_USAGE = {
  ...USAGE,
  search_context_size: "low",
  cost: { input_tokens_cost: 0.00001, output_tokens_cost: 0, request_cost: 0.005, total_cost: 0.00501 },
}
const groq = chunksOf({ ...HEAD, system_fingerprint: "fp_g", choice: { logprobs: null, finish_reason: null } })
const GROQ_USAGE = { queue_time: 0.01, ...USAGE, prompt_time: 0.01, completion_time: 0.1, total_time: 0.11 }
const cerebras = chunksOf({ ...HEAD, system_fingerprint: "fp_c" })
const sambanova = chunksOf({ ...HEAD, system_fingerprint: "fastcoe", choice: { logprobs: null, finish_reason: null } })
const SAMBANOVA_USAGE = {
  ...USAGE,
  acceptance_rate: 4.2,
  completion_tokens_per_sec: 512.4,
  end_time: 1_790_000_001.2,
  is_last_response: true,
  start_time: 1_790_000_000.1,
  stop_reason: "stop",
  time_to_first_token: 0.21,
  total_latency: 1.1,
}
const together = (text: string, more: Json = {}, further: Json = {}) => ({
  ...HEAD,
  choices: [
    {
      index: 0,
      text,
      logprobs: null,
      finish_reason: null,
      seed: null,
      delta: { token_id: 1, role: "assistant", content: text, tool_calls: null },
      ...more,
    },
  ],
  usage: null,
  ...further,
})
const novita = chunksOf({
  ...HEAD,
  system_fingerprint: "",
  choice: {
    finish_reason: null,
    content_filter_results: { hate: { filtered: false }, jailbreak: { filtered: false } },
  },
})
const litellm = chunksOf({
  ...HEAD,
  system_fingerprint: null,
  service_tier: null,
  citations: null,
  provider_specific_fields: null,
  choice: { finish_reason: null, logprobs: null },
})
const LITELLM_DELTA = {
  provider_specific_fields: null,
  refusal: null,
  function_call: null,
  tool_calls: null,
  audio: null,
}
const oneapi = chunksOf({ id: "", object: "", created: 0, model: "", system_fingerprint: null })

export const SERVED_STREAMS: Shape[] = [
  shape(
    "vLLM",
    THOUGHT,
    vllm({ role: "assistant", content: "" }, {}, { prompt_token_ids: null }),
    vllm({ reasoning: "Hm", reasoning_content: "Hm" }),
    vllm({ reasoning: ".", reasoning_content: "." }),
    vllm({ content: "Hello" }),
    vllm({ content: " world" }),
    vllm({ content: "" }, { finish_reason: "stop", stop_reason: null }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "vLLM, with usage in every chunk",
    HELLO,
    vllm(
      { role: "assistant", content: "" },
      {},
      { usage: { prompt_tokens: 10, total_tokens: 10, completion_tokens: 0 } },
    ),
    vllm({ content: "Hello world" }, {}, { usage: { prompt_tokens: 10, total_tokens: 12, completion_tokens: 2 } }),
    vllm({ content: "" }, { finish_reason: "stop", stop_reason: 151645 }, { usage: USAGE }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "vLLM, a tool call",
    WEATHER,
    vllm({ role: "assistant", content: "" }),
    vllm({ tool_calls: [called("weather", undefined, { id: "chatcmpl-tool-1", type: "function" })] }),
    vllm({ tool_calls: [called(undefined, '{"city":"')] }),
    vllm({ tool_calls: [called(undefined, 'Rome"}')] }),
    vllm({ content: "" }, { finish_reason: "tool_calls", stop_reason: null }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "vLLM, an error",
    { fails: true },
    vllm({ role: "assistant", content: "" }),
    vllm({ content: "Hello" }),
    { error: { message: "EngineCore died", type: "InternalServerError", param: null, code: 500 } },
    DONE,
  ),
  shape(
    "SGLang",
    THOUGHT,
    sglang({ ...NULLS, role: "assistant", content: "" }),
    sglang({ ...NULLS, reasoning_content: "Hm." }),
    sglang({ ...NULLS, content: "Hello" }, { finish_reason: "" }),
    sglang({ ...NULLS, content: " world" }),
    sglang(NULLS, { finish_reason: "stop", matched_stop: 151645 }),
    { ...HEAD, choices: [], usage: { ...USAGE, prompt_tokens_details: null, reasoning_tokens: 0 } },
    DONE,
  ),
  shape(
    "SGLang, an aborted request",
    { fails: true },
    sglang({ ...NULLS, role: "assistant", content: "Hello" }),
    { error: { object: "error", message: "aborted", type: "AbortError", param: null, code: 503 } },
    DONE,
  ),
  shape(
    "llama.cpp",
    THOUGHT,
    llama({ role: "assistant", content: null }),
    llama({ reasoning_content: "Hm." }),
    llama({ content: "Hello" }),
    llama({ content: " world" }),
    llama({}, { finish_reason: "stop" }, { timings: TIMINGS }),
    { ...HEAD, choices: [], usage: USAGE, timings: TIMINGS },
    DONE,
  ),
  shape(
    "llama.cpp, a tool call",
    WEATHER,
    llama({ role: "assistant", content: null }),
    llama({ tool_calls: [called("weather", "{", { id: "k1", type: "function" })] }),
    llama({ tool_calls: [called(undefined, '"city":')] }),
    llama({ tool_calls: [called(undefined, '"Rome"}')] }),
    llama({}, { finish_reason: "tool_calls" }),
    { ...HEAD, choices: [], usage: USAGE, timings: TIMINGS },
    DONE,
  ),
  shape(
    "llama.cpp, an error",
    { fails: true },
    llama({ role: "assistant", content: "Hello" }),
    'error: {"code":500,"message":"Context size has been exceeded.","type":"server_error"}\n\n',
  ),
  shape(
    "Ollama",
    THOUGHT,
    ollama({ role: "assistant", content: "", reasoning: "Hm." }),
    ollama({ role: "assistant", content: "Hello" }),
    ollama({ role: "assistant", content: " world" }),
    ollama({ role: "assistant", content: "" }, { finish_reason: "stop" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "Ollama, two tool calls",
    { tools: [WEATHER.tool, { name: "weather", args: "{}" }], completion: 5 },
    ollama({
      role: "assistant",
      content: "",
      tool_calls: [called("weather", '{"city":"Rome"}', { id: "call_1", type: "function" })],
    }),
    ollama({
      role: "assistant",
      content: "",
      tool_calls: [called("weather", "{}", { id: "call_2", type: "function" })],
    }),
    ollama({ role: "assistant", content: "" }, { finish_reason: "tool_calls" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "LM Studio, an error",
    { fails: true },
    ollama({ role: "assistant", content: "Hello" }),
    'event: error\ndata: {"error":{"message":"The model has crashed without additional information."}}\n\n',
  ),
  shape(
    "Text Generation Inference",
    HELLO,
    tgi({ role: "assistant", content: "Hello" }),
    tgi({ role: "assistant", content: " world" }),
    tgi({ role: "assistant", content: "" }, { finish_reason: "eos_token" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape("Text Generation Inference, an error", { fails: true }, tgi({ role: "assistant", content: "Hello" }), {
    error: "Request failed during generation: Server error",
    error_type: "generation",
  }),
  shape(
    "Azure",
    HELLO,
    { choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: PROMPT_FILTER },
    azure({ content: "", refusal: null, role: "assistant" }, { content_filter_results: {} }),
    azure({ content: "Hello" }),
    azure({ content: " world" }),
    azure({}, { finish_reason: "stop", content_filter_results: {} }),
    { ...HEAD, choices: [], usage: { ...USAGE, completion_tokens_details: { reasoning_tokens: 0 } }, obfuscation: "a" },
    DONE,
  ),
  shape(
    "Azure, with an asynchronous filter",
    HELLO,
    azure({ content: "Hello", role: "assistant" }, { content_filter_results: {} }),
    azure({ content: " world" }),
    azure({}, { finish_reason: "stop" }),
    azure(undefined, { content_filter_offsets: { check_offset: 1, start_offset: 1, end_offset: 9 } }, { object: "" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "Gemini",
    HELLO,
    gemini({ role: "assistant", content: "Hello" }, {}, { usage: { prompt_tokens: 10, total_tokens: 10 } }),
    gemini(
      { role: "assistant", content: " world" },
      {},
      { usage: { ...USAGE, completion_tokens: 3, total_tokens: 13 } },
    ),
    gemini({ role: "assistant" }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "Gemini, with thoughts",
    THOUGHT,
    gemini({ role: "assistant", content: "<thought>Hm.", extra_content: { google: { thought: true } } }),
    gemini({ role: "assistant", content: "</thought>Hello" }),
    gemini({ role: "assistant", content: " world" }),
    gemini({ role: "assistant", content: "", ...SIGNED }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "Gemini, a tool call",
    WEATHER,
    gemini({
      role: "assistant",
      tool_calls: [called("weather", '{"city":"Rome"}', { id: "function-call-1", type: "function", ...SIGNED })],
    }),
    gemini({ role: "assistant" }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "DeepSeek",
    THOUGHT,
    ": keep-alive\n\n",
    deepseek({ role: "assistant", content: null, reasoning_content: "" }),
    deepseek({ content: null, reasoning_content: "Hm." }),
    deepseek({ content: "Hello", reasoning_content: null }),
    ": keep-alive\n\n",
    deepseek({ content: " world", reasoning_content: null }),
    deepseek({ content: "", reasoning_content: null }, { finish_reason: "stop" }, { usage: DEEPSEEK_USAGE }),
    DONE,
  ),
  shape(
    "Moonshot",
    THOUGHT,
    moonshot({ role: "assistant", content: "" }),
    moonshot({ reasoning_content: "Hm." }),
    moonshot({ content: "Hello" }),
    moonshot({ content: " world" }),
    moonshot({}, { finish_reason: "stop", usage: { ...USAGE, cached_tokens: 0 } }),
    DONE,
  ),
  shape(
    "Zhipu",
    THOUGHT,
    zhipu({ role: "assistant", reasoning_content: "Hm." }),
    zhipu({ role: "assistant", content: "Hello" }, {}, { web_search: [{ title: "A", link: "https://a.test" }] }),
    zhipu({ role: "assistant", content: " world" }),
    zhipu({ role: "assistant", content: "" }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape("Zhipu, filtered", { fails: true }, zhipu({ role: "assistant", content: "Hello" }), {
    error: { code: "1301", message: "unsafe" },
    contentFilter: [{ level: 1, role: "assistant" }],
  }),
  shape(
    "DashScope",
    THOUGHT,
    dashscope({ content: null, role: "assistant", reasoning_content: "" }),
    dashscope({ content: null, reasoning_content: "Hm." }),
    dashscope({ content: "Hello", reasoning_content: null }),
    dashscope({ content: " world", reasoning_content: null }),
    dashscope({ content: "", reasoning_content: null }, { finish_reason: "stop" }),
    {
      ...HEAD,
      choices: [],
      system_fingerprint: null,
      usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 0 } },
    },
    DONE,
  ),
  shape(
    "DashScope, a tool call",
    WEATHER,
    dashscope({
      content: null,
      role: "assistant",
      tool_calls: [called("weather", "", { id: "call_1", type: "function" })],
    }),
    dashscope({ content: null, tool_calls: [called("", '{"city":', { id: "", type: "function" })] }),
    dashscope({ content: null, tool_calls: [called(null, '"Rome"}', { id: "", type: "function" })] }),
    dashscope({ content: "" }, { finish_reason: "tool_calls" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "DashScope, an error",
    { fails: true },
    'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"code":"InvalidParameter","message":"no","request_id":"r"}\n\n',
  ),
  shape(
    "xAI, with searches",
    HELLO,
    xai({ role: "assistant", content: "Hello" }),
    xai({ content: " world" }),
    xai(
      { content: "" },
      { finish_reason: "stop" },
      { citations: ["https://a.test"], usage: { ...USAGE, num_sources_used: 1, completion_tokens_details: null } },
    ),
    DONE,
  ),
  shape(
    "xAI, a tool call",
    WEATHER,
    xai({
      role: "assistant",
      content: "",
      tool_calls: [called("weather", '{"city":"Rome"}', { id: "call_1", type: "function" })],
    }),
    xai({ content: "" }, { finish_reason: "tool_calls" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "Mistral, with a reference",
    HELLO,
    mistral({ role: "assistant", content: "" }),
    mistral({
      content: [
        { type: "text", text: "Hello" },
        { type: "reference", reference_ids: [1] },
      ],
    }),
    mistral({ content: " world" }),
    mistral({ content: "" }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "Mistral, with thinking",
    THOUGHT,
    mistral({ role: "assistant", content: "" }),
    mistral({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }], closed: false }] }),
    mistral({
      content: [
        { type: "thinking", thinking: [], closed: true },
        { type: "text", text: "Hello" },
      ],
    }),
    mistral({ content: " world" }),
    mistral({ content: "" }, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "Mistral, a tool call",
    WEATHER,
    mistral({ role: "assistant", content: "" }),
    mistral(
      { content: "", tool_calls: [called("weather", '{"city":"Rome"}', { id: "abc123def" })] },
      { finish_reason: "tool_calls" },
      { usage: USAGE },
    ),
    DONE,
  ),
  shape(
    "Cohere",
    HELLO,
    cohere({ role: "assistant", content: "", tool_calls: [] }),
    cohere({ content: "Hello" }),
    cohere({ content: " world" }),
    cohere({}, { finish_reason: "stop" }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "Perplexity",
    HELLO,
    perplexity({ role: "assistant", content: "Hello" }, { finish_reason: null }, { usage: SONAR_USAGE }),
    perplexity({ role: "assistant", content: " world" }, { finish_reason: null }, { usage: SONAR_USAGE }),
    perplexity(
      { role: "assistant", content: "" },
      { finish_reason: "stop" },
      { usage: SONAR_USAGE, type: "end_of_stream" },
    ),
  ),
  shape(
    "Groq",
    THOUGHT,
    groq({ role: "assistant", content: "" }, {}, { x_groq: { id: "req_1", seed: 1 } }),
    groq({ reasoning: "Hm.", channel: "analysis" }),
    groq({ content: "Hello" }),
    groq({ content: " world" }),
    groq({}, { finish_reason: "stop" }, { x_groq: { id: "req_1", usage: GROQ_USAGE } }),
    DONE,
  ),
  shape(
    "Groq, with usage in two chunks",
    HELLO,
    groq({ role: "assistant", content: "Hello world" }, {}, { x_groq: { id: "req_1" } }),
    groq({}, { finish_reason: "stop" }, { x_groq: { id: "req_1", usage: GROQ_USAGE } }),
    { ...HEAD, choices: [], usage: GROQ_USAGE, service_tier: "on_demand" },
    DONE,
  ),
  shape(
    "Groq, a failed generation",
    { fails: true },
    groq({ role: "assistant", content: "" }, {}, { x_groq: { id: "req_1" } }),
    'event: error\ndata: {"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<f>","status_code":400}}\n\n',
  ),
  shape(
    "Cerebras",
    THOUGHT,
    cerebras({ role: "assistant" }, { finish_reason: null }),
    cerebras({ reasoning: "Hm." }),
    cerebras({ content: "Hello" }),
    cerebras({ content: " world" }),
    cerebras({}, { finish_reason: "stop" }, { usage: USAGE, time_info: { queue_time: 0.1, created: 1_790_000_000.5 } }),
    DONE,
  ),
  shape("Cerebras, an error", { fails: true }, cerebras({ role: "assistant", content: "Hello" }), {
    error: { message: "Encountered a server error", type: "server_error", param: "", code: "" },
    status_code: 500,
  }),
  shape(
    "SambaNova",
    HELLO,
    sambanova({ role: "assistant", content: "" }),
    sambanova({ content: "Hello" }),
    sambanova({ content: " world" }),
    sambanova({ content: "" }, { finish_reason: "stop" }),
    { ...HEAD, choices: [], usage: SAMBANOVA_USAGE },
    DONE,
  ),
  shape(
    "Together",
    HELLO,
    together("Hello"),
    together(" world"),
    together("", { finish_reason: "eos", seed: 123 }, { usage: { ...USAGE, cached_tokens: 0 } }),
    DONE,
  ),
  shape(
    "Fireworks",
    HELLO,
    vllm({ role: "assistant" }),
    vllm({ content: "Hello" }, {}, { usage: null }),
    vllm({ content: " world" }, {}, { usage: null }),
    vllm({}, { finish_reason: "stop" }, { usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 0 } } }),
    DONE,
  ),
  shape(
    "Novita",
    THOUGHT,
    novita({ role: "assistant", content: "<think>" }),
    novita({ role: "assistant", content: "Hm." }),
    novita({ role: "assistant", content: "</think>\n\n" }),
    novita({ role: "assistant", content: "Hello" }),
    novita({ role: "assistant", content: " world" }),
    novita({ role: "assistant", content: "" }, { finish_reason: "stop" }),
    { ...HEAD, choices: [], usage: { ...USAGE, prompt_tokens_details: null, completion_tokens_details: null } },
    DONE,
  ),
  shape(
    "DeepInfra",
    HELLO,
    cohere({ role: "assistant", content: "" }),
    cohere({ content: "Hello" }),
    cohere({ content: " world" }, { finish_reason: "stop" }),
    { ...HEAD, choices: [], usage: { ...USAGE, estimated_cost: 1.2e-7, prompt_tokens_details: null } },
    DONE,
  ),
  shape(
    "Workers AI",
    HELLO,
    cohere({ role: "assistant", content: "Hello" }, {}, { p: "abc" }),
    cohere({ content: " world" }, {}, { p: "a" }),
    cohere({}, { finish_reason: "stop" }, { usage: USAGE, p: "" }),
    DONE,
  ),
  shape(
    "Workers AI, with numbers in the content",
    { text: "Hello 5", completion: 5 },
    cohere({ role: "assistant", content: "Hello " }),
    cohere({ content: 5 }),
    cohere({}, { finish_reason: "stop" }, { usage: USAGE }),
    DONE,
  ),
  shape(
    "Workers AI, an error",
    { fails: true },
    { errors: [{ message: "AiError: 3040: Capacity temporarily exceeded", code: 3040 }], success: false, result: {} },
  ),
  shape(
    "LiteLLM, from Claude",
    THOUGHT,
    litellm({
      ...LITELLM_DELTA,
      role: "assistant",
      content: "",
      reasoning_content: "Hm.",
      thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: null }],
    }),
    litellm({
      ...LITELLM_DELTA,
      content: "",
      reasoning_content: "",
      thinking_blocks: [{ type: "thinking", thinking: "", signature: "c2ln" }],
    }),
    litellm({ ...LITELLM_DELTA, content: "Hello" }),
    litellm({ ...LITELLM_DELTA, content: " world" }),
    litellm({ ...LITELLM_DELTA, content: null, role: null }, { finish_reason: "stop" }),
    { ...HEAD, choices: [{ index: 0, delta: LITELLM_DELTA }], usage: { ...USAGE, cache_read_input_tokens: 0 } },
    DONE,
  ),
  shape(
    "LiteLLM, an error",
    { fails: true },
    litellm({ ...LITELLM_DELTA, role: "assistant", content: "Hello" }),
    { error: { message: "litellm.MidStreamFallbackError: gone", type: "None", param: "None", code: "503" } },
    DONE,
  ),
  shape(
    "New API",
    HELLO,
    oneapi({ role: "assistant", content: "Hello" }, { finish_reason: null }),
    oneapi({ content: " world" }, { finish_reason: null }),
    oneapi({}, { finish_reason: "stop" }),
    { id: "", object: "", created: 0, model: "", system_fingerprint: null, choices: null, usage: USAGE },
    DONE,
    DONE,
  ),
  shape(
    "New API, with zeros after the usage",
    HELLO,
    oneapi({ role: "assistant", content: "Hello world" }, { finish_reason: null }),
    oneapi({}, { finish_reason: "stop" }, { usage: USAGE }),
    { id: "", choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    DONE,
  ),
  shape(
    "New API, an error without a message",
    { fails: true },
    oneapi({ role: "assistant", content: "Hello" }, { finish_reason: null }),
    { error: { message: "", type: "new_api_error", param: "", code: null } },
  ),
  shape(
    "Bedrock Access Gateway",
    HELLO,
    oneapi({ role: "assistant", content: "" }, { finish_reason: null }, { ...HEAD, system_fingerprint: "fp" }),
    oneapi({ content: "Hello" }, {}, HEAD),
    oneapi({ content: " world" }, {}, HEAD),
    oneapi({}, { finish_reason: "stop", logprobs: null }, HEAD),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
  shape(
    "a finish reason as an object",
    HELLO,
    sglang({ ...NULLS, content: "Hello world" }),
    sglang({}, { finish_reason: { type: "stop", matched: 1 } }),
    { ...HEAD, choices: [], usage: USAGE },
    DONE,
  ),
]

const DOCUMENT = { id: "chatcmpl-1", object: "chat.completion", created: 1_790_000_000, model: "vendor/model" }
const documentOf = (name: string, outcome: Outcome, message: Json, choice: Json = {}, more: Json = {}): Shape => ({
  name,
  type: "application/json",
  ...outcome,
  body: JSON.stringify({
    ...DOCUMENT,
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...choice }],
    usage: USAGE,
    ...more,
  }),
})
const after = (padding: string, one: Shape): Shape => ({ ...one, body: `${padding}${one.body}` })
const CALL = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }

export const SERVED_DOCUMENTS: Shape[] = [
  documentOf(
    "vLLM",
    THOUGHT,
    {
      content: "Hello world",
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: [],
      reasoning: "Hm.",
      reasoning_content: "Hm.",
    },
    { logprobs: null, stop_reason: null, token_ids: null },
    { service_tier: null, system_fingerprint: null, prompt_logprobs: null, kv_transfer_params: null },
  ),
  documentOf("vLLM, a tool call", WEATHER, { content: null, tool_calls: [CALL] }, { finish_reason: "tool_calls" }),
  documentOf(
    "SGLang",
    HELLO,
    { content: "Hello world", reasoning_content: null, tool_calls: null },
    { matched_stop: 1 },
  ),
  documentOf("llama.cpp", THOUGHT, { content: "Hello world", reasoning_content: "Hm." }, {}, { timings: TIMINGS }),
  documentOf(
    "Azure",
    HELLO,
    { content: "Hello world", refusal: null, annotations: [] },
    { content_filter_results: SAFE },
    {
      prompt_filter_results: PROMPT_FILTER,
      system_fingerprint: null,
    },
  ),
  documentOf("Gemini, a tool call", WEATHER, { tool_calls: [{ ...CALL, ...SIGNED }] }, { finish_reason: "stop" }),
  documentOf("Gemini, with thoughts", THOUGHT, { content: "<thought>Hm.</thought>Hello world", ...SIGNED }),
  documentOf("DeepSeek", THOUGHT, { content: "Hello world", reasoning_content: "Hm." }, {}, { usage: DEEPSEEK_USAGE }),
  after("\n\n\n", documentOf("DeepSeek, after blank lines", HELLO, { content: "Hello world" })),
  documentOf("Mistral, with thinking", THOUGHT, {
    content: [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "Hello world" },
    ],
    tool_calls: null,
  }),
  documentOf(
    "Perplexity",
    HELLO,
    { content: "Hello world" },
    { delta: { role: "assistant", content: "" } },
    {
      citations: ["https://a.test"],
      search_results: [{ title: "A", url: "https://a.test" }],
      usage: SONAR_USAGE,
    },
  ),
  documentOf(
    "Groq",
    THOUGHT,
    { content: "Hello world", reasoning: "Hm." },
    { logprobs: null },
    {
      usage: GROQ_USAGE,
      usage_breakdown: null,
      x_groq: { id: "req_1" },
      service_tier: "on_demand",
    },
  ),
  documentOf(
    "Together",
    HELLO,
    { content: "Hello world", tool_calls: [] },
    { seed: 1, finish_reason: "eos" },
    { prompt: [] },
  ),
  documentOf("LiteLLM", THOUGHT, {
    content: "Hello world",
    reasoning_content: "Hm.",
    thinking_blocks: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
    function_call: null,
    tool_calls: null,
    provider_specific_fields: null,
  }),
  documentOf(
    "Ollama, a tool call without arguments",
    { tool: { name: "weather", args: "{}" }, completion: 5 },
    {
      content: "",
      tool_calls: [{ id: "c1", index: 0, type: "function", function: { name: "weather", arguments: "{}" } }],
    },
  ),
  documentOf(
    "MiniMax",
    HELLO,
    { content: "Hello world", name: "MiniMax AI", audio_content: "" },
    {},
    {
      input_sensitive: false,
      output_sensitive: false,
      base_resp: { status_code: 0, status_msg: "" },
    },
  ),
  {
    ...documentOf(
      "a finish reason as an object",
      HELLO,
      { content: "Hello world" },
      { finish_reason: { type: "stop" } },
    ),
  },
  {
    name: "Workers AI, an error",
    fails: true,
    type: "application/json",
    body: '{"errors":[{"message":"AiError: 3040","code":3040}],"success":false,"result":{},"messages":[]}',
  },
  {
    name: "MiniMax, an error",
    fails: true,
    type: "application/json",
    body: '{"id":"x","choices":null,"created":0,"model":"","object":"","usage":{"total_tokens":0},"base_resp":{"status_code":1002,"status_msg":"rate limit"}}',
  },
  {
    name: "New API, an error",
    fails: true,
    type: "application/json",
    body: '{"error":{"message":"","type":"new_api_error","param":"","code":"x"}}',
  },
]
