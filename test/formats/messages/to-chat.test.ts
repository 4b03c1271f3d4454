import { describe, expect, test } from "vitest"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../../src/formats/messages/to-chat.ts"
import { toMessagesBody } from "../../../src/formats/messages/upstream/to-body.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import type { Json } from "./recorded.ts"

const SMALLEST = { model: "maker/model", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }

function chatOf(fields: Json = {}): Json {
  const chat = toChatRequest(MessagesRequest.parse({ ...SMALLEST, ...fields }))
  expect(ChatRequest.safeParse(chat).error).toBeUndefined()
  return chat
}
const messagesOf = (messages: unknown[], fields: Json = {}) => chatOf({ messages, ...fields })["messages"]

describe("a Messages request translated to chat", () => {
  test("reports the tools that a search of the client has found, which are all sent", () => {
    const tool = (name: string, more: Json = {}) => ({ name, input_schema: { type: "object" }, ...more })
    const found = [{ type: "tool_reference", tool_name: "deploy" }]
    const chat = chatOf({
      tools: [tool("search"), tool("deploy", { defer_loading: true })],
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "search", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: found }] },
      ],
    })
    expect(chat["messages"]).toMatchObject([{}, {}, { role: "tool", content: "The tool deploy is available." }])
    expect(chat["tools"]).toMatchObject([{ function: { name: "search" } }, { function: { name: "deploy" } }])
  })

  test("at its smallest", () => {
    expect(chatOf()).toEqual({
      model: "maker/model",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi" }],
      stream: false,
    })
  })

  test("keeps the fields that both formats share, and unknown fields", () => {
    const shared = {
      models: ["a/b"],
      provider: { sort: "price" },
      plugins: [{ id: "web" }],
      route: "fallback",
      session_id: "s",
      trace: { trace_id: "t" },
      user: "ada",
      temperature: 0.5,
      top_p: 0.5,
      top_k: 5,
      cache_control: { type: "ephemeral" },
      stop_server_tools_when: [{ type: "step_count_is", step_count: 2 }],
      something: "else",
      stream: true,
    }
    expect(chatOf(shared)).toMatchObject(shared)
  })

  test.each([
    ["stop_sequences", { stop_sequences: ["A", "B"] }, { stop: ["A", "B"] }],
    ["a user", { metadata: { user_id: "u" } }, { user: "u" }],
    ["a user under both names", { metadata: { user_id: "u" }, user: "v" }, { user: "v" }],
    ["no user", { metadata: { user_id: null } }, {}],
    ["a tier", { service_tier: "auto" }, { service_tier: "auto" }],
    ["the standard tier", { service_tier: "standard_only" }, { service_tier: "default" }],
    [
      "a budget",
      { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
      { reasoning: { max_tokens: 2_000 } },
    ],
    ["adaptive thinking", { thinking: { type: "adaptive" } }, { reasoning: { enabled: true } }],
    [
      "no thinking",
      { thinking: { type: "disabled" }, output_config: { effort: "high" } },
      { reasoning: { effort: "none" } },
    ],
    ["a small thinking budget", { thinking: { type: "between_tools" } }, { reasoning: { effort: "minimal" } }],
    ["an effort", { output_config: { effort: "max" } }, { reasoning: { effort: "max" } }],
    [
      "adaptive thinking with an effort",
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
      { reasoning: { enabled: true, effort: "low" } },
    ],
    [
      "a format",
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", schema: { type: "object" }, strict: true },
        },
      },
    ],
    ["fields of Anthropic's service only", { context_management: { edits: [] }, speed: "fast", mcp_servers: [] }, {}],
  ] as [string, Json, Json][])("%s", (_, fields, expected) => {
    const { model: _m, messages: _s, max_tokens: _t, stream: _b, ...rest } = chatOf(fields)
    expect(rest).toEqual(expected)
  })

  test("maps client tools to functions and keeps the others", () => {
    const search = { type: "web_search_20260318", name: "web_search", max_uses: 3 }
    const chat = chatOf({
      tools: [
        {
          name: "f",
          description: "d",
          input_schema: { type: "object" },
          strict: true,
          cache_control: { type: "ephemeral" },
        },
        { type: "custom", name: "g", input_schema: { type: "object" }, defer_loading: true },
        search,
      ],
    })
    expect(chat["tools"]).toEqual([
      {
        type: "function",
        function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
        cache_control: { type: "ephemeral" },
      },
      { type: "function", function: { name: "g", parameters: { type: "object" } } },
      search,
    ])
  })

  test.each([
    [{ type: "auto" }, { tool_choice: "auto" }],
    [{ type: "any" }, { tool_choice: "required" }],
    [{ type: "none" }, { tool_choice: "none" }],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
    [
      { type: "auto", disable_parallel_tool_use: true },
      { tool_choice: "auto", parallel_tool_calls: false },
    ],
  ])("maps tool choice %j", (choice, expected) => {
    expect(chatOf({ tool_choice: choice })).toMatchObject(expected)
  })
})

describe("system", () => {
  const system = (instructions: unknown) =>
    (messagesOf(SMALLEST.messages, { system: instructions }) as Json[]).slice(0, -1)

  test.each([
    ["nothing", [], []],
    ["an empty text", "", []],
    ["text", "S", [{ role: "system", content: "S" }]],
    ["a block", [{ type: "text", text: "S" }], [{ role: "system", content: "S" }]],
    [
      "a cached block",
      [
        { type: "text", text: "S", cache_control: { type: "ephemeral", ttl: "1h" } },
        { type: "text", text: "T" },
      ],
      [
        {
          role: "system",
          content: [
            { type: "text", text: "S", cache_control: { type: "ephemeral", ttl: "1h" } },
            { type: "text", text: "T" },
          ],
        },
      ],
    ],
  ])("%s", (_, instructions, expected) => {
    expect(system(instructions)).toEqual(expected)
  })

  test("stays in the middle of the conversation", () => {
    const messages = [...SMALLEST.messages, { role: "system", content: "S" }]
    expect(messagesOf(messages)).toEqual(messages)
  })
})

describe("user content", () => {
  const mark = { cache_control: { type: "ephemeral" } }
  test.each([
    ["a text", { type: "text", text: "x", ...mark }, [{ type: "text", text: "x", ...mark }]],
    [
      "an image",
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, ...mark },
      [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" }, ...mark }],
    ],
    [
      "an image by URL",
      { type: "image", source: { type: "url", url: "https://e.org/a.png" } },
      [{ type: "image_url", image_url: { url: "https://e.org/a.png" } }],
    ],
    [
      "a stored image",
      { type: "image", source: { type: "file", file_id: "file_1" } },
      [{ type: "file", file: { file_id: "file_1" } }],
    ],
    [
      "a PDF",
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" }, title: "a.pdf" },
      [{ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } }],
    ],
    [
      "a document by URL, with context",
      { type: "document", source: { type: "url", url: "https://e.org/a.pdf" }, context: "Old.", ...mark },
      [
        { type: "text", text: "Old." },
        { type: "file", file: { file_data: "https://e.org/a.pdf" }, ...mark },
      ],
    ],
    [
      "a stored document",
      { type: "document", source: { type: "file", file_id: "file_1" } },
      [{ type: "file", file: { file_id: "file_1" } }],
    ],
    [
      "a text document",
      { type: "document", source: { type: "text", media_type: "text/plain", data: "W" }, title: "T", context: "C" },
      [{ type: "text", text: "T\nC\n\nW" }],
    ],
    [
      "a document of blocks",
      { type: "document", source: { type: "content", content: [{ type: "text", text: "W" }] }, title: "T" },
      [
        { type: "text", text: "T" },
        { type: "text", text: "W" },
      ],
    ],
    [
      "a search result",
      { type: "search_result", source: "https://e.org", title: "T", content: [{ type: "text", text: "W" }], ...mark },
      [{ type: "text", text: "T\nhttps://e.org\n\nW", ...mark }],
    ],
  ])("%s", (_, block, parts) => {
    const others = { type: "text", text: "and" }
    expect(messagesOf([{ role: "user", content: [block, others] }])).toEqual([
      { role: "user", content: [...parts, others] },
    ])
  })

  test("a block that chat lacks is rejected with its path", () => {
    const content = [
      { type: "text", text: "x" },
      { type: "container_upload", file_id: "f" },
    ]
    const refused = () => toChatRequest(MessagesRequest.parse({ ...SMALLEST, messages: [{ role: "user", content }] }))
    expect(refused).toThrow(
      "messages[0].content[1].type: container_upload is not supported here; a message of the user may have",
    )
  })

  test("tool results become separate messages, before the rest", () => {
    const content = [
      { type: "tool_result", tool_use_id: "a", content: "one" },
      { type: "text", text: "And?" },
      { type: "tool_result", tool_use_id: "b", content: "no", is_error: true },
      { type: "tool_result", tool_use_id: "c" },
      {
        type: "tool_result",
        tool_use_id: "d",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { type: "url", url: "https://e.org/a.png" } },
        ],
        cache_control: { type: "ephemeral" },
      },
    ]
    expect(messagesOf([{ role: "user", content }])).toEqual([
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "The tool failed:\nno" },
      { role: "tool", tool_call_id: "c", content: "" },
      {
        role: "tool",
        tool_call_id: "d",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "https://e.org/a.png" }, cache_control: { type: "ephemeral" } },
        ],
      },
      { role: "user", content: "And?" },
    ])
  })
})

describe("assistant content", () => {
  const format = "anthropic-claude-v1"

  test("thinking, text and tool calls become one message", () => {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "So" },
      { type: "text", text: "!" },
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
    ]
    expect(messagesOf([{ role: "assistant", content }])).toEqual([
      {
        role: "assistant",
        content: "So!",
        reasoning: "Hm.",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm.", signature: "s", format, index: 0 },
          { type: "reasoning.encrypted", data: "d", format, index: 1 },
        ],
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
      },
    ])
  })

  test.each([
    ["only tool calls", [{ type: "tool_use", id: "a", name: "f", input: {} }], { content: null }],
    ["only thinking", [{ type: "thinking", thinking: "Hm.", signature: "" }], { content: "", reasoning: "Hm." }],
    ["nothing", [], { content: "" }],
    [
      "a cached text",
      [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
      { content: [{ text: "x" }] },
    ],
  ])("%s", (_, content, message) => {
    expect(messagesOf([{ role: "assistant", content }])).toMatchObject([message])
  })

  test("a web search keeps its results", () => {
    const content = [
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
      { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result" }] },
      { type: "text", text: "So." },
    ]
    const [message] = messagesOf([{ role: "assistant", content }]) as Json[]
    expect(message?.["reasoning_details"]).toMatchObject([
      { tool_name: "web_search", arguments: '{"query":"x"}', result: '[{"type":"web_search_result"}]' },
    ])
  })

  test.each([[{ type: "tool_result", tool_use_id: "a" }], [{ type: "compaction", content: "c" }]])(
    "%j is rejected with its path",
    (block) => {
      const messages = [...SMALLEST.messages, { role: "assistant", content: [block] }]
      const refused = () => toChatRequest(MessagesRequest.parse({ ...SMALLEST, messages }))
      expect(refused).toThrow(`messages[1].content[0].type: ${block.type} is not supported here`)
    },
  )
})

test("a conversation translated to chat and back is sent as it arrived", () => {
  const search = { type: "web_search_20260318", name: "web_search" }
  const sent = {
    ...SMALLEST,
    max_tokens: 4_000,
    system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "document", source: { type: "url", url: "https://e.org/a.pdf" }, title: "a.pdf" },
          { type: "text", text: "Go", cache_control: { type: "ephemeral", ttl: "1h" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "s" },
          { type: "redacted_thinking", data: "d" },
          { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
          { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result" }] },
          { type: "text", text: "I go." },
          { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "one", cache_control: { type: "ephemeral" } },
          { type: "text", text: "And?" },
        ],
      },
    ],
    tools: [{ name: "f", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } }, search],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 2_000 },
    stop_sequences: ["END"],
    cache_control: { type: "ephemeral" },
    service_tier: "standard_only",
    stream: true,
  }
  const chat = toChatRequest(MessagesRequest.parse(sent))
  const body = toMessagesBody(chat, {
    upstreamId: "claude-sonnet-4-5",
    maxCompletionTokens: undefined,
    pseudonym: undefined,
  })
  const marked = { type: "tool_result", tool_use_id: "a", cache_control: { type: "ephemeral" } }
  const [first, second] = sent.messages
  // It already has the maximum of cache breakpoints, so the top-level cache_control adds none.
  const { cache_control: _, ...rest } = sent
  expect(body).toEqual({
    ...rest,
    model: "claude-sonnet-4-5",
    messages: [
      first,
      second,
      {
        role: "user",
        content: [
          { ...marked, content: [{ type: "text", text: "one" }] },
          { type: "text", text: "And?" },
        ],
      },
    ],
  })
})
