import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, good, mockProvider, type UpstreamRequest, sse, usageChunk } from "../../support/mock-provider.ts"
import { client, newWorkspace, openHolds, receiptOf, expectJson } from "../../support/world.ts"

/** Provider `claudish` uses the Messages format, `played` the chat format. */
type Json = Record<string, unknown>
type Failure = { type: string; error: { type: string; code: number; message: string } }

let stop = () => {}
afterEach(() => stop())

function mock(answer: (upstreamCalls: UpstreamRequest) => Response) {
  const provider = mockProvider(answer)
  ;({ stop } = provider)
  return provider
}

const HI = { max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }
const USAGE = { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 }
const MESSAGE = {
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "opus",
  content: [
    { type: "thinking", thinking: "hm", signature: "sig==" },
    { type: "text", text: "Hello" },
  ],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: USAGE,
}
const event = (type: string, fields: Json = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const STREAM = [
  event("message_start", {
    message: { ...MESSAGE, content: [], usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 1 } },
  }),
  event("ping"),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hello" } }),
  event("content_block_stop", { index: 0 }),
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } }),
  event("message_stop"),
]

async function read(answer: Promise<Response>) {
  const response = await answer
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const events = [...raw.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => JSON.parse(data ?? "") as Json & { type: string },
  )
  return { events, types: events.map(({ type }) => type), raw, response }
}

describe("POST /messages with a provider of the Messages format", () => {
  test("does not forward fields that choose another model, price or payer at the provider", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mock(() => Response.json(MESSAGE))
    const fields = {
      fallbacks: [{ model: "opus-max" }],
      speed: "fast",
      billing_policy: { type: "caller" },
      fallback_credit_token: "t",
      user_profile_id: "p",
      workspace_id: "w",
    }
    const others = { context_management: { edits: [] }, something: "else" }
    await expectJson(200, as.post("/messages", { model: "acme/opus-1", ...HI, ...fields, ...others }))
    const { body } = upstreamCalls[0] as UpstreamRequest
    for (const name of Object.keys(fields)) expect(body).not.toHaveProperty(name)
    expect(body).toMatchObject(others)
  })

  test("a thread is rejected with the code after which tool runners send the full conversation", async () => {
    const workspace = await newWorkspace()
    const body = { model: "claudish/opus", ...HI, thread: { type: "create" } }
    const { error } = await expectJson<Failure & Json>(400, workspace.as.post("/messages", body))
    expect(error).toMatchObject({ code: 400, message: expect.stringMatching(/^thread: /) as string })
    expect(error).toHaveProperty("details", { error_code: "thread_unsupported_request", unsupported: ["thread"] })
    const other = await expectJson<Failure>(400, workspace.as.post("/messages", { ...body, thread: null, top_k: "x" }))
    expect(other.error).not.toHaveProperty("details")
  })

  test("a compaction is done by a provider of the format, and rejected without one", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mock(() => Response.json(MESSAGE))
    const compaction = { type: "compact" }
    await expectJson(200, as.post("/messages", { model: "acme/opus-1", ...HI, compaction }))
    expect(upstreamCalls[0]?.body).toMatchObject({ compaction })
    const { error } = await expectJson<Failure>(400, as.post("/messages", { model: "played/m57", ...HI, compaction }))
    expect(error.message).toContain("compaction: needs a provider of this format")
    expect(upstreamCalls).toHaveLength(1)
  })

  test("forwards the request without the gateway's fields and returns the response with its cost", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mock(() => Response.json(MESSAGE))
    const system = [{ type: "text", text: "Be brief", cache_control: { type: "ephemeral" } }]
    const answer = await workspace.as.post(
      "/messages",
      {
        ...HI,
        model: "acme/opus-1",
        system,
        thinking: { type: "enabled", budget_tokens: 1_024 },
        max_tokens: 2_000,
        metadata: { user_id: "ada@example" },
        session_id: "s",
        top_k: 3,
      },
      { "anthropic-beta": "interleaved-thinking-2025-05-14", "x-secret": "no" },
    )
    const result = await expectJson<Json & { usage: Json }>(200, answer.clone())
    expect(result).toMatchObject({ id: "msg_up", content: MESSAGE.content, stop_reason: "end_turn" })
    // 12 + 8 prompt tokens at 1e-6, 5 completion tokens at 2e-6.
    expect(result.usage["cost"]).toBeCloseTo(30e-6, 9)
    const [{ url, body, headers }] = upstreamCalls as [UpstreamRequest]
    expect(url).toBe("http://claudish.test/v1/messages")
    expect(body).toMatchObject({
      model: "opus",
      system,
      max_tokens: 2_000,
      top_k: 3,
      thinking: { budget_tokens: 1_024 },
    })
    expect(JSON.stringify(body)).not.toContain("ada@example")
    for (const field of ["session_id", "provider", "betas"]) expect(body).not.toHaveProperty(field)
    expect(headers.get("x-api-key")).toBe("claudish-provider-key-0123456789")
    expect(headers.get("anthropic-version")).toBe("2023-06-01")
    expect(headers.get("anthropic-beta")).toBe("interleaved-thinking-2025-05-14")
    expect(headers.get("authorization")).toBeNull()
    expect(headers.get("x-secret")).toBeNull()
    const receipt = await receiptOf(workspace, answer)
    expect(receipt).toMatchObject({
      tokens_prompt: 20,
      tokens_completion: 5,
      native_tokens_cached: 8,
      finish_reason: "stop",
    })
  })

  test("relays the stream event by event and holds back the last two until the charge is known", async () => {
    const workspace = await newWorkspace()
    mock(() => sse(STREAM))
    const { events, types, raw, response } = await read(
      workspace.as.post("/messages", { ...HI, model: "acme/opus-1", stream: true }),
    )
    expect(types).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ])
    expect(raw).not.toContain("[DONE]")
    expect(events.at(-2)).toMatchObject({ usage: { cost: 0.00003 } })
    expect(await receiptOf(workspace, response)).toMatchObject({ tokens_prompt: 20, tokens_completion: 5 })
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each([
    ["cut", STREAM.slice(0, 4)],
    ["broken", [...STREAM.slice(0, 4), new Error("reset")]],
    ["silent", [...STREAM.slice(0, 4), null]],
    [
      "an error event",
      [...STREAM.slice(0, 4), event("error", { error: { type: "overloaded_error", message: "busy" } })],
    ],
  ])("%s: the stream ends with an error event, and the counted tokens are charged", async (_, pieces) => {
    const workspace = await newWorkspace()
    mock(() => sse(pieces))
    const { types, response } = await read(
      workspace.as.post("/messages", { ...HI, model: "acme/opus-1", stream: true }),
    )
    expect(types.at(-1)).toBe("error")
    const receipt = await receiptOf(workspace, response)
    expect(receipt.tokens_prompt).toBe(20)
    expect(receipt.tokens_completion).toBeGreaterThan(0)
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("a provider of the Messages format, called from other endpoints", () => {
  test("POST /chat/completions returns a chat completion", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mock(() => Response.json(MESSAGE))
    const answer = await workspace.as.chat("acme/opus-1", "Hi", { max_tokens: 50, user: "ada@example" })
    const result = await expectJson<Json & { choices: { message: Json }[]; usage: Json }>(200, answer.clone())
    expect(result.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "Hello", reasoning: "hm", reasoning_details: [{ signature: "sig==" }] },
    })
    expect(result.usage).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 8 },
    })
    expect(upstreamCalls[0]?.body).toMatchObject({ model: "opus", max_tokens: 50 })
    expect(JSON.stringify(upstreamCalls[0]?.body)).not.toContain("ada@example")
    expect(await receiptOf(workspace, answer)).toMatchObject({ tokens_prompt: 20, native_tokens_cached: 8 })
  })

  test("POST /chat/completions streams, and charges a cut stream for the tokens counted until then", async () => {
    const workspace = await newWorkspace()
    mock(() => sse(STREAM))
    const complete = await workspace.as.chat("acme/opus-1", "Hi", { stream: true })
    const raw = await complete.clone().text()
    expect(raw).toContain('"content":"Hello"')
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true)
    expect(await receiptOf(workspace, complete)).toMatchObject({
      tokens_prompt: 20,
      tokens_completion: 5,
      ending: "complete",
    })
    mock(() => sse(STREAM.slice(0, 4)))
    const cut = await workspace.as.chat("acme/opus-1", "Hi", { stream: true })
    expect(await cut.clone().text()).toContain('"finish_reason":"error"')
    expect(await receiptOf(workspace, cut)).toMatchObject({ tokens_prompt: 20, ending: "cut" })
    expect(await openHolds(workspace)).toEqual([])
  })

  test("POST /responses streams", async () => {
    const { as } = await newWorkspace()
    mock(() => sse(STREAM))
    const response = await as.post("/responses", { model: "acme/opus-1", input: "Hi", stream: true })
    const raw = await response.text()
    expect(raw).toContain("response.output_text.done")
    expect(raw).toContain("response.completed")
  })

  test.each([
    [529, "overloaded_error"],
    [429, "rate_limit_error"],
    [400, "invalid_request_error"],
  ])("returns the status %i and message of the provider", async (status, type) => {
    const { as } = await newWorkspace()
    mock(() => Response.json({ type: "error", error: { type, message: "the words" } }, { status }))
    const { error } = await expectJson<Failure>(status, as.chat("acme/opus-1", "Hi"))
    expect(error.message).toBe("the words")
  })

  test("maps the type of an error inside a 200 to its status", async () => {
    const { as } = await newWorkspace()
    mock(() => sse([event("error", { error: { type: "overloaded_error", message: "busy" } })]))
    await expectJson(529, as.chat("acme/opus-1", "Hi", { stream: true }))
  })

  test("rejects content that the Messages format lacks with 400 and the field", async () => {
    const { as } = await newWorkspace()
    const content = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }]
    const body = { model: "acme/opus-1", messages: [{ role: "user", content }] }
    const { error } = await expectJson<Failure>(400, as.post("/chat/completions", body))
    expect(error.message).toContain("messages[0].content[0]")
  })
})

describe("POST /messages with a provider of the chat format", () => {
  const TOOLS = { tools: [{ name: "weather", input_schema: { type: "object" } }] }

  test("translates tools, system and reasoning, and returns a message", async () => {
    const workspace = await newWorkspace()
    const tool_calls = [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }]
    const { upstreamCalls } = mock(() =>
      Response.json({
        choices: [{ message: { content: "Let me look.", tool_calls }, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      }),
    )
    const answer = await workspace.as.post("/messages", { ...HI, ...TOOLS, model: "played/m2", system: "Be brief" })
    expect(await expectJson<Json>(200, answer.clone())).toMatchObject({
      type: "message",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "c1", name: "weather", input: { city: "Oslo" } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 10, output_tokens: 5, cost: 0.00002 },
    })
    expect(upstreamCalls[0]?.body["messages"]).toEqual([
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hi" },
    ])
    expect(await receiptOf(workspace, answer)).toMatchObject({ total_cost: 0.00002 })
  })

  test("streams all message events, with the cost and the routing metadata", async () => {
    const workspace = await newWorkspace()
    mock(() => sse(good("Hello there")))
    const body = { ...HI, model: "played/m2", stream: true }
    const { events, types } = await read(workspace.as.post("/messages", body, { "x-service-metadata": "enabled" }))
    expect(types[0]).toBe("message_start")
    expect(types.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"])
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn" },
      service_metadata: { requested: "played/m2" },
    })
    expect(events.at(-2)).toMatchObject({ usage: { cost: expect.any(Number) as number } })
  })

  test("starts a stream with an estimate of the prompt tokens, since clients show it until the usage arrives", async () => {
    const { as } = await newWorkspace()
    mock(() => sse(good("Hello there")))
    const messages = [{ role: "user", content: "A sentence of eight words, of common length. ".repeat(50) }]
    const { events } = await read(as.post("/messages", { ...HI, messages, model: "played/m2", stream: true }))
    const counted = await as.post("/messages/count_tokens", { model: "played/m2", messages })
    const { input_tokens: estimate } = (await counted.json()) as { input_tokens: number }
    expect(estimate).toBeGreaterThan(400)
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: estimate, output_tokens: 0 } } })
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 10, output_tokens: 3 } })
  })

  test("ends a failed stream with an error event", async () => {
    mock(() => sse([chunk({ content: "Hel" }), 'data: {"error":{"message":"boom","code":500}}\n\n', DONE]))
    const { as } = await newWorkspace()
    const { events } = await read(as.post("/messages", { ...HI, model: "played/m2", stream: true }))
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } })
  })

  test("runs server tools", async () => {
    let turn = 0
    const { upstreamCalls } = mock(() =>
      turn++ === 0
        ? sse([
            chunk({
              tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "datetime", arguments: "{}" } }],
            }),
            chunk({}, "tool_calls"),
            usageChunk(1, 1),
            DONE,
          ])
        : sse(good("Late")),
    )
    const { as } = await newWorkspace()
    const body = { ...HI, model: "played/m2", stream: true, tools: [{ type: "openrouter:datetime" }] }
    const { events } = await read(as.post("/messages", body))
    expect(upstreamCalls).toHaveLength(2)
    const texts = events.map(({ delta }) => (delta as { text?: string } | undefined)?.text ?? "")
    expect(texts.join("")).toBe("Late")
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" } })
  })
})

describe("Messages clients", () => {
  test("can send their key in x-api-key", async () => {
    const { key } = await newWorkspace()
    await expectJson(200, client().post("/messages", { ...HI, model: "sim/echo" }, { "x-api-key": key }))
    await expectJson(401, client().post("/messages", { ...HI, model: "sim/echo" }, { "x-api-key": "sk-nonsense" }))
  })

  test.each([
    [{}, 400, "invalid_request_error"],
    [{ model: "nobody/nothing" }, 404, "not_found_error"],
    [{ model: "sim/status-429" }, 429, "rate_limit_error"],
    [{ model: "sim/status-529" }, 529, "overloaded_error"],
  ])("read the error type of the Messages format: %j", async (more, status, type) => {
    const { as } = await newWorkspace()
    const result = await expectJson<Failure>(status, as.post("/messages", { ...HI, ...more }))
    expect(result).toMatchObject({ type: "error", error: { type, code: status } })
  })

  test("count tokens as an estimate", async () => {
    const { as } = await newWorkspace()
    const { input_tokens: count } = await expectJson<{ input_tokens: number }>(
      200,
      as.post("/messages/count_tokens", { model: "sim/echo", messages: [{ role: "user", content: "x".repeat(400) }] }),
    )
    expect(count).toBe(104)
  })
})
