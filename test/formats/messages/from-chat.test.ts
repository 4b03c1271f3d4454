import { describe, expect, test } from "vitest"
import { toMessagesResult } from "../../../src/formats/messages/from-chat.ts"
import { MessagesResult } from "../../../src/formats/messages/schemas.ts"
import type { Json } from "./recorded.ts"
import { facts, USAGE } from "./events-of.ts"

const resultOf = (message: Json, finishReason = "stop", further: Json = {}): Json => ({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, finish_reason: finishReason, message: { role: "assistant", ...message } }],
  ...further,
})
const callOf = (id: string, name: string, encoded: string) => ({
  id,
  type: "function",
  function: { name, arguments: encoded },
})

test("a complete chat response is translated with all its parts", () => {
  const message = {
    content: "So.",
    reasoning: "Hm.",
    reasoning_details: [
      { type: "reasoning.text", text: "Hm.", signature: "s" },
      { type: "reasoning.encrypted", data: "d" },
    ],
    tool_calls: [callOf("a", "f", '{"x":1}'), callOf("a", "g", "")],
  }
  const result = toMessagesResult(resultOf(message, "tool_calls", { usage: USAGE }), {
    ...facts(),
    cost: 0.5,
    metadata: { service_metadata: { attempt: 1 } },
  })
  expect(result).toEqual({
    id: "gen-1",
    type: "message",
    role: "assistant",
    model: "maker/model",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "So." },
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "toolu_1", name: "g", input: {} },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 8,
      cache_read_input_tokens: 90,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
      cost: 0.5,
    },
    service_metadata: { attempt: 1 },
  })
  expect(MessagesResult.safeParse(result).success).toBe(true)
})

test("equal tool calls under one id stay two calls", () => {
  const call = callOf("a", "f", '{"x":1}')
  const { content } = toMessagesResult(resultOf({ tool_calls: [call, call] }, "tool_calls"), facts())
  expect(content).toMatchObject([
    { id: "a", input: { x: 1 } },
    { id: "toolu_1", input: { x: 1 } },
  ])
})

describe("a chat response", () => {
  test("without content becomes an empty message", () => {
    expect(toMessagesResult(resultOf({ content: null }), facts())).toMatchObject({
      content: [],
      stop_reason: "end_turn",
    })
    expect(toMessagesResult({}, facts())).toMatchObject({ content: [], usage: { input_tokens: 0 } })
  })

  test.each([
    ['{"x":', { unparsed: '{"x":' }],
    ["[1]", { unparsed: "[1]" }],
  ])("keeps arguments that are not a JSON object as unparsed: %s", (encoded, input) => {
    const result = toMessagesResult(resultOf({ tool_calls: [callOf("a", "f", encoded)] }, "length"), facts())
    expect(result).toMatchObject({ content: [{ input }], stop_reason: "max_tokens" })
  })

  test("that failed is thrown as provider_failed", () => {
    const failed = () => toMessagesResult(resultOf({}, "error", { error: { message: "It broke." } }), facts())
    expect(failed).toThrow(expect.objectContaining({ code: "provider_failed", message: "It broke." }))
  })
})
