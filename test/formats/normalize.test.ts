import { describe, expect, test } from "vitest"
import { normalizeChunk, normalizeResult } from "../../src/formats/chat/normalize/normalize.ts"
import { newMeter, readResponse } from "../../src/formats/chat/meter.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { toResult } from "../../src/formats/chat/to-result.ts"
import { toProviderError } from "../../src/formats/chat/provider-error.ts"

import { textIn } from "../../src/support/text/json.ts"

type Json = Record<string, unknown>

const newDefaults = () => ({ id: "c", model: "m", created: 1, calls: [] })
const chunkOf = (delta: Json, index = 0, more: Json = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index, delta, finish_reason: null }],
  ...more,
})
const deltaOf = (chunk: Json) => (chunk["choices"] as { delta: Json }[])[0]?.delta as Json
const callsOf = (chunk: Json) => deltaOf(chunk)["tool_calls"] as (Json & { function: Json })[]

/** Indexes of the tool calls of a stream, in the order of their deltas. */
function numbersOf(deltas: readonly Json[]): unknown[] {
  const defaults = newDefaults()
  return deltas.map((delta) => callsOf(normalizeChunk(chunkOf({ tool_calls: [delta] }), defaults))[0]?.["index"])
}

describe("tool calls of a stream", () => {
  const begin = (id: string | undefined, index: number | undefined, name: string, args = "") => ({
    id,
    index,
    type: "function",
    function: { name, arguments: args },
  })
  const go = (index: number | undefined, args: string) => ({ index, function: { arguments: args } })

  test.each<[string, Json[], number[]]>([
    ["a new id with a used index", [begin("a", 0, "f"), begin("b", 0, "g")], [0, 1]],
    ["and its pieces, which follow", [begin("a", 0, "f"), go(0, "{}"), begin("b", 0, "f"), go(0, "{}")], [0, 0, 1, 1]],
    ["a third one with another index", [begin("a", 0, "f"), begin("b", 0, "g"), begin("c", 1, "h")], [0, 1, 2]],
    ["no ids, but complete calls", [begin("", 0, "f", '{"x":1}'), begin("", 0, "f", '{"x":2}')], [0, 1]],
    ["a new id in every piece of one call", [begin("a", 0, "f", "{"), { id: "z", ...go(0, "}") }], [0, 0]],
    ["an index below 0", [begin("a", -1, "f")], [0]],
    ["no indexes", [begin("a", undefined, "f"), go(undefined, "{}"), begin("b", undefined, "g")], [0, 0, 1]],
    ["indexes from 1", [begin("a", 1, "f"), begin("b", 2, "g"), go(1, "{}")], [0, 1, 0]],
    ["one id with two indexes", [begin("a", 0, "f", "{}"), begin("a", 1, "f", "{}")], [0, 1]],
  ])("%s", (_, deltas, numbers) => {
    expect(numbersOf(deltas)).toEqual(numbers)
  })

  test("of two choices are counted separately", () => {
    const defaults = newDefaults()
    const first = chunkOf({ tool_calls: [begin("a", 0, "f")] })
    const second = chunkOf({ tool_calls: [begin("b", 0, "g")] }, 1)
    expect(normalizeChunk(first, defaults)).toBe(first)
    expect(normalizeChunk(second, defaults)).toBe(second)
  })

  test("that share an id get different ones", () => {
    const defaults = newDefaults()
    const ids = [0, 1].map((index) => {
      const [begun] = callsOf(normalizeChunk(chunkOf({ tool_calls: [begin("a", index, "f", "{}")] }), defaults))
      return begun?.["id"]
    })
    expect(ids).toEqual(["a", expect.stringMatching(/^call_\w+$/)])
  })

  test("have indexes as integers, and null is none", () => {
    const defaults = newDefaults()
    const numbered = (index: number, args: string) => ({ ...begin("", undefined, "f", args), index: String(index) })
    const chunks = [
      [null, numbered(0, "")],
      [numbered(1, "")],
      [{ index: "0", function: { arguments: '{"x":1}' } }],
    ].map((calls) => normalizeChunk(chunkOf({ tool_calls: calls }), defaults))
    expect(chunks.flatMap(callsOf).map(({ index }) => index)).toEqual([0, 1, 0])
  })

  test("get an id from the start", () => {
    const defaults = newDefaults()
    const [begun] = callsOf(normalizeChunk(chunkOf({ tool_calls: [begin("", 0, "f")] }), defaults))
    expect(begun?.["id"]).toMatch(/^call_\w+$/)
    const next = chunkOf({ tool_calls: [go(0, "{}")] })
    expect(normalizeChunk(next, defaults)).toBe(next)
  })

  test("that are valid are not touched", () => {
    const defaults = newDefaults()
    const deltas = [begin("a", 0, "f"), go(0, "{"), go(0, "}"), begin("b", 1, "g", "{}")]
    for (const chunk of deltas.map((delta) => chunkOf({ tool_calls: [delta] }))) {
      expect(normalizeChunk(chunk, defaults)).toBe(chunk)
    }
  })
})

const THOUGHT = {
  type: "thinking",
  thinking: [
    { type: "text", text: "Hm" },
    { type: "text", text: "." },
  ],
  closed: true,
}
const TEXT = [
  { type: "text", text: "An" },
  { type: "reference", reference_ids: [1] },
  { type: "text", text: "swer" },
]
test.each([-1, 128, 2 ** 53, 0.5, "1", null, undefined])(
  "a choice with the index %s has its position as the index, in a stream and in a document",
  (index) => {
    const choices = [
      { index: 0, delta: { content: "a" } },
      { index, delta: { content: "b" } },
    ]
    const meter = newMeter()
    chatReader.read(meter, { choices })
    expect([...meter.choices.keys()]).toEqual([0, 1])
    const chunk = normalizeChunk({ id: "c", choices }, newDefaults())
    expect(chunk["choices"]).toMatchObject([{ index: 0 }, { index: 1, delta: { content: "b" } }])
    const message = { role: "assistant", content: "b" }
    const result = normalizeResult(
      {
        id: "c",
        choices: [
          { index: 0, message },
          { index, message },
        ],
      },
      newDefaults(),
    )
    expect(result["choices"]).toMatchObject([{ index: 0 }, { index: 1 }])
  },
)

const REASONING = { reasoning: "Hm.", reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] }

describe("content in parts", () => {
  test("of a chunk becomes a string, and thinking becomes reasoning", () => {
    expect(deltaOf(normalizeChunk(chunkOf({ content: [THOUGHT] }), newDefaults()))).toEqual({
      content: "",
      ...REASONING,
    })
    expect(deltaOf(normalizeChunk(chunkOf({ content: TEXT }), newDefaults()))).toEqual({ content: "Answer" })
  })

  test("of a non-streamed response is converted, too", () => {
    const message = { content: [THOUGHT, ...TEXT, { type: "image_url", image_url: { url: "data:," } }] }
    const { choices } = normalizeResult({ choices: [{ message, finish_reason: "stop" }] }, newDefaults())
    expect((choices as Json[])[0]?.["message"]).toEqual({
      role: "assistant",
      content: "Answer",
      ...REASONING,
      images: [{ type: "image_url", image_url: { url: "data:," } }],
    })
  })

  test("is metered with its thinking", () => {
    const reading = newMeter()
    readResponse(reading, chunkOf({ content: [THOUGHT, ...TEXT] }))
    expect(reading.units).toBe("Hm.Answer".length)
  })
})

describe("a chunk with a message in place of a delta", () => {
  const chunk = {
    ...chunkOf({}),
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  }

  test("becomes a delta: its text was charged, but not delivered", () => {
    const { choices } = normalizeChunk(chunk, newDefaults())
    expect(choices).toEqual([{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: "stop" }])
  })

  test("is joined to a document with its text", () => {
    const { result } = toResult([chunk], chatReader)
    expect(result?.["choices"]).toMatchObject([{ message: { content: "Hi" }, finish_reason: "stop" }])
  })
})

describe("a finish reason", () => {
  const finishOf = (finish_reason: unknown, message: Json = {}) =>
    (normalizeResult({ choices: [{ message, finish_reason }] }, newDefaults())["choices"] as Json[])[0]

  test.each([
    ["stop", "stop"],
    ["function_call", "function_call"],
    ["eos_token", "stop"],
    ["MAX_TOKENS", "length"],
    ["tool-calls", "tool_calls"],
    ["SAFETY", "content_filter"],
    ["an unknown value", "stop"],
  ])("%s of a provider becomes %s", (native, reason) => {
    const choice = finishOf(native)
    expect(choice?.["finish_reason"]).toBe(reason)
    expect(choice?.["native_finish_reason"]).toBe(native === reason ? undefined : native)
    const chunk = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: native }] }
    const [streamed] = normalizeChunk(chunk, newDefaults())["choices"] as Json[]
    expect(streamed).toMatchObject({ finish_reason: reason })
    expect(streamed?.["native_finish_reason"]).toBe(native === reason ? undefined : native)
  })

  test("is always set in a document", () => {
    expect(finishOf(null)?.["finish_reason"]).toBe("stop")
    expect(finishOf(undefined, { tool_calls: [{ id: "a" }] })?.["finish_reason"]).toBe("tool_calls")
  })

  test("of the provider is metered beside the gateway's", () => {
    const meter = newMeter()
    readResponse(meter, { choices: [{ finish_reason: "COMPLETE", message: { content: "x" } }] })
    expect(meter).toMatchObject({ finishReason: "stop", nativeFinishReason: "COMPLETE" })
  })
})

test("an error of null is dropped", () => {
  const chunk = normalizeChunk(chunkOf({ content: "x" }, 0, { error: null }), newDefaults())
  expect(chunk).toEqual(chunkOf({ content: "x" }))
  expect(normalizeResult({ choices: [], error: null }, newDefaults())).not.toHaveProperty("error")
})

describe("tool calls of a non-streamed response", () => {
  const normalizedCalls = (calls: unknown[], finishReason = "tool_calls") => {
    const choice = { message: { content: null, tool_calls: calls }, finish_reason: finishReason }
    const { choices } = normalizeResult({ choices: [choice] }, newDefaults())
    return (choices as { message: { tool_calls: Json[] } }[])[0]?.message.tool_calls as Json[]
  }

  test("have an id, a type and arguments as a string", () => {
    const calls = normalizedCalls([
      { function: { name: "f", arguments: { x: 1 } } },
      { id: "", type: null, function: { name: "g" } },
      { id: "c", type: "function", function: { name: "h", arguments: "" }, extra_content: { a: 1 } },
      null,
    ])
    expect(calls).toEqual([
      {
        id: expect.stringMatching(/^call_\w+$/) as string,
        type: "function",
        function: { name: "f", arguments: '{"x":1}' },
      },
      { id: expect.stringMatching(/^call_\w+$/) as string, type: "function", function: { name: "g", arguments: "{}" } },
      { id: "c", type: "function", function: { name: "h", arguments: "{}" }, extra_content: { a: 1 } },
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
  })

  test("have different ids", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } }
    const ids = normalizedCalls([call, call]).map(({ id }) => id)
    expect(ids).toEqual(["a", expect.stringMatching(/^call_\w+$/)])
  })

  test("that are not functions pass through", () => {
    const custom = { id: "a", type: "custom", custom: { name: "f", input: "x" } }
    expect(normalizedCalls([custom])).toEqual([custom])
  })

  test("cut by a limit keep their partial arguments", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "" } })
    const normalized = normalizedCalls([call("a"), call("b")], "length") as { function: Json }[]
    expect(normalized.map((one) => one.function["arguments"])).toEqual(["{}", ""])
  })
})

describe("an error code or type", () => {
  test.each([
    [{ code: "rate_limit_exceeded" }, 429],
    [{ code: "insufficient_quota", type: "insufficient_quota" }, 429],
    [{ type: "overloaded_error" }, 529],
    [{ code: "server_overloaded" }, 503],
    [{ type: "invalid_request_error", code: null }, 400],
    [{ type: "invalid_request_error", code: "model_not_found" }, 404],
    [{ code: "context_length_exceeded" }, 400],
    [{ code: "invalid_api_key" }, 401],
    [{ status: "RESOURCE_EXHAUSTED" }, 429],
    [{ type: "timeout" }, 408],
    [{ type: "rate_limit_error", code: 503 }, 503],
    [{ code: "rate_limit_exceeded", status: 500 }, 500],
    [{ code: "unheard_of" }, null],
    ["overloaded", 529],
    ["out of memory", null],
  ])("%j is status %s", (error, status) => {
    expect(toProviderError(typeof error === "string" ? error : { message: "m", ...error })?.status).toBe(status)
  })
})

test("a repeated finish reason is sent once, and a different one is kept", () => {
  const defaults = { ...newDefaults(), begun: new Map() }
  const reasons = ["stop", "eos_token", null, "length"].map((reason) => {
    const choice = { index: 0, delta: { role: "assistant", content: "a" }, finish_reason: reason }
    const { choices } = normalizeChunk(chunkOf({}, 0, { choices: [choice] }), defaults)
    return (choices as { finish_reason: unknown }[])[0]?.finish_reason
  })
  expect(reasons).toEqual(["stop", null, null, "length"])
})

test("fields of another gateway and null names are removed, so that a client trusts only this gateway's", () => {
  const foreign = { service_metadata: { attempt: 1 }, openrouter_metadata: {}, service_tier: 5 }
  const normal = normalizeChunk(
    chunkOf({ content: "Hi", name: null, model: null, audio: null }, 0, foreign),
    newDefaults(),
  )
  expect(normal).toEqual(chunkOf({ content: "Hi" }))
  const message = { role: "assistant", content: "Hi", name: null, model: null }
  const result = normalizeResult({ ...foreign, choices: [{ index: 0, message, finish_reason: "stop" }] }, newDefaults())
  expect(result).toMatchObject({ service_tier: null, choices: [{ message: { content: "Hi" } }] })
  for (const key of ["service_metadata", "openrouter_metadata"]) expect(result).not.toHaveProperty(key)
  expect(Object.keys((result["choices"] as { message: object }[])[0]?.message ?? {})).toEqual(["role", "content"])
})

describe("text of another type than a string", () => {
  test.each<[string, Json, Json]>([
    ["content as one part", { content: { type: "text", text: "Hi" } }, { content: "Hi" }],
    ["content as a number", { content: 5 }, { content: "5" }],
    ["content of false", { content: false }, { content: "" }],
    ["reasoning as a list", { reasoning: [{ text: "H" }, "m"] }, thoughtOf("Hm")],
    ["reasoning as an object", { reasoning_content: { summary: [{ text: "Hm" }] } }, thoughtOf("Hm")],
    ["reasoning without text", { reasoning: { tokens: 3 } }, { reasoning: null }],
  ])("is converted: %s", (_, delta, expected) => {
    const normalized = normalizeChunk(chunkOf(delta), newDefaults())
    expect(normalized).toEqual(chunkOf(expected))
    const meter = newMeter()
    readResponse(meter, chunkOf(delta))
    expect(meter.units).toBe(textIn(expected, "content").length + textIn(expected, "reasoning").length)
    expect(normalizeResult({ choices: [{ message: delta }] }, newDefaults())).toMatchObject({
      choices: [{ message: expected }],
    })
  })

  function thoughtOf(text: string): Json {
    return { reasoning: text, reasoning_details: [{ type: "reasoning.text", text, index: 0 }] }
  }
})
