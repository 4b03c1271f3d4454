import { describe, expect, test } from "vitest"
import { ANTHROPIC_HEADERS, toMessagesBody } from "../../../src/formats/messages/upstream/to-body.ts"
import type { UpstreamFields } from "../../../src/formats/upstream.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import type { Json } from "./recorded.ts"

const OUTGOING = { upstreamId: "claude-sonnet-4-5", maxCompletionTokens: undefined, pseudonym: undefined }

function bodyOf(fields: Json, outgoing: Partial<UpstreamFields> = {}) {
  const messages = [{ role: "user", content: "Hi" }]
  const request = ChatRequest.parse({ model: "anthropic/claude", messages, ...fields })
  return toMessagesBody(request, { ...OUTGOING, ...outgoing })
}
const turnsOf = (messages: unknown[], fields: Json = {}) => bodyOf({ messages, ...fields })["messages"]
const userBlocks = (content: unknown) => (turnsOf([{ role: "user", content }]) as { content: unknown }[])[0]?.content

describe("a Messages body", () => {
  test("of a minimal request", () => {
    expect(bodyOf({})).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 32_000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      stream: false,
    })
    expect(ANTHROPIC_HEADERS).toEqual({ "anthropic-version": "2023-06-01" })
  })

  test("has no gateway field and no field that the format lacks", () => {
    const body = bodyOf(
      {
        models: ["a/b"],
        provider: { sort: "price" },
        plugins: [{ id: "web" }],
        route: "fallback",
        session_id: "s",
        metadata: { a: "b" },
        trace: { trace_id: "t" },
        user: "ada@example.org",
        usage: { include: true },
        stream_options: { include_usage: true },
        n: 2,
        seed: 1,
        logprobs: true,
        top_logprobs: 2,
        frequency_penalty: 1,
        presence_penalty: 1,
        logit_bias: { 1: 1 },
        min_p: 0.1,
        something: "else",
      },
      { pseudonym: "u_1" },
    )
    expect(Object.keys(body)).toEqual(["model", "max_tokens", "messages", "metadata", "stream"])
    expect(body["metadata"]).toEqual({ user_id: "u_1" })
  })

  test.each([
    ["the default of a model", {}, {}, 32_000],
    ["the default of an old model", {}, { upstreamId: "claude-3-haiku-20240307" }, 4_096],
    ["the default of an unknown model", {}, { upstreamId: "glm-5" }, 8_192],
    ["the requested limit", { max_tokens: 10 }, {}, 10],
    ["the requested limit, by its newer name", { max_completion_tokens: 9, max_tokens: 10 }, {}, 9],
    ["what the balance pays for", { max_tokens: 10 }, { maxCompletionTokens: 5 }, 5],
    ["the requested limit, if the balance pays for more", { max_tokens: 10 }, { maxCompletionTokens: 50 }, 10],
    ["the limit of the balance only", {}, { maxCompletionTokens: 50 }, 50],
    ["space for the response if only a budget is set", { reasoning: { max_tokens: 40_000 } }, {}, 44_096],
  ] as [string, Json, Json, number][])("limits the output to %s", (_, fields, outgoing, limit) => {
    expect(bodyOf(fields, outgoing)["max_tokens"]).toBe(limit)
  })

  test.each([
    ["temperature", { temperature: 0.5 }, { temperature: 0.5 }],
    ["temperature above 1", { temperature: 1.7 }, { temperature: 1 }],
    ["top_p", { top_p: 0.5 }, { top_p: 0.5 }],
    ["top_k", { top_k: 5 }, { top_k: 5 }],
    ["no limit for top_k", { top_k: -1 }, {}],
    ["both, of which Claude accepts one", { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5 }],
    ["stop", { stop: "END" }, { stop_sequences: ["END"] }],
    ["stops", { stop: ["A", "", "B"] }, { stop_sequences: ["A", "B"] }],
    ["no stop sequence", { stop: [] }, {}],
    ["a tier", { service_tier: "auto" }, { service_tier: "auto" }],
    ["the default tier", { service_tier: "default" }, { service_tier: "standard_only" }],
    ["another tier", { service_tier: "flex" }, {}],
    ["verbosity without an effort", { verbosity: "low" }, {}],
  ] as [string, Json, Json][])("%s", (_, fields, expected) => {
    const { model: _m, max_tokens: _t, messages: _s, stream: _b, ...rest } = bodyOf(fields)
    expect(rest).toEqual(expected)
  })

  const mark = { type: "ephemeral" }
  test.each([
    [
      "the last block of the conversation",
      [{ role: "user", content: "Hi" }],
      [{ type: "text", text: "Hi", cache_control: mark }],
    ],
    [
      "a block that keeps its own breakpoint",
      [{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }] }],
      [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }],
    ],
  ] as [string, Json[], Json[]][])("with cache_control at the top level marks %s", (_, messages, content) => {
    const body = bodyOf({ cache_control: mark, messages })
    expect(body["messages"]).toEqual([{ role: "user", content }])
    expect(body).not.toHaveProperty("cache_control")
  })

  test("in explicit prompt cache mode marks only the blocks with a breakpoint", () => {
    const parts = [
      { type: "text", text: "One", prompt_cache_breakpoint: { mode: "explicit" } },
      { type: "text", text: "Two" },
    ]
    const body = bodyOf({
      cache_control: mark,
      prompt_cache_options: { mode: "explicit" },
      messages: [{ role: "user", content: parts }],
    })
    const content = [
      { type: "text", text: "One", cache_control: mark },
      { type: "text", text: "Two" },
    ]
    expect(body["messages"]).toEqual([{ role: "user", content }])
  })

  test("with cache_control at the top level and four client breakpoints adds none", () => {
    const content = ["a", "b", "c", "d", "e"].map((text, at) => ({
      type: "text",
      text,
      ...(at < 4 && { cache_control: mark }),
    }))
    const body = bodyOf({ cache_control: mark, messages: [{ role: "user", content }] })
    expect(body["messages"]).toEqual([{ role: "user", content }])
  })

  test("for an unknown model may have both a temperature and a top_p", () => {
    const body = bodyOf({ temperature: 0.5, top_p: 0.5 }, { upstreamId: "kimi-k3" })
    expect(body).toMatchObject({ temperature: 0.5, top_p: 0.5 })
  })

  test("for the newest models omits sampling parameters, which they reject", () => {
    const body = bodyOf({ temperature: 0.5, top_p: 0.5, top_k: 5, verbosity: "max" }, { upstreamId: "claude-opus-4-8" })
    expect(Object.keys(body)).toEqual(["model", "max_tokens", "messages", "output_config", "stream"])
    expect(body["output_config"]).toEqual({ effort: "max" })
  })
})

describe("instructions", () => {
  test("are moved to system from any position", () => {
    const body = bodyOf({
      messages: [
        { role: "system", content: "A" },
        { role: "user", content: "Hi" },
        { role: "developer", content: [{ type: "text", text: "B", cache_control: { type: "ephemeral" } }] },
        { role: "user", content: "there" },
        { role: "system", content: " " },
      ],
    })
    expect(body["system"]).toEqual([
      { type: "text", text: "A" },
      { type: "text", text: "B", cache_control: { type: "ephemeral" } },
    ])
    expect(body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "text", text: "there" },
        ],
      },
    ])
  })

  test("without other messages become the user message", () => {
    const body = bodyOf({ messages: [{ role: "system", content: "Say hi." }] })
    expect(body["system"]).toBeUndefined()
    expect(body["messages"]).toEqual([{ role: "user", content: [{ type: "text", text: "Say hi." }] }])
  })
})

describe("user content", () => {
  const pdf = "data:application/pdf;base64,JVBERi0="
  test.each([
    ["a text", { type: "text", text: "x" }, [{ type: "text", text: "x" }]],
    ["an empty text", { type: "text", text: "" }, []],
    ["a text of whitespace", { type: "text", text: " \n" }, []],
    [
      "an image in base64",
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } },
      [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
    ],
    [
      "an image with a common wrong media type",
      { type: "image_url", image_url: { url: "data:image/jpg;base64,AAAA" } },
      [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } }],
    ],
    [
      "an image by URL",
      { type: "image_url", image_url: { url: "https://e.org/a.png" }, cache_control: { type: "ephemeral", ttl: "1h" } },
      [
        {
          type: "image",
          source: { type: "url", url: "https://e.org/a.png" },
          cache_control: { type: "ephemeral", ttl: "1h" },
        },
      ],
    ],
    [
      "a PDF",
      { type: "file", file: { filename: "a.pdf", file_data: pdf } },
      [
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "a.pdf",
        },
      ],
    ],
    [
      "a document by URL",
      { type: "file", file: { file_data: "https://e.org/a.pdf" } },
      [{ type: "document", source: { type: "url", url: "https://e.org/a.pdf" } }],
    ],
    [
      "a text file",
      { type: "file", file: { file_data: "data:text/csv;base64,w6TDtg==" } },
      [{ type: "document", source: { type: "text", media_type: "text/plain", data: "äö" } }],
    ],
    [
      "a file that is an image",
      { type: "file", file: { file_data: "data:image/webp;base64,AAAA" } },
      [{ type: "image", source: { type: "base64", media_type: "image/webp", data: "AAAA" } }],
    ],
    [
      "a file that is stored",
      { type: "file", file: { file_id: "file_1" } },
      [{ type: "document", source: { type: "file", file_id: "file_1" } }],
    ],
  ])("%s", (_, part, blocks) => {
    const others = { type: "text", text: "and" }
    expect(userBlocks([part, others])).toEqual([...blocks, others])
  })

  test("cache breakpoints of chat become cache_control", () => {
    const part = { type: "text", text: "x", prompt_cache_breakpoint: { mode: "explicit" } }
    const messages = [{ role: "user", content: [part] }]
    const marked = (mark: Json) => [{ role: "user", content: [{ type: "text", text: "x", cache_control: mark }] }]
    expect(turnsOf(messages)).toEqual(marked({ type: "ephemeral" }))
    const options = { prompt_cache_options: { mode: "explicit", ttl: "1h" } }
    expect(turnsOf(messages, options)).toEqual(marked({ type: "ephemeral", ttl: "1h" }))
  })

  test.each([
    [
      { type: "input_audio", input_audio: { data: "", format: "wav" } },
      "messages[1].content[1].type: input_audio is not",
    ],
    [{ type: "video_url", video_url: { url: "https://e.org" } }, "messages[1].content[1].type: video_url is not"],
    [{ type: "image_url", image_url: { url: "ftp://e.org" } }, "messages[1].content[1].image_url.url: must be an http"],
    [{ type: "image_url", image_url: { url: "data:image/png,raw" } }, "messages[1].content[1].image_url.url: must be"],
    [{ type: "file", file: { file_data: "JVBERi0=" } }, "messages[1].content[1].file.file_data: must be"],
    [{ type: "file", file: {} }, "messages[1].content[1].file.file_data: must be"],
    [
      { type: "file", file: { file_data: "data:text/plain;base64,*" } },
      "messages[1].content[1].file.file_data: is not valid base64",
    ],
  ])("%j is rejected with its path", (part, message) => {
    const messages = [
      { role: "system", content: "S" },
      { role: "user", content: [{ type: "text", text: "x" }, part] },
    ]
    expect(() => bodyOf({ messages })).toThrow(message)
    expect(() => bodyOf({ messages })).toThrow(expect.objectContaining({ code: "invalid_request", status: 400 }))
  })
})

describe("a conversation", () => {
  const calls = [
    { id: "call_1", type: "function", function: { name: "f", arguments: '{"x":1}' } },
    { id: "functions.g:0", type: "function", function: { name: "g", arguments: "" } },
  ]

  test("puts tool results into one turn, before the user's text", () => {
    const messages = [
      { role: "user", content: "Go" },
      { role: "assistant", content: "I go.", tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: "one" },
      {
        role: "tool",
        tool_call_id: "functions.g:0",
        content: [
          { type: "text", text: "two" },
          { type: "image_url", image_url: { url: "https://e.org/a.png" }, cache_control: { type: "ephemeral" } },
        ],
      },
      { role: "user", content: "And?" },
      { role: "tool", tool_call_id: "call_3", content: "" },
    ]
    expect(turnsOf(messages)).toEqual([
      { role: "user", content: [{ type: "text", text: "Go" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I go." },
          { type: "tool_use", id: "call_1", name: "f", input: { x: 1 } },
          { type: "tool_use", id: "functions_g_0", name: "g", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "one" },
          {
            type: "tool_result",
            tool_use_id: "functions_g_0",
            content: [
              { type: "text", text: "two" },
              { type: "image", source: { type: "url", url: "https://e.org/a.png" } },
            ],
            cache_control: { type: "ephemeral" },
          },
          { type: "tool_result", tool_use_id: "call_3" },
          { type: "text", text: "And?" },
        ],
      },
    ])
  })

  test.each([
    ["{", "messages[0].tool_calls[0].function.arguments: must be JSON"],
    ["[1]", "messages[0].tool_calls[0].function.arguments: must be a JSON object"],
  ])("with tool arguments %s is rejected with their path", (encoded, message) => {
    const call = { id: "a", function: { name: "f", arguments: encoded } }
    expect(() => bodyOf({ messages: [{ role: "assistant", tool_calls: [call] }] })).toThrow(message)
  })

  test("merges consecutive messages of one role and drops empty ones", () => {
    const messages = [
      { role: "user", content: "A" },
      { role: "assistant", content: "" },
      { role: "user", content: [{ type: "text", text: "B" }] },
      { role: "assistant", content: "C" },
      { role: "assistant", content: [{ type: "refusal", refusal: "D" }], refusal: "E \n" },
    ]
    expect(turnsOf(messages)).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "A" },
          { type: "text", text: "B" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "C" },
          { type: "text", text: "D" },
          { type: "text", text: "E" },
        ],
      },
    ])
  })

  test("with an image in an assistant message is rejected", () => {
    const content = [{ type: "image_url", image_url: { url: "https://e.org/a.png" } }]
    expect(() => bodyOf({ messages: [{ role: "assistant", content }] })).toThrow(
      "messages[0].content[0].type: image_url is not supported here; use text.",
    )
  })
})

describe("earlier reasoning", () => {
  const format = "anthropic-claude-v1"
  const blocksOf = (details: Json[], fields: Json = {}, more: Json = {}) => {
    const turns = turnsOf(
      [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "So.", reasoning_details: details, ...more },
        { role: "user", content: "Go on" },
      ],
      fields,
    ) as { content: Json[] }[]
    return turns[1]?.content.slice(0, -1)
  }

  test.each([
    ["signed", [{ type: "reasoning.text", text: "Hm.", signature: "s", format }], [["Hm.", "s"]]],
    ["signed, without a format", [{ type: "reasoning.text", text: "Hm.", signature: "s" }], [["Hm.", "s"]]],
    [
      "in pieces of a stream",
      [
        { type: "reasoning.text", text: "H", format, index: 0 },
        { type: "reasoning.text", text: "m.", format, index: 0 },
        { type: "reasoning.text", signature: "s", format, index: 0 },
        { type: "reasoning.text", signature: "t", format, index: 1 },
      ],
      [
        ["Hm.", "s"],
        ["", "t"],
      ],
    ],
    [
      "signed individually, without an index",
      [
        { type: "reasoning.text", text: "A", signature: "a" },
        { type: "reasoning.text", text: "B", signature: "b" },
      ],
      [
        ["A", "a"],
        ["B", "b"],
      ],
    ],
    ["unsigned", [{ type: "reasoning.text", text: "Hm.", format }], []],
    [
      "signed by another provider",
      [{ type: "reasoning.text", text: "Hm.", signature: "s", format: "google-gemini-v1" }],
      [],
    ],
    ["as a summary", [{ type: "reasoning.summary", summary: "Hm.", format }], []],
    ["encrypted by another provider", [{ type: "reasoning.encrypted", data: "d", format: "openai-responses-v1" }], []],
  ] as [string, Json[], [string, string][]][])("%s", (_, details, blocks) => {
    expect(blocksOf(details)).toEqual(
      blocks.map(([thinking, signature]) => ({ type: "thinking", thinking, signature })),
    )
  })

  test("that is encrypted becomes redacted_thinking", () => {
    const details = [{ type: "reasoning.encrypted", data: "d", format }]
    expect(blocksOf(details)).toEqual([{ type: "redacted_thinking", data: "d" }])
  })

  test("comes before text and tool calls, in its order", () => {
    const details = [
      { type: "reasoning.text", text: "A", signature: "a", index: 0 },
      { type: "reasoning.encrypted", data: "d", index: 1 },
      { type: "reasoning.text", text: "B", signature: "b", index: 2 },
    ]
    const call = { id: "c", function: { name: "f", arguments: "{}" } }
    const types = blocksOf(details, {}, { tool_calls: [call] })?.map(({ type }) => type)
    expect(types).toEqual(["thinking", "redacted_thinking", "thinking", "text"])
  })

  test("keeps a web search while its tool is offered", () => {
    const search = { type: "web_search_20250305", name: "web_search" }
    const detail = {
      type: "reasoning.server_tool_call",
      tool_name: "web_search",
      tool_call_id: "srv_1",
      arguments: '{"query":"x"}',
      result: '[{"type":"web_search_result"}]',
      format,
    }
    expect(blocksOf([detail])).toEqual([])
    expect(blocksOf([{ ...detail, result: "" }], { tools: [search] })).toEqual([])
    expect(blocksOf([detail], { tools: [search] })).toEqual([
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
      { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result" }] },
    ])
  })
})

describe("tools", () => {
  const f = {
    type: "function",
    function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
  }
  const g = { type: "function", function: { name: "g", strict: null }, cache_control: { type: "ephemeral" } }
  const search = { type: "web_search_20250305", name: "web_search", max_uses: 2 }

  test("of the client are translated, and tools of the format pass through", () => {
    expect(bodyOf({ tools: [f, g, search] })["tools"]).toEqual([
      { name: "f", description: "d", input_schema: { type: "object" }, strict: true },
      { name: "g", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } },
      search,
    ])
  })

  test("of the gateway are rejected here", () => {
    expect(() => bodyOf({ tools: [f, { type: "openrouter:datetime" }] })).toThrow("tools[1].type: openrouter:datetime")
  })

  test.each([
    ["nothing", {}, undefined],
    ["auto", { tool_choice: "auto" }, { type: "auto" }],
    ["none", { tool_choice: "none", parallel_tool_calls: false }, { type: "none" }],
    ["required", { tool_choice: "required" }, { type: "any" }],
    ["one", { tool_choice: { type: "function", function: { name: "f" } } }, { type: "tool", name: "f" }],
    [
      "a tool of the messages format",
      { tool_choice: { type: "web_search_20250305" } },
      { type: "tool", name: "web_search" },
    ],
    ["not parallel", { parallel_tool_calls: false }, { type: "auto", disable_parallel_tool_use: true }],
    ["together", { parallel_tool_calls: true }, undefined],
    [
      "required, not parallel",
      { tool_choice: "required", parallel_tool_calls: false },
      { type: "any", disable_parallel_tool_use: true },
    ],
  ] as [string, Json, unknown][])("choice: %s", (_, fields, choice) => {
    expect(bodyOf({ tools: [f, search], ...fields })["tool_choice"]).toEqual(choice)
  })

  test("outside allowed_tools are dropped", () => {
    const allowed = { mode: "required", tools: [{ type: "function", function: { name: "g" } }] }
    const body = bodyOf({ tools: [f, g, search], tool_choice: { type: "allowed_tools", allowed_tools: allowed } })
    expect(body).toMatchObject({ tools: [{ name: "g" }], tool_choice: { type: "any" } })
  })

  test("reject a choice of a missing tool and ignore a choice without tools", () => {
    expect(() => bodyOf({ tools: [f], tool_choice: { type: "web_fetch" } })).toThrow("tool_choice: must be")
    expect(bodyOf({ tool_choice: "auto" })["tool_choice"]).toBeUndefined()
  })
})

describe("thinking", () => {
  const of = (fields: Json, upstreamId = "claude-sonnet-4-5", outgoing: Json = {}) => {
    const { thinking, output_config: config, max_tokens: limit } = bodyOf(fields, { upstreamId, ...outgoing })
    return { thinking, config, limit }
  }
  const enabled = (tokens: number) => ({ type: "enabled", budget_tokens: tokens })

  test.each([
    ["minimal", 1_024],
    ["low", 2_000],
    ["medium", 5_000],
    ["high", 8_000],
    ["xhigh", 9_500],
    ["max", 9_500],
  ])("budget of effort %s is a share of the limit, at least 1,024 tokens", (effort, tokens) => {
    const expected = { thinking: enabled(tokens), config: undefined, limit: 10_000 }
    expect(of({ max_tokens: 10_000, reasoning_effort: effort })).toEqual(expected)
    expect(of({ max_tokens: 10_000, reasoning: { effort } })).toEqual(expected)
  })

  test.each([
    ["nothing was requested", {}, undefined],
    ["only a summary was requested", { reasoning: { summary: "auto" } }, undefined],
    ["no effort", { reasoning_effort: "none" }, { type: "disabled" }],
    ["turned off", { reasoning: { enabled: false } }, { type: "disabled" }],
    ["turned on", { max_tokens: 10_000, reasoning: { enabled: true } }, enabled(5_000)],
    ["a budget", { max_tokens: 10_000, reasoning: { max_tokens: 3_000 } }, enabled(3_000)],
    ["a budget that is too small", { max_tokens: 10_000, reasoning: { max_tokens: 100 } }, enabled(1_024)],
    ["a budget above the limit", { max_tokens: 10_000, reasoning: { max_tokens: 10_000 } }, enabled(9_500)],
    ["a limit that is too small for it", { max_tokens: 1_024, reasoning_effort: "high" }, undefined],
  ] as [string, Json, unknown][])("%s", (_, fields, thinking) => {
    expect(of(fields).thinking).toEqual(thinking)
  })

  test("budget stays below the output that the credit pays for", () => {
    expect(of({ reasoning_effort: "max" }, undefined, { maxCompletionTokens: 2_000 }).thinking).toEqual(enabled(1_900))
  })

  test.each([
    ["by effort", { reasoning_effort: "low" }, "adaptive", { effort: "low" }],
    ["by the minimum effort", { reasoning_effort: "minimal" }, "adaptive", { effort: "low" }],
    ["by an unknown effort", { reasoning_effort: "xhigh" }, "adaptive", { effort: "high" }],
    ["adaptive", { reasoning: { enabled: true } }, "adaptive", undefined],
    ["by a budget", { reasoning: { max_tokens: 2_000 } }, "enabled", undefined],
  ] as [string, Json, string, unknown][])("of a model that takes budget or effort: %s", (_, fields, type, config) => {
    expect(of(fields, "claude-opus-4-6")).toMatchObject({ thinking: { type }, config })
  })

  test("of the newest models is set by effort alone and summarized unless excluded", () => {
    const adaptive = (display: string) => ({ type: "adaptive", display })
    expect(of({ reasoning: { max_tokens: 2_000 } }, "claude-opus-4-7").thinking).toEqual(adaptive("summarized"))
    const hidden = { reasoning: { effort: "xhigh", exclude: true } }
    expect(of(hidden, "anthropic.claude-opus-5-v1:0")).toMatchObject({
      thinking: adaptive("omitted"),
      config: { effort: "xhigh" },
    })
  })

  test("that a model cannot turn off is set to low effort", () => {
    expect(of({ reasoning_effort: "none" }, "claude-sonnet-5")).toMatchObject({ thinking: { type: "disabled" } })
    expect(of({ reasoning_effort: "none" }, "claude-sonnet-5-5")).toMatchObject({
      thinking: undefined,
      config: { effort: "low" },
    })
  })

  test("removes temperature and top_k, and keeps top_p only near 1", () => {
    const sampling = { temperature: 0.5, top_k: 5, reasoning_effort: "low" }
    expect(bodyOf(sampling)).not.toHaveProperty("temperature")
    expect(bodyOf(sampling)).not.toHaveProperty("top_k")
    expect(bodyOf({ top_p: 0.5, reasoning_effort: "low" })).not.toHaveProperty("top_p")
    expect(bodyOf({ top_p: 0.97, reasoning_effort: "low" })).toMatchObject({ top_p: 0.97 })
    expect(bodyOf({ temperature: 0.5, reasoning_effort: "none" })).toMatchObject({ temperature: 0.5 })
  })

  test("by budget is omitted when a tool call is required", () => {
    const tools = [{ type: "function", function: { name: "f" } }]
    const fields = { tools, tool_choice: "required", reasoning_effort: "low", temperature: 0.5 }
    expect(bodyOf(fields)).not.toHaveProperty("thinking")
    expect(bodyOf(fields)).toMatchObject({ temperature: 0.5, tool_choice: { type: "any" } })
    expect(bodyOf(fields, { upstreamId: "claude-opus-4-7" })).toHaveProperty("thinking")
  })

  test("is not started between a tool call and its result", () => {
    const call = { id: "a", function: { name: "f", arguments: "{}" } }
    const conversation = (further: Json) => [
      { role: "user", content: "Hi" },
      { role: "assistant", tool_calls: [call], ...further },
      { role: "tool", tool_call_id: "a", content: "x" },
    ]
    const foreign = {
      reasoning_details: [{ type: "reasoning.text", text: "t", signature: "s", format: "google-gemini-v1" }],
    }
    const signed = { reasoning_details: [{ type: "reasoning.text", text: "t", signature: "s" }] }
    expect(bodyOf({ messages: conversation({}), reasoning_effort: "low" })).not.toHaveProperty("thinking")
    expect(bodyOf({ messages: conversation(foreign), reasoning_effort: "low" })).not.toHaveProperty("thinking")
    expect(bodyOf({ messages: conversation(signed), reasoning_effort: "low" })).toHaveProperty("thinking")
    const later = [...conversation({}), { role: "assistant", content: "So." }, { role: "user", content: "And?" }]
    expect(bodyOf({ messages: later, reasoning_effort: "low" })).toHaveProperty("thinking")
  })
})

describe("response_format", () => {
  test("with a schema closes its objects", () => {
    const schema = {
      type: "object",
      properties: {
        items: { type: "array", items: { type: "object", properties: { properties: { type: "string" } } } },
        open: { type: "object", properties: {}, additionalProperties: true },
        kind: { enum: [{ type: "object", properties: {} }] },
        one: { anyOf: [{ type: "object", properties: {} }, { type: "null" }] },
      },
    }
    const json_schema = { name: "n", schema }
    const closed = { additionalProperties: false }
    expect(bodyOf({ response_format: { type: "json_schema", json_schema } })["output_config"]).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            items: { type: "array", items: { ...schema.properties.items.items, ...closed } },
            open: schema.properties.open,
            kind: schema.properties.kind,
            one: { anyOf: [{ type: "object", properties: {}, ...closed }, { type: "null" }] },
          },
          ...closed,
        },
      },
    })
  })

  test.each([[{ type: "json_object" }], [{ type: "json_schema", json_schema: { name: "n" } }]])(
    "without a schema is added to the system instructions: %j",
    (format) => {
      const messages = [
        { role: "system", content: "S" },
        { role: "user", content: "Hi" },
      ]
      const body = bodyOf({ messages, response_format: format })
      expect(body["system"]).toMatchObject([{ text: "S" }, { text: expect.stringContaining("valid JSON object") }])
      expect(body).not.toHaveProperty("output_config")
    },
  )

  test("text sends no format, and grammar is rejected", () => {
    expect(bodyOf({ response_format: { type: "text" } })).not.toHaveProperty("output_config")
    expect(() => bodyOf({ response_format: { type: "grammar", grammar: "g" } })).toThrow(
      "response_format.type: grammar",
    )
  })
})
