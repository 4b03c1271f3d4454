import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { streamText, type ModelMessage } from "ai"
import { createParser } from "eventsource-parser"
import { describe, expect, test } from "vitest"
import { fail, keepAlive, newEventState, start, advance } from "../../../src/formats/messages/events.ts"
import { toMessagesError } from "../../../src/formats/messages/errors.ts"
import { toMessagesResult } from "../../../src/formats/messages/from-chat.ts"
import { MessagesRequest, type MessagesEvent } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../../src/formats/messages/to-chat.ts"
import { toEventFrame } from "../../../src/formats/sse/frames.ts"
import { concat } from "../../../src/support/bytes.ts"
import type { Json } from "./recorded.ts"
import { blocksOf, callOf, chunkOf, detailOf, facts, runSteps, eventsOf, USAGE } from "./events-of.ts"

/** The published clients, with the gateway's responses in place of a network. */

const DETAIL = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 }
const CHUNKS = [
  chunkOf({ role: "assistant", content: "" }),
  detailOf({ ...DETAIL, text: "Let me " }),
  detailOf({ ...DETAIL, text: "see." }),
  detailOf({ ...DETAIL, signature: "EqQBCg==" }),
  detailOf({ type: "reasoning.encrypted", data: "sealed", format: "anthropic-claude-v1", index: 1 }),
  chunkOf({ content: "Hel" }),
  chunkOf({ content: "lo" }),
  callOf({ index: 0, id: "call_a", function: { name: "f", arguments: '{"x":' } }),
  callOf({ index: 1, id: "call_b", function: { name: "g", arguments: "" } }),
  callOf({ index: 0, function: { arguments: "1}" } }),
  chunkOf({}, "tool_calls"),
  { choices: [], usage: USAGE },
]

function streamed(events: readonly MessagesEvent[]): () => Response {
  const body = concat(events.map(toEventFrame))
  return () => new Response(body, { headers: { "content-type": "text/event-stream" } })
}

const anthropic = (answer: () => Response, seen: Json[] = []) =>
  new Anthropic({
    apiKey: "sk-test",
    maxRetries: 0,
    fetch: async (_, init) => {
      seen.push(JSON.parse(init?.body as string) as Json)
      return answer()
    },
  })

const model = (answer: () => Response, seen: Json[] = []) =>
  createAnthropic({
    apiKey: "sk-test",
    fetch: async (_, init) => {
      seen.push(JSON.parse(init?.body as string) as Json)
      return answer()
    },
  })("claude-sonnet-4-5")

const REQUEST = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "Hi" }] }

describe("the @anthropic-ai/sdk client", () => {
  test("assembles a stream", async () => {
    const message = await anthropic(streamed(eventsOf(CHUNKS, { cost: 0.5 })))
      .messages.stream(REQUEST)
      .finalMessage()
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Let me see.", signature: "EqQBCg==" },
      { type: "redacted_thinking", data: "sealed" },
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "call_a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "call_b", name: "g", input: {} },
    ])
    expect(message).toMatchObject({
      id: "gen-1",
      model: "maker/model",
      stop_reason: "tool_use",
      usage: { input_tokens: 12, cache_read_input_tokens: 90, cache_creation_input_tokens: 8, output_tokens: 5 },
    })
  })

  test("reads a non-streamed message", async () => {
    const calls = [{ id: "call_a", type: "function", function: { name: "f", arguments: '{"x":1}' } }]
    const message = { role: "assistant", content: "Hello", reasoning: "Hm.", tool_calls: calls }
    const result = { choices: [{ index: 0, finish_reason: "tool_calls", message }], usage: USAGE }
    const document = toMessagesResult(result, facts())
    const read = await anthropic(() => Response.json(document)).messages.create(REQUEST)
    expect(read.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"])
    expect(read).toMatchObject({ stop_reason: "tool_use", usage: { input_tokens: 12 } })
  })

  test("reads every event, heartbeats included", async () => {
    const events = runSteps(newEventState(facts()), [
      start,
      keepAlive,
      (state) => advance(state, chunkOf({ content: "x" })),
      keepAlive,
    ])
    const seen: unknown[] = []
    for await (const event of await anthropic(streamed(events)).messages.create({ ...REQUEST, stream: true }))
      seen.push(event)
    expect(seen).toEqual(events.filter(({ type }) => type !== "ping"))
  })

  test("throws the message of a failed stream and of a rejected request", async () => {
    const events = runSteps(newEventState(facts()), [
      (state) => advance(state, chunkOf({ content: "Half" })),
      (state) => fail(state, { code: 529, message: "Too much." }),
    ])
    const failed = anthropic(streamed(events)).messages.stream(REQUEST).finalMessage()
    await expect(failed).rejects.toThrow("Too much.")
    const refused = anthropic(() => Response.json(toMessagesError(404, "No such model."), { status: 404 }))
    await expect(refused.messages.create(REQUEST)).rejects.toMatchObject({ status: 404, type: "not_found_error" })
  })

  test("sends a response back as the next turn of the conversation", async () => {
    const seen: Json[] = []
    const first = await anthropic(streamed(eventsOf(CHUNKS)))
      .messages.stream(REQUEST)
      .finalMessage()
    const results = ["call_a", "call_b"].map((id) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: "out",
    }))
    const messages = [
      ...REQUEST.messages,
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: results },
    ]
    await anthropic(streamed(eventsOf(CHUNKS)), seen)
      .messages.stream({ ...REQUEST, messages })
      .finalMessage()
    expect(toChatRequest(MessagesRequest.parse(seen[0])).messages).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Hello",
        reasoning: "Let me see.",
        reasoning_details: [
          { ...DETAIL, text: "Let me see.", signature: "EqQBCg==" },
          { type: "reasoning.encrypted", data: "sealed", format: "anthropic-claude-v1", index: 1 },
        ],
        tool_calls: [
          { id: "call_a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
          { id: "call_b", type: "function", function: { name: "g", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_a", content: "out" },
      { role: "tool", tool_call_id: "call_b", content: "out" },
    ])
  })
})

describe("the @ai-sdk/anthropic model", () => {
  test("reads a stream", async () => {
    const { stream } = await model(streamed(eventsOf(CHUNKS))).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    })
    const parts: Json[] = []
    for await (const part of stream) parts.push({ ...part })
    expect(parts.filter(({ type }) => type === "error")).toEqual([])
    const deltas = (type: string) =>
      parts
        .filter((part) => part.type === type)
        .map(({ delta }) => delta)
        .join("")
    expect(deltas("text-delta")).toBe("Hello")
    expect(deltas("reasoning-delta")).toBe("Let me see.")
    expect(JSON.stringify(parts)).toContain('"signature":"EqQBCg=="')
    expect(JSON.stringify(parts)).toContain('"redactedData":"sealed"')
    expect(parts.filter(({ type }) => type === "tool-call")).toMatchObject([
      { toolCallId: "call_a", toolName: "f", input: '{"x":1}' },
      { toolCallId: "call_b", toolName: "g", input: "{}" },
    ])
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: {
        inputTokens: { total: 110, noCache: 12, cacheRead: 90, cacheWrite: 8 },
        outputTokens: { total: 5, reasoning: 2 },
      },
    })
  })

  test("reads a web search as Claude's server tool", async () => {
    const detail = {
      type: "reasoning.server_tool_call",
      tool_name: "web_search",
      tool_call_id: "srv_1",
      arguments: '{"query":"x"}',
      result: JSON.stringify([
        { type: "web_search_result", url: "https://e.org", title: "T", encrypted_content: "E", page_age: null },
      ]),
      format: "anthropic-claude-v1",
    }
    const { stream } = await model(
      streamed(eventsOf([detailOf(detail), chunkOf({ content: "So." }, "stop")])),
    ).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    })
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    expect(types).toContain("tool-result")
    expect(types).not.toContain("error")
  })

  test("runs a multi-turn conversation through streamText", async () => {
    const seen: Json[] = []
    const send = (messages: ModelMessage[], answer: MessagesEvent[]) =>
      streamText({ model: model(streamed(answer), seen), messages, maxRetries: 0 })
    const first = send(
      [{ role: "user", content: "Hi" }],
      eventsOf([...CHUNKS.slice(0, 7), chunkOf({}, "stop"), { choices: [], usage: USAGE }]),
    )
    expect(await first.text).toBe("Hello")
    expect(await first.finishReason).toBe("stop")
    expect(await first.usage).toMatchObject({ inputTokens: 110, outputTokens: 5 })
    const { messages } = await first.response
    await send([{ role: "user", content: "Hi" }, ...messages, { role: "user", content: "And?" }], eventsOf([])).text
    const chat = toChatRequest(MessagesRequest.parse(seen[1]))
    expect(chat.messages[1]).toMatchObject({
      content: "Hello",
      reasoning_details: [
        { ...DETAIL, text: "Let me see.", signature: "EqQBCg==" },
        { type: "reasoning.encrypted", data: "sealed" },
      ],
    })
  })

  test("reports an error part for a failed stream", async () => {
    const events = runSteps(newEventState(facts()), [
      (state) => advance(state, chunkOf({ content: "Half" })),
      (state) => fail(state, { code: 529, message: "Too much." }),
    ])
    const { stream } = await model(streamed(events)).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    })
    const parts: unknown[] = []
    for await (const part of stream) parts.push(part)
    expect(parts).toContainEqual(expect.objectContaining({ type: "error" }))
  })
})

test("eventsource-parser reads the frames with their event names", () => {
  const events = eventsOf(CHUNKS)
  const read: MessagesEvent[] = []
  const names: unknown[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => {
      names.push(event)
      read.push(JSON.parse(data) as MessagesEvent)
    },
  })
  parser.feed(new TextDecoder().decode(concat(events.map(toEventFrame))))
  expect(read).toEqual(events)
  expect(names).toEqual(events.map(({ type }) => type))
  expect(blocksOf(read)).toHaveLength(5)
})
