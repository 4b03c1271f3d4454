import { describe, expect, test } from "vitest"
import { toMessagesError } from "../../../src/formats/messages/errors.ts"
import { advance, fail, finish, keepAlive, newEventState, start } from "../../../src/formats/messages/events.ts"
import { MessagesRequest, type MessagesEvent } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../../src/formats/messages/to-chat.ts"
import { toEventFrame } from "../../../src/formats/sse/frames.ts"
import type { Json } from "./recorded.ts"
import { blocksOf, callOf, chunkOf, detailOf, expectWellFormed, facts, runSteps, eventsOf, USAGE } from "./events-of.ts"

const typesOf = (events: readonly MessagesEvent[]) => events.map(({ type }) => type)
const toolUse = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input })

describe("events of a message", () => {
  test("stream a text", () => {
    const events = eventsOf(
      [
        chunkOf({ role: "assistant", content: "" }),
        chunkOf({ content: "Hel" }),
        chunkOf({ content: "lo" }),
        chunkOf({}, "stop"),
        { choices: [], usage: USAGE },
      ],
      { cost: 0.25, metadata: { service_metadata: { attempt: 1 } } },
    )
    expect(events).toEqual([
      {
        type: "message_start",
        message: {
          id: "gen-1",
          type: "message",
          role: "assistant",
          model: "maker/model",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          // Estimated: the provider reports the usage at the end.
          usage: {
            input_tokens: 100,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 0,
          },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 8,
          cache_read_input_tokens: 90,
          output_tokens: 5,
          output_tokens_details: { thinking_tokens: 2 },
          cost: 0.25,
        },
        service_metadata: { attempt: 1 },
      },
      { type: "message_stop" },
    ])
    expectWellFormed(events)
  })

  test("stream thinking and send its signature once, when the block is complete", () => {
    const events = eventsOf([
      detailOf({ type: "reasoning.text", text: "H", index: 0 }),
      detailOf({ type: "reasoning.text", text: "m.", index: 0 }),
      detailOf({ type: "reasoning.text", signature: "s", index: 0 }),
      detailOf({ type: "reasoning.text", signature: "s", index: 0 }),
      chunkOf({ content: "So." }, "stop"),
    ])
    expect(events.slice(1, 7)).toEqual([
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "H" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "m." } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    ])
  })

  test("stream plain reasoning of providers without reasoning details", () => {
    const events = eventsOf([chunkOf({ reasoning_content: "Hm." }), chunkOf({ content: "So." })])
    expect(blocksOf(events)).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "text", text: "So." },
    ])
  })

  test("keep redacted and separate thinking blocks apart", () => {
    const events = eventsOf([
      detailOf({ type: "reasoning.text", text: "A", signature: "a", index: 0 }),
      detailOf({ type: "reasoning.encrypted", data: "d", index: 1 }),
      detailOf({ type: "reasoning.text", text: "B", index: 2 }),
      detailOf({ type: "reasoning.text", text: "C", index: 3 }),
      detailOf({ type: "reasoning.text", text: "", index: 4 }),
      detailOf({ type: "reasoning.encrypted", data: "", index: 5 }),
    ])
    expect(blocksOf(events)).toEqual([
      { type: "thinking", thinking: "A", signature: "a" },
      { type: "redacted_thinking", data: "d" },
      { type: "thinking", thinking: "B", signature: "" },
      { type: "thinking", thinking: "C", signature: "" },
    ])
    expectWellFormed(events)
  })

  test("stream a tool call", () => {
    const events = eventsOf([
      callOf({ index: 0, id: "a", function: { name: "f", arguments: '{"x"' } }),
      callOf({ index: 0, function: { arguments: ":1}" } }),
      chunkOf({}, "tool_calls"),
    ])
    expect(events.slice(1, 5)).toEqual([
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "f", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"x"' } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: ":1}" } },
      { type: "content_block_stop", index: 0 },
    ])
    expect(events[5]).toMatchObject({ delta: { stop_reason: "tool_use" } })
  })

  test("send a refusal as text", () => {
    const events = eventsOf([chunkOf({ refusal: "No." }), chunkOf({}, "content_filter")])
    expect(blocksOf(events)).toEqual([{ type: "text", text: "No." }])
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "refusal" } })
  })

  test("of an empty stream are message_start, message_delta and message_stop", () => {
    expect(typesOf(eventsOf([]))).toEqual(["message_start", "message_delta", "message_stop"])
  })

  test("report a web search by Claude as Claude does", () => {
    const detail = {
      type: "reasoning.server_tool_call",
      tool_name: "web_search",
      tool_call_id: "srv_1",
      arguments: '{"query":"x"}',
      result: '[{"type":"web_search_result"}]',
      format: "anthropic-claude-v1",
    }
    const events = eventsOf([detailOf(detail), chunkOf({ content: "So." }, "stop")])
    expect(blocksOf(events)).toEqual([
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: '{"query":"x"}' },
      { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result" }] },
      { type: "text", text: "So." },
    ])
    expectWellFormed(events)
    expect(blocksOf(eventsOf([detailOf({ ...detail, result: "" })]))).toHaveLength(1)
  })

  test("report the prompt tokens in message_start if they are known by then", () => {
    const events = eventsOf([chunkOf({ content: "x" }, null, { usage: USAGE })])
    expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 12 } } })
  })
})

describe("tool calls in a stream", () => {
  test("are sent as they arrive when they follow each other", () => {
    const events = eventsOf([
      callOf({ index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } }),
      callOf({ index: 1, id: "b", function: { name: "g", arguments: '{"y"' } }),
    ]).slice(0, -3)
    expect(typesOf(events).slice(1)).toEqual([
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
    ])
  })

  test("start with their first arguments or with the next content", () => {
    const typesBy = (...chunks: Json[]) =>
      typesOf(
        runSteps(
          newEventState(facts()),
          chunks.map((chunk) => (state) => advance(state, chunk)),
        ),
      ).slice(1)
    const named = callOf({ index: 0, id: "a", function: { name: "f", arguments: "" } })
    expect(typesBy(named)).toEqual([])
    expect(typesBy(named, callOf({ index: 0, function: { arguments: "{" } }))).toHaveLength(2)
    expect(typesBy(named, chunkOf({ content: "So." }))).toEqual(["content_block_start"])
  })

  test("are sent one after the other when they interleave", () => {
    const events = eventsOf([
      callOf({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
      callOf({ index: 1, id: "b", function: { name: "g", arguments: '{"y"' } }),
      callOf({ index: 0, function: { arguments: '{"x"' } }),
      chunkOf({ content: "Both." }),
      callOf({ index: 1, function: { arguments: ":2}" } }),
      callOf({ index: 2, id: "c", function: { name: "h", arguments: "" } }),
      callOf({ index: 0, function: { arguments: ":1}" } }),
      chunkOf({}, "tool_calls"),
    ])
    expectWellFormed(events)
    expect(blocksOf(events)).toEqual([
      toolUse("a", "f", '{"x":1}'),
      toolUse("b", "g", '{"y":2}'),
      { type: "text", text: "Both." },
      toolUse("c", "h", {}),
    ])
  })

  test.each([
    [
      "without an index",
      [{ id: "a", function: { name: "f", arguments: "{" } }, { function: { arguments: "}" } }],
      [toolUse("a", "f", "{}")],
    ],
    [
      "with one index and different ids",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
        { index: 0, id: "b", function: { name: "f", arguments: "{}" } },
      ],
      [toolUse("a", "f", "{}"), toolUse("b", "f", "{}")],
    ],
    [
      "that are repeated at the end",
      [
        { index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } },
        { index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } },
      ],
      [toolUse("a", "f", '{"x":1}')],
    ],
    [
      "with late names",
      [
        { index: 0, id: "a", function: { arguments: "{" } },
        { index: 0, function: { name: "f", arguments: "}" } },
      ],
      [toolUse("a", "f", "{}")],
    ],
    [
      "with a name in pieces",
      [
        { index: 0, id: "a", function: { name: "get_" } },
        { index: 0, function: { name: "weather", arguments: "" } },
        { index: 0, function: { arguments: '{"a":1}' } },
      ],
      [toolUse("a", "get_weather", '{"a":1}')],
    ],
    [
      "with a name sent twice before the arguments",
      [
        { index: 0, id: "a", function: { name: "f", arguments: "" } },
        { index: 0, id: "a", function: { name: "f", arguments: "{}" } },
      ],
      [toolUse("a", "f", "{}")],
    ],
    [
      "with arguments as an object",
      [{ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } }],
      [toolUse("a", "f", '{"x":1}')],
    ],
    [
      "without ids, or with one id for two",
      [
        { index: 0, function: { name: "f", arguments: "{}" } },
        { index: 1, id: "a", function: { name: "g", arguments: "{}" } },
        { index: 2, id: "a", function: { name: "h", arguments: "{}" } },
      ],
      [toolUse("toolu_1", "f", "{}"), toolUse("a", "g", "{}"), toolUse("toolu_2", "h", "{}")],
    ],
    ["without names", [{ index: 0, id: "a", function: { arguments: "{}" } }], [toolUse("a", "", "{}")]],
  ] as [string, Json[], Json[]][])("%s", (_, calls, blocks) => {
    const events = eventsOf([...calls.map(callOf), chunkOf({}, "tool_calls")])
    expectWellFormed(events)
    expect(blocksOf(events)).toEqual(blocks)
  })
})

describe("the stop reason", () => {
  const endOf = (reason: string, further: Json = {}, deltas: Json[] = []) =>
    eventsOf([
      ...deltas.map((delta) => chunkOf(delta)),
      { choices: [{ index: 0, delta: {}, finish_reason: reason, ...further }] },
    ]).at(-2)?.["delta"]

  test.each([
    ["stop", {}, "end_turn"],
    ["length", {}, "max_tokens"],
    ["tool_calls", {}, "tool_use"],
    ["function_call", {}, "tool_use"],
    ["content_filter", {}, "refusal"],
    ["unheard_of", {}, "end_turn"],
    ["length", { native_finish_reason: "model_context_window_exceeded" }, "model_context_window_exceeded"],
    ["stop", { native_finish_reason: "pause_turn" }, "pause_turn"],
    ["stop", { native_finish_reason: "STOP" }, "end_turn"],
    ["length", { native_finish_reason: "end_turn" }, "max_tokens"],
  ])("for %s with %j", (reason, further, stopReason) => {
    expect(endOf(reason, further)).toEqual({ stop_reason: stopReason, stop_sequence: null })
  })

  test("carries the stop sequence and stop details of the provider", () => {
    const details = { type: "refusal", category: "bio", explanation: null }
    expect(endOf("stop", { native_finish_reason: "stop_sequence", stop_sequence: "END" })).toEqual({
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    })
    expect(endOf("content_filter", { stop_details: details })).toMatchObject({ stop_details: details })
  })

  test("is tool_use when the response has tool calls, unless a limit cut it", () => {
    const call = { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] }
    expect(endOf("stop", {}, [call])).toMatchObject({ stop_reason: "tool_use" })
    expect(endOf("length", {}, [call])).toMatchObject({ stop_reason: "max_tokens" })
  })
})

describe("a failed stream", () => {
  test("ends with an error event after the partial content", () => {
    const events = runSteps(newEventState(facts()), [
      (state) => advance(state, chunkOf({ content: "Half" })),
      (state) => fail(state, { code: 529, message: "Too much." }),
      (state) => finish(state),
      (state) => advance(state, chunkOf({ content: "late" })),
      keepAlive,
    ])
    expect(typesOf(events)).toEqual(["message_start", "content_block_start", "content_block_delta", "error"])
    expect(events.at(-1)).toEqual({ type: "error", error: { type: "overloaded_error", message: "Too much." } })
  })

  test("before its first event is a single error event", () => {
    expect(typesOf(fail(newEventState(facts()), { code: 500, message: "m" })[1])).toEqual(["error"])
  })

  test("ends at a chunk that carries an error", () => {
    const error = { code: 429, message: "Slow down." }
    expect(eventsOf([chunkOf({ content: "x" }), { choices: [], error }]).at(-1)).toEqual({
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down." },
    })
    expect(eventsOf([chunkOf({}, "error")]).at(-1)).toMatchObject({ error: { type: "api_error" } })
  })

  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [402, "billing_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [405, "invalid_request_error"],
    [408, "timeout_error"],
    [409, "conflict_error"],
    [413, "request_too_large"],
    [422, "invalid_request_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [502, "api_error"],
    [503, "overloaded_error"],
    [504, "timeout_error"],
    [524, "timeout_error"],
    [529, "overloaded_error"],
  ])("of status %i has error type %s", (status, type) => {
    expect(toMessagesError(status, "m")).toEqual({ type: "error", error: { type, message: "m" } })
  })
})

describe("a heartbeat", () => {
  test("is message_start first, then pings", () => {
    const events = runSteps(newEventState(facts()), [keepAlive, keepAlive, start, (state) => finish(state), keepAlive])
    expect(typesOf(events)).toEqual(["message_start", "ping", "message_delta", "message_stop"])
  })

  test("is written with its event name", () => {
    expect(new TextDecoder().decode(toEventFrame({ type: "ping" }))).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  })
})

test("a state can be advanced twice with the same result", () => {
  const [state] = advance(
    newEventState(facts()),
    callOf({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
  )
  const advanceAgain = () =>
    blocksOf(
      runSteps(state, [
        (one) => advance(one, callOf({ index: 0, function: { arguments: "}" } })),
        (one) => finish(one),
      ]),
    )
  expect(advanceAgain()).toEqual(advanceAgain())
})

test("malformed chunks produce no blocks", () => {
  const odd = [null, 7, "x", [], {}]
  const chunks = [
    ...odd.map((value) => ({ choices: value, usage: value, service_metadata: value })),
    ...odd.map((value) => ({ choices: [value] })),
    ...odd.map((value) => ({
      choices: [
        { index: 1, delta: { content: "other" } },
        { index: 0, delta: value },
      ],
    })),
    ...odd
      .filter((value) => value !== "x")
      .map((value) => chunkOf({ content: value, refusal: value, reasoning: value })),
    ...odd.map((value) => chunkOf({ reasoning_details: [value], tool_calls: value })),
  ]
  const events = eventsOf(chunks)
  expectWellFormed(events)
  expect(blocksOf(events)).toEqual([])
})

describe("reasoning of other providers", () => {
  test.each([
    [{ type: "reasoning.summary", summary: "In short.", format: "openai-responses-v1", id: "rs_1" }],
    [{ type: "reasoning.encrypted", data: "sealed", format: "openai-responses-v1", id: "rs_1" }],
    [{ type: "reasoning.text", text: "Hm.", signature: "s", format: "google-gemini-v1" }],
    [{ type: "reasoning.text", text: "Hm.", format: "unknown" }],
    [{ type: "reasoning.of_tomorrow", what: { ever: 1 } }],
  ])("reaches the client and comes back unchanged: %j", (detail) => {
    const content = blocksOf(eventsOf([detailOf({ ...detail, index: 3 }), chunkOf({ content: "So." }, "stop")]))
    const request = { model: "m", max_tokens: 9, messages: [{ role: "assistant", content }] }
    const [message] = toChatRequest(MessagesRequest.parse(request)).messages as Json[]
    expect(message?.["reasoning_details"]).toEqual([{ ...detail, index: 0 }])
  })
})
