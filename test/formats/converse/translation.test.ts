import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toConverseBody, toConverseConversation } from "../../../src/formats/converse/to-body.ts"
import { asConverse } from "../../../src/formats/readers/as-converse.ts"
import { concat } from "../../../src/support/bytes.ts"
import { dataOf, framesOf, parseData } from "../../../src/formats/sse/frames.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { converseEvent, converseException } from "../../support/event-stream.ts"

const CLAUDE = "us.anthropic.claude-sonnet-4-20250514-v1:0"
const NOVA = "amazon.nova-pro-v1:0"
const LLAMA = "meta.llama3-3-70b-instruct-v1:0"

function request(fields: Record<string, unknown>): ChatRequest {
  return ChatRequest.parse({ model: "m", messages: [{ role: "user", content: "Hello" }], ...fields })
}

function bodyOf(fields: Record<string, unknown>, upstreamId = CLAUDE) {
  const chat = request(fields)
  const outgoing = { upstreamId, maxCompletionTokens: undefined, pseudonym: undefined }
  return toConverseBody(chat, outgoing, toConverseConversation(chat))
}

const TOOL = {
  type: "function",
  function: { name: "weather", description: "Tells it.", parameters: { type: "object", properties: {} } },
}
const CALL = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Bonn"}' } }

describe("a chat request translated to Converse", () => {
  test("maps system messages, turns and output limits", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ]
    expect(bodyOf({ messages, max_tokens: 100, temperature: 0.5, stop: ["END"] }, NOVA)).toEqual({
      system: [{ text: "Be brief." }],
      messages: [{ role: "user", content: [{ text: "Hello" }] }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
    })
  })

  test("sets no output limit for a model that has a default", () => {
    expect(bodyOf({}, LLAMA)).toMatchObject({ inferenceConfig: {} })
    expect(bodyOf({}, LLAMA)["inferenceConfig"]).not.toHaveProperty("maxTokens")
    expect(bodyOf({})).toMatchObject({ inferenceConfig: { maxTokens: 32_000 } })
  })

  test("maps tools, tool choice, tool calls and tool results", () => {
    const messages = [
      { role: "user", content: "Weather in Bonn?" },
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "call_1", content: "Sunny" },
    ]
    expect(bodyOf({ messages, tools: [TOOL], tool_choice: "required" })).toMatchObject({
      messages: [
        { role: "user", content: [{ text: "Weather in Bonn?" }] },
        {
          role: "assistant",
          content: [{ toolUse: { toolUseId: "call_1", name: "weather", input: { city: "Bonn" } } }],
        },
        { role: "user", content: [{ toolResult: { toolUseId: "call_1", content: [{ text: "Sunny" }] } }] },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "weather",
              description: "Tells it.",
              inputSchema: { json: { type: "object", properties: {} } },
            },
          },
        ],
        toolChoice: { any: {} },
      },
    })
    const named = bodyOf({ tools: [TOOL], tool_choice: { type: "function", function: { name: "weather" } } })
    expect(named).toMatchObject({ toolConfig: { toolChoice: { tool: { name: "weather" } } } })
  })

  test("omits tools when tool_choice is none, unless the conversation used them", () => {
    expect(bodyOf({ tools: [TOOL], tool_choice: "none" })).not.toHaveProperty("toolConfig")
    const messages = [
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "call_1", content: "Sunny" },
    ]
    expect(bodyOf({ messages, tools: [TOOL], tool_choice: "none" })).toHaveProperty("toolConfig")
  })

  test("defines the tools that the conversation used if the request has none, as Converse requires", () => {
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls: [CALL, { ...CALL, id: "call_2" }] },
      { role: "tool", tool_call_id: "call_1", content: "1" },
      { role: "tool", tool_call_id: "call_2", content: "2" },
      { role: "user", content: "Summarize" },
    ]
    const inputSchema = { json: { type: "object", properties: {} } }
    expect(bodyOf({ messages })["toolConfig"]).toEqual({ tools: [{ toolSpec: { name: "weather", inputSchema } }] })
    expect(bodyOf({})).not.toHaveProperty("toolConfig")
  })

  test("inlines images and documents", () => {
    const content = [
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } },
      { type: "file", file: { filename: "a_b.pdf", file_data: "data:application/pdf;base64,JVBE" } },
      { type: "file", file: { filename: "a_b.pdf", file_data: "data:application/pdf;base64,JVBE" } },
      { type: "file", file: { file_data: "data:text/plain;base64,aGk=" } },
    ]
    expect(bodyOf({ messages: [{ role: "user", content }] })).toMatchObject({
      messages: [
        {
          content: [
            { image: { format: "png", source: { bytes: "iVBO" } } },
            { document: { format: "pdf", name: "a-b", source: { bytes: "JVBE" } } },
            { document: { format: "pdf", name: "a-b (2)", source: { bytes: "JVBE" } } },
            { document: { format: "txt", name: "document", source: { bytes: "aGk=" } } },
          ],
        },
      ],
    })
  })

  test("with an image URL is rejected with an error that names data: URLs", () => {
    const content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]
    expect(() => bodyOf({ messages: [{ role: "user", content }] })).toThrow(/must be data: URLs in base64/)
  })

  test("maps cache points for models that support them and drops them for others", () => {
    const content = [{ type: "text", text: "Long", cache_control: { type: "ephemeral", ttl: "1h" } }]
    const chat = { messages: [{ role: "user", content }] }
    const marked = { messages: [{ content: [{ text: "Long" }, { cachePoint: { type: "default", ttl: "1h" } }] }] }
    expect(bodyOf(chat)).toMatchObject(marked)
    expect(bodyOf(chat, LLAMA)).toMatchObject({ messages: [{ content: [{ text: "Long" }] }] })
  })

  test("passes reasoning effort and earlier reasoning to Claude in its native fields", () => {
    const details = [{ type: "reasoning.text", text: "Hm.", signature: "sig", format: "anthropic-claude-v1" }]
    const messages = [
      { role: "user", content: "Weather in Bonn?" },
      { role: "assistant", content: null, tool_calls: [CALL], reasoning_details: details },
      { role: "tool", tool_call_id: "call_1", content: "Sunny" },
    ]
    const body = bodyOf({ messages, tools: [TOOL], reasoning: { max_tokens: 2_000 }, max_tokens: 4_000 })
    expect(body).toMatchObject({
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2_000 } },
      messages: [
        {},
        { content: [{ reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } }, { toolUse: {} }] },
        {},
      ],
    })
    expect(bodyOf({ reasoning: { effort: "low" } }, LLAMA)).not.toHaveProperty("additionalModelRequestFields")
    const effort = { additionalModelRequestFields: { reasoning_effort: "low" } }
    expect(bodyOf({ reasoning: { effort: "low" } }, "openai.gpt-oss-120b-1:0")).toMatchObject(effort)
  })

  test("maps the response schema and the service tier", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } }
    const format = { type: "json_schema", json_schema: { name: "answer", schema } }
    expect(bodyOf({ response_format: format, service_tier: "priority" })).toMatchObject({
      outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema: { name: "answer" } } } },
      serviceTier: { type: "priority" },
    })
  })
})

function upstream(stream: boolean) {
  const chat = request({ stream })
  return asConverse(
    chat,
    { upstreamId: CLAUDE, maxCompletionTokens: undefined, pseudonym: undefined },
    toConverseConversation(chat),
  )
}

/** The chat chunks of a stream and its metered usage. */
async function chunksOf(frames: readonly Uint8Array[], sizes: readonly number[] = [4_096]) {
  const { decode, translate, counted } = upstream(true)
  const bytes = concat(frames)
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0, turn = 0; at < bytes.byteLength; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        controller.enqueue(bytes.slice(at, at + size))
        at += size
      }
      controller.close()
    },
  })
  const read = new Uint8Array(await new Response(decode?.body(source)).arrayBuffer())
  const toChat = translate?.stream()
  const items = framesOf(read).flatMap((frame) => toChat?.(frame) ?? [])
  const chunks = items.map((item) =>
    item instanceof Uint8Array ? (parseData(dataOf(item) ?? "") ?? dataOf(item)) : item,
  )
  return { chunks, counted: counted?.() }
}

const ANSWER = [
  converseEvent("messageStart", { role: "assistant", p: "abc" }),
  converseEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "Hm." } } }),
  converseEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "sig" } } }),
  converseEvent("contentBlockStop", { contentBlockIndex: 0 }),
  converseEvent("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Hello" } }),
  converseEvent("contentBlockStop", { contentBlockIndex: 1 }),
  converseEvent("contentBlockStart", {
    contentBlockIndex: 2,
    start: { toolUse: { toolUseId: "t1", name: "weather" } },
  }),
  converseEvent("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '{"city":' } } }),
  converseEvent("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '"Bonn"}' } } }),
  converseEvent("contentBlockStop", { contentBlockIndex: 2 }),
  converseEvent("messageStop", { stopReason: "tool_use" }),
  converseEvent("metadata", {
    usage: {
      inputTokens: 10,
      outputTokens: 20,
      totalTokens: 137,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 7,
      cacheDetails: [{ ttl: "1h", inputTokens: 7 }],
    },
    metrics: { latencyMs: 1 },
  }),
]
const USAGE = {
  prompt_tokens: 117,
  completion_tokens: 20,
  total_tokens: 137,
  prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 7, cache_write_1h_tokens: 7 },
}

describe("a Converse response translated to chat", () => {
  test("streams reasoning, text and tool calls and ends with the usage", async () => {
    const { chunks, counted } = await chunksOf(ANSWER)
    expect(chunks).toMatchObject([
      { choices: [{ delta: { role: "assistant" } }] },
      { choices: [{ delta: { reasoning: "Hm." } }] },
      { choices: [{ delta: { reasoning_details: [{ signature: "sig" }] } }] },
      { choices: [{ delta: { content: "Hello" } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, id: "t1", function: { name: "weather", arguments: "" } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"Bonn"}' } }] } }] },
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      { choices: [], usage: USAGE },
      "[DONE]",
    ])
    expect(counted).toEqual(USAGE)
  })

  test("is independent of where its bytes are split", async () => {
    const expected = await chunksOf(ANSWER)
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    const created = (list: unknown[]) => JSON.stringify(list).replaceAll(/"created":\d+/g, "")
    await fc.assert(
      fc.asyncProperty(sizes, async (cuts) => {
        expect(created((await chunksOf(ANSWER, cuts)).chunks)).toBe(created(expected.chunks))
      }),
    )
  })

  test("is a JSON document with the same content and usage when not streamed", () => {
    const { document } = upstream(false).translate ?? {}
    const content = [
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
      { text: "Hello" },
      { toolUse: { toolUseId: "t1", name: "weather", input: { city: "Bonn" } } },
    ]
    const result = document?.({
      output: { message: { role: "assistant", content } },
      stopReason: "tool_use",
      usage: {
        inputTokens: 10,
        outputTokens: 20,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 7,
        cacheDetails: [{ ttl: "1h", inputTokens: 7 }],
      },
    })
    expect(result).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "Hello",
            reasoning: "Hm.",
            tool_calls: [{ id: "t1", function: { name: "weather", arguments: '{"city":"Bonn"}' } }],
          },
        },
      ],
      usage: USAGE,
    })
  })

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["guardrail_intervened", "content_filter"],
    ["content_filtered", "content_filter"],
    ["malformed_tool_use", "error"],
  ])("with stop reason %s has finish reason %s", async (stopReason, finishReason) => {
    const { chunks } = await chunksOf([
      converseEvent("messageStart", { role: "assistant" }),
      converseEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "A" } }),
      converseEvent("messageStop", { stopReason }),
    ])
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: finishReason, native_finish_reason: stopReason }],
    })
  })

  test.each([
    ["throttlingException", 429],
    ["validationException", 400],
    ["serviceUnavailableException", 529],
    ["modelTimeoutException", 504],
    ["internalServerException", 500],
    ["modelStreamErrorException", 500],
  ])("with exception %s ends with an error of status %i", async (type, code) => {
    const { chunks } = await chunksOf([
      converseEvent("messageStart", { role: "assistant" }),
      converseException(type, "Words of the provider."),
    ])
    expect(chunks.at(-1)).toMatchObject({ error: { message: "Words of the provider.", code } })
  })

  test("keeps redacted reasoning unchanged", async () => {
    const { chunks } = await chunksOf([
      converseEvent("messageStart", { role: "assistant" }),
      converseEvent("contentBlockDelta", {
        contentBlockIndex: 0,
        delta: { reasoningContent: { redactedContent: "c2VjcmV0" } },
      }),
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: { reasoning_details: [{ data: "c2VjcmV0" }] } }] })
  })
})
