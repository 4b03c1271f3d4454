import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  advance,
  type MessagesReading,
  newMessagesReading,
  usageOf,
} from "../../../src/formats/messages/upstream/meter.ts"
import { toChatResult } from "../../../src/formats/messages/upstream/to-result.ts"
import { normalizeChunk } from "../../../src/formats/chat/normalize/normalize.ts"
import { newMeter, readResponse, toTokens } from "../../../src/formats/chat/meter.ts"
import { begin, delta, end, FACTS, json, type Json, RECORDED, start, stop, text } from "./recorded.ts"
import { runs } from "../../support/runs.ts"

function readAll(events: readonly Json[]): { chunks: Json[]; state: MessagesReading } {
  let state = newMessagesReading(FACTS)
  const chunks = events.flatMap((event) => {
    const [next, emitted] = advance(state, event)
    state = next
    return emitted
  })
  return { chunks, state }
}

describe("a recorded stream is translated", () => {
  test.each(Object.entries(RECORDED))("%s", (_, { events, chunks }) => {
    expect(readAll(events).chunks).toEqual(chunks)
  })

  test.each(Object.entries(RECORDED))("%s: none of its chunks needs normalizing", (_, { chunks }) => {
    const { id, model } = chunks[0] as { id: string; model: string }
    const defaults = { id, model, created: 1, calls: [] }
    for (const chunk of chunks) expect(normalizeChunk(chunk, defaults)).toBe(chunk)
  })

  test.each(Object.entries(RECORDED))(
    "%s: a state can be advanced twice with the same result",
    (_, { events, chunks }) => {
      const first = events.slice(0, 4)
      const { state } = readAll(first)
      const advanceAgain = () => {
        let later = state
        return events.slice(4).flatMap((event) => {
          const [next, emitted] = advance(later, event)
          later = next
          return emitted
        })
      }
      advanceAgain()
      expect([...readAll(first).chunks, ...advanceAgain()]).toEqual(chunks)
    },
  )
})

describe("the end of a stream", () => {
  test("is message_stop, and later events are ignored", () => {
    const { state } = readAll([start(), ...end("end_turn")])
    expect(state.phase).toBe("over")
    expect(advance(state, text(0, "late"))).toEqual([state, []])
  })

  test("is failed after an error event, with or without a stream before it", () => {
    const error = { type: "error", error: { type: "rate_limit_error", message: "Slow down." } }
    const { state, chunks } = readAll([error])
    expect(state.phase).toBe("failed")
    expect(chunks).toEqual([
      {
        object: "chat.completion.chunk",
        created: FACTS.created,
        choices: [],
        error: { message: "Slow down.", code: 429, type: "rate_limit_error" },
      },
    ])
    expect(advance(state, start())).toEqual([state, []])
  })

  test.each([
    ["overloaded_error", 529],
    ["rate_limit_error", 429],
    ["api_error", 500],
    ["invalid_request_error", 400],
    ["authentication_error", 401],
    ["billing_error", 402],
    ["permission_error", 403],
    ["not_found_error", 404],
    ["request_too_large", 413],
    ["timeout_error", 504],
    ["unheard_of_error", 500],
    ["constructor", 500],
  ])("%s is a %i", (type, code) => {
    const { chunks } = readAll([{ type: "error", error: { type, message: "m" } }])
    expect(chunks[0]).toMatchObject({ error: { code, type } })
    const reading = newMeter()
    readResponse(reading, chunks[0] ?? {})
    expect(reading.error).toMatchObject({ status: code, message: "m" })
  })

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool_calls"],
    ["refusal", "content_filter"],
    ["unheard_of", "stop"],
  ])("%s is %s", (native, reason) => {
    const { chunks } = readAll([start(), ...end(native)])
    expect(chunks[1]).toMatchObject({ choices: [{ finish_reason: reason, native_finish_reason: native }] })
  })
})

describe("the usage of a stream", () => {
  const usageAfter = (...usages: Json[]) => {
    const [first, ...later] = usages
    return usageOf(
      readAll([start(first), ...later.map((usage) => ({ type: "message_delta", delta: {}, usage }))]).state,
    )
  }

  test("has the prompt tokens from the start, in case the stream breaks off", () => {
    expect(usageOf(newMessagesReading())).toBeNull()
    expect(usageOf(readAll([start(), text(0, "Half")]).state)).toMatchObject({
      prompt_tokens: 25,
      completion_tokens: 1,
    })
  })

  test.each([
    ["is the last reported value", [{ input_tokens: 25 }, { input_tokens: 900, output_tokens: 5 }], 900, 5],
    ["is kept when a later event has none", [{ input_tokens: 25 }, { output_tokens: 5 }], 25, 5],
    [
      "keeps cached tokens if only the others are repeated",
      [
        { input_tokens: 4, cache_read_input_tokens: 100 },
        { input_tokens: 6, output_tokens: 5 },
      ],
      106,
      5,
    ],
    ["of zero is a usage", [{ input_tokens: 0 }], 0, 0],
    ["is not erased by null", [{ input_tokens: 25 }, { input_tokens: null, output_tokens: 5 }], 25, 5],
    ["is not erased by a prompt of 0", [{ input_tokens: 25 }, { input_tokens: 0, output_tokens: 5 }], 25, 5],
    ["may only come at the end", [{ input_tokens: 0 }, { input_tokens: 30, output_tokens: 5 }], 30, 5],
    [
      "moves to cached tokens if the end reports them",
      [{ input_tokens: 100 }, { input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 5 }],
      100,
      5,
    ],
    ["counts an explicit zero of the response", [{ input_tokens: 9, output_tokens: 3 }, { output_tokens: 0 }], 9, 0],
    ["ignores values that are not counts", [{ input_tokens: 25 }, { input_tokens: "9", output_tokens: -1 }], 25, 0],
  ] as [string, Json[], number, number][])("%s", (_, usages, prompt, completion) => {
    const usage = usageAfter(...usages)
    expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion })
    expect(toTokens(usage)).toMatchObject({ prompt, completion })
  })

  test("counts cached tokens as part of the prompt", () => {
    const usage = usageAfter({
      input_tokens: 1,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 4,
      output_tokens: 8,
    })
    expect(toTokens(usage)).toMatchObject({ prompt: 7, cached: 2, cacheWrite: 4, completion: 8 })
  })

  test("is sent at message_stop if message_delta had none", () => {
    const events = [start(), { type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }]
    expect(readAll(events).chunks.map((chunk) => "usage" in chunk)).toEqual([false, false, true])
  })

  test("is not sent if only the start had a count, and text followed", () => {
    const events = [start(), text(0, "So."), { type: "message_delta", delta: { stop_reason: "end_turn" } }]
    expect(readAll([...events, { type: "message_stop" }]).chunks.some((chunk) => "usage" in chunk)).toBe(false)
  })
})

describe("a lenient reader", () => {
  test("accepts blocks without start or stop events", () => {
    const events = [
      start(),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      text(1, "So."),
      begin(2, { type: "tool_use", id: "a", name: "f", input: { x: 1 } }),
      begin(2, { type: "tool_use", id: "b", name: "g" }),
      ...end("tool_use"),
    ]
    const read = contentOf(readAll(events).chunks)
    expect(read).toEqual({ reasoning: "Hm.", content: "So.", calls: ['f:{"x":1}', "g:{}"] })
  })

  test("ignores malformed events", () => {
    const odd = [null, [], "x", 7, {}]
    const events = [
      ...odd.map((value) => ({ type: "message_start", message: value })),
      ...odd.map((value) => ({ type: "content_block_start", index: value, content_block: value })),
      ...odd.map((value) => ({ type: "content_block_delta", index: value, delta: value })),
      ...odd.map((value) => ({ type: "message_delta", delta: value, usage: value })),
      ...odd.map((value) => ({ type: value })),
      begin(0, { type: "text", text: 1, citations: "no" }),
      begin(0, { type: "tool_use", id: {}, name: [], input: "x" }),
      json(0, '{"x"'),
      begin(1, { type: "server_tool_use", id: 1, name: 2, input: 3 }),
      json(1, "{"),
      begin(2, { type: "web_search_tool_result", tool_use_id: 9, content: 9 }),
      stop(9),
      { type: "message_stop" },
    ]
    expect(() => readAll(events)).not.toThrow()
    expect(readAll(events).state.phase).toBe("over")
  })
})

test("emits only valid chunks for arbitrary events", () => {
  const types = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "error",
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "web_search_tool_result",
    "text_delta",
    "input_json_delta",
    "citations_delta",
  ]
  const leaf = fc.oneof(fc.constantFrom(...types), fc.jsonValue({ maxDepth: 1 }))
  const keys = ["type", "id", "name", "text", "thinking", "signature", "data", "input", "partial_json", "citation"]
  const part = fc.dictionary(fc.constantFrom(...keys, "stop_reason", "usage", "input_tokens"), leaf)
  const event = fc.record({
    type: fc.constantFrom(...types),
    index: fc.oneof(fc.nat({ max: 2 }), leaf),
    message: fc.oneof(part, leaf),
    content_block: fc.oneof(part, leaf),
    delta: fc.oneof(part, leaf),
    usage: fc.oneof(part, leaf),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const { chunks } = readAll([...events, { type: "message_stop" }] as Json[])
      const defaults = { id: "i", model: "m", created: 1, calls: [] }
      for (const chunk of chunks) {
        const known = { ...chunk, id: "i", model: "m" }
        expect(normalizeChunk(known, defaults)).toBe(known)
      }
    }),
    { numRuns: runs(2) },
  )
})

function contentOf(chunks: readonly Json[]): Json {
  const emitted = { reasoning: "", content: "", calls: [] as string[] }
  for (const { choices } of chunks) {
    for (const { delta: read } of choices as { delta: Json }[]) {
      emitted.reasoning += (read["reasoning"] as string | undefined) ?? ""
      emitted.content += (read["content"] as string | undefined) ?? ""
      for (const { index, function: called } of (read["tool_calls"] ?? []) as { index: number; function: Json }[]) {
        const { name, arguments: piece } = called as { name?: string; arguments: string }
        emitted.calls[index] = name ? `${name}:` : `${emitted.calls[index]}${piece}`
      }
    }
  }
  return emitted
}

describe("a non-streamed message", () => {
  test("is translated like its stream", () => {
    const message = {
      id: "msg_01A",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      content: [
        { type: "thinking", thinking: "Let me see.", signature: "sig" },
        { type: "redacted_thinking", data: "sealed" },
        { type: "text", text: "So: " },
        {
          type: "text",
          text: "9 million",
          citations: [{ type: "web_search_result_location", url: "https://e.org", title: null, cited_text: "It is." }],
        },
        { type: "tool_use", id: "toolu_01", name: "f", input: { x: 1 } },
        { type: "tool_use", id: "toolu_02", name: "g", input: {} },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 4, cache_read_input_tokens: 6, output_tokens: 5, service_tier: "priority" },
    }
    const format = "anthropic-claude-v1"
    const citation = { url: "https://e.org", content: "It is.", start_index: 4, end_index: 13 }
    expect(toChatResult(message, FACTS)).toEqual({
      id: "msg_01A",
      object: "chat.completion",
      created: FACTS.created,
      model: "claude-sonnet-4-5-20250929",
      service_tier: "priority",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          native_finish_reason: "tool_use",
          message: {
            role: "assistant",
            content: "So: 9 million",
            reasoning: "Let me see.",
            reasoning_details: [
              { type: "reasoning.text", text: "Let me see.", signature: "sig", format, index: 0 },
              { type: "reasoning.encrypted", data: "sealed", format, index: 1 },
            ],
            annotations: [{ type: "url_citation", url_citation: citation }],
            tool_calls: [
              { id: "toolu_01", type: "function", function: { name: "f", arguments: '{"x":1}' } },
              { id: "toolu_02", type: "function", function: { name: "g", arguments: "{}" } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 0 },
      },
    })
  })

  test("without content has null content", () => {
    const result = toChatResult({ type: "message", content: [], stop_reason: "end_turn" })
    expect(result).toMatchObject({
      choices: [{ finish_reason: "stop", message: { role: "assistant", content: null } }],
    })
  })

  test("that is an error becomes a chat error", () => {
    const error = { type: "permission_error", message: "Not yours." }
    const emitted = { error: { message: "Not yours.", code: 403, type: "permission_error" } }
    expect(toChatResult({ type: "error", error })).toEqual(emitted)
    expect(toChatResult({ error })).toEqual(emitted)
  })

  test.each([[{}], [{ content: "x" }], [{ content: [null, 7, {}] }]])(
    "of an unexpected shape is read as empty: %j",
    (message) => {
      expect(() => toChatResult(message)).not.toThrow()
    },
  )
})
