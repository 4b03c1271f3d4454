import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { newMeter, readResponse } from "../../src/formats/chat/meter.ts"
import { normalizeChunk, normalizeResult } from "../../src/formats/chat/normalize/normalize.ts"
import { normalizeStopReason } from "../../src/formats/messages/native/message.ts"
import { toFinishReason as toMessagesFinish } from "../../src/formats/messages/stop-reasons.ts"
import { toChatResult } from "../../src/formats/messages/upstream/to-result.ts"
import { addCounts, NO_COUNTS, toChatUsage } from "../../src/formats/messages/usage.ts"
import { messagesReader } from "../../src/formats/readers/messages.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { toResult } from "../../src/formats/chat/to-result.ts"
import { toFrame } from "../../src/formats/sse/frames.ts"
import { isObject, type Json, objectsOf } from "../../src/support/text/json.ts"

/** Streams and documents of providers that deviate from the chat format: what they mean, and what is metered. */

const chunkOf = (choice: Json, more: Json = {}): Json => ({ id: "u", choices: [{ index: 0, ...choice }], ...more })
const textChunk = (content: string) => chunkOf({ delta: { role: "assistant", content } })
const user = { id: "c", model: "m", created: 1 }

/** What a client gets from the chunks, as deltas and as one document, and the metered units. */
function readAll(chunks: readonly Json[]) {
  const defaults = { ...user, calls: [], begun: new Map(), withDeltas: new Set<number>(), reasoned: new Set<number>() }
  const meter = newMeter()
  const choices = chunks.flatMap((chunk) => {
    readResponse(meter, chunk)
    return objectsOf(normalizeChunk(chunk, defaults)["choices"])
  })
  const deltas = choices.map(({ delta }) => (isObject(delta) ? delta : {}))
  const { result } = toResult([...chunks.map(toFrame), toFrame({ choices: [], usage: null })], chatReader)
  const document = normalizeResult(result ?? {}, { ...user, calls: [] })
  const [whole] = objectsOf(document["choices"])
  return {
    text: deltas.map(({ content }) => (typeof content === "string" ? content : "")).join(""),
    reasoning: deltas.map(({ reasoning }) => (typeof reasoning === "string" ? reasoning : "")).join(""),
    calls: deltas.flatMap((delta) => objectsOf(delta["tool_calls"])),
    reasons: choices.map((choice) => choice["finish_reason"]).filter(Boolean),
    keys: choices.flatMap(Object.keys),
    message: isObject(whole?.["message"]) ? whole["message"] : {},
    units: meter.units,
  }
}

describe("a stream that ends with the complete message", () => {
  const summary = (message: Json, finishReason = "stop") =>
    chunkOf({ message: { role: "assistant", ...message }, finish_reason: finishReason }, { object: "chat.completion" })

  test("has its text and reasoning once", () => {
    const reasoned = chunkOf({ delta: { reasoning_content: "Hm.", role: "assistant" } })
    const read = readAll([
      reasoned,
      textChunk("Hello"),
      textChunk(" world"),
      summary({ content: "Hello world", reasoning_content: "Hm." }),
    ])
    expect(read).toMatchObject({ text: "Hello world", reasoning: "Hm.", reasons: ["stop"], units: 14 })
    expect(read.message).toMatchObject({ content: "Hello world", reasoning: "Hm." })
  })

  test("has its tool calls once", () => {
    const called = { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }
    const read = readAll([
      chunkOf({ delta: { tool_calls: [{ index: 0, ...called }] } }),
      summary({ content: "", tool_calls: [called] }, "tool_calls"),
    ])
    expect(read.calls).toEqual([{ index: 0, ...called }])
    expect(read.message["tool_calls"]).toEqual([called])
  })

  test("is complete if only the message has text", () => {
    const read = readAll([chunkOf({ delta: { role: "assistant", content: "" } }), summary({ content: "Hello" })])
    expect(read).toMatchObject({ text: "Hello", units: 5 })
    expect(read.message["content"]).toBe("Hello")
  })

  test("keeps messages that grow without deltas", () => {
    const part = (content: string, finishReason: string | null) =>
      chunkOf({ message: { content }, finish_reason: finishReason })
    expect(readAll([part("Hel", null), part("lo", "stop")])).toMatchObject({ text: "Hello", units: 5 })
  })

  test("has no message beside its deltas", () => {
    const both = chunkOf({ delta: { content: "lo" }, message: { content: "Hello" }, finish_reason: "stop" })
    const read = readAll([textChunk("Hel"), both])
    expect(read).toMatchObject({ text: "Hello", units: 5 })
    expect(read.keys).not.toContain("message")
  })

  test("of the Messages format continues after the message", () => {
    const meter = newMeter()
    messagesReader.read(meter, { type: "message_start", message: { id: "a", usage: { input_tokens: 3 } } })
    messagesReader.read(meter, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } })
    messagesReader.read(meter, { type: "message", content: [{ type: "text", text: "Hi" }] })
    expect(meter).toMatchObject({ done: false, units: 2 })
  })
})

describe("a tool call without an array", () => {
  const piece = (name: string | null, encoded: string) =>
    chunkOf({ delta: { tool_calls: { index: 0, id: "", type: "function", function: { name, arguments: encoded } } } })

  test("is a call", () => {
    const read = readAll([piece("weather", '{"x":'), piece(null, "1}"), chunkOf({ delta: {}, finish_reason: "stop" })])
    expect(read.calls.map((call) => call["function"])).toEqual([
      { name: "weather", arguments: '{"x":' },
      { arguments: "1}" },
    ])
    expect(read.reasons).toEqual(["tool_calls"])
    expect(read.message["tool_calls"]).toMatchObject([{ function: { name: "weather", arguments: '{"x":1}' } }])
    expect(read.units).toBe(14)
  })
})

describe("a tool call without arguments", () => {
  const begin = chunkOf({ delta: { tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] } })

  test("gets an empty object with the finish reason", () => {
    const read = readAll([begin, chunkOf({ delta: {}, finish_reason: "tool_calls" })])
    expect(read.calls.at(-1)).toEqual({ index: 0, function: { arguments: "{}" } })
  })

  test("that a limit cut stays as it is", () => {
    const read = readAll([begin, chunkOf({ delta: {}, finish_reason: "length" })])
    expect(read.calls).toHaveLength(1)
  })

  test("is a function, whatever its type is named", () => {
    const call = { id: "a", type: "tool_call", function: { name: "f", arguments: "{}" } }
    expect(readAll([chunkOf({ delta: { tool_calls: [{ index: 0, ...call }] } })]).calls[0]?.["type"]).toBe("function")
    const choices = [{ message: { tool_calls: [call] } }]
    const [choice] = objectsOf(normalizeResult({ choices }, { ...user, calls: [] })["choices"])
    expect(choice?.["message"]).toMatchObject({ tool_calls: [{ type: "function" }] })
  })
})

test("a content part with a summary of reasoning is reasoning", () => {
  const summary = [{ type: "summary_text", text: "Hm.", signature: "c2ln" }]
  const parts = chunkOf({ delta: { content: [{ type: "reasoning", summary }] } })
  const read = readAll([parts, textChunk("Hello"), chunkOf({ delta: {}, finish_reason: "stop" })])
  expect(read).toMatchObject({ text: "Hello", reasoning: "Hm.", units: 8 })
  expect(read.message["reasoning_details"]).toEqual([
    { type: "reasoning.text", text: "Hm.", signature: "c2ln", index: 0 },
  ])
})

test.each([
  ["content_filter: RECITATION", "content_filter"],
  ["function_call_filter: MALFORMED_FUNCTION_CALL", "error"],
  ["IMAGE_SAFETY", "content_filter"],
  ["blacklist", "content_filter"],
  ["UNEXPECTED_TOOL_CALL", "error"],
])("the finish reason %s is %s", (native, reason) => {
  const [choice] = objectsOf(
    normalizeChunk(chunkOf({ delta: {}, finish_reason: native }), { ...user, calls: [] })["choices"],
  )
  expect(choice).toMatchObject({ finish_reason: reason, native_finish_reason: native })
})

test("null and pings without JSON keep a stream open", () => {
  const frames = ["data: null\n\n", "event: ping\ndata: ping\n\n", "event: keep-alive\ndata: -\n\n"]
  const encoded = frames.map((text) => new TextEncoder().encode(text))
  const end = toFrame(chunkOf({ delta: { content: "Hi" }, finish_reason: "stop" }))
  expect(toResult([...encoded, end], chatReader).result).toMatchObject({ choices: [{ message: { content: "Hi" } }] })
  expect(toResult([new TextEncoder().encode("data: ping\n\n"), end], chatReader).result).toBeUndefined()
})

describe("a chat response in the shape of the completions format", () => {
  test("has its text in a stream", () => {
    const read = readAll([
      chunkOf({ text: "Hello" }),
      chunkOf({ text: " world" }),
      chunkOf({ text: "", finish_reason: "stop" }),
    ])
    expect(read).toMatchObject({ text: "Hello world", reasons: ["stop"], units: 11 })
    expect(read.message).toMatchObject({ role: "assistant", content: "Hello world" })
    expect(read.keys).not.toContain("text")
  })

  test("has its text in a document, and as a stream of it", () => {
    const result = { id: "u", choices: [{ index: 0, text: "Hello", finish_reason: "stop" }] }
    const meter = newMeter()
    readResponse(meter, result)
    expect(meter.units).toBe(5)
    const [choice] = objectsOf(normalizeResult(result, { ...user, calls: [] })["choices"])
    expect(choice).toMatchObject({ message: { role: "assistant", content: "Hello" } })
    expect(choice).not.toHaveProperty("text")
    const head = chatReader.toStreamHead(result)
    const frames = (head?.ok ? head.items : []).filter((item) => item instanceof Uint8Array)
    expect(frames.map((frame) => new TextDecoder().decode(frame)).join("")).toContain('"delta":{"content":"Hello"')
  })
})

test("usage in camel case is the provider's count", () => {
  const usage = { promptTokens: 7, completionTokens: 3, totalTokens: 10, promptTokensDetails: { cachedTokens: 2 } }
  const meter = newMeter()
  readResponse(meter, { ...textChunk("Hello"), usage })
  expect(meter.tokens).toMatchObject({ prompt: 7, completion: 3, cached: 2 })
})

describe("function_call, the deprecated form of a call", () => {
  const called = { name: "f", arguments: '{"x":1}' }
  const both = (upstreamBody: Json) => {
    const [document] = objectsOf(
      normalizeResult({ choices: [{ message: { function_call: called } }] }, { ...user, calls: [], upstreamBody })[
        "choices"
      ],
    )
    const chunk = chunkOf({ delta: { function_call: called }, finish_reason: "function_call" })
    const [streamed] = objectsOf(normalizeChunk(chunk, { ...user, calls: [], upstreamBody })["choices"])
    return [document, streamed]
  }

  test("is a call of tool_calls", () => {
    const call = { type: "function", function: called, id: expect.stringMatching(/^call_/) }
    const [document, streamed] = both({ tools: [] })
    expect(document).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [call] } })
    expect(streamed).toMatchObject({ finish_reason: "tool_calls", delta: { tool_calls: [{ ...call, index: 0 }] } })
    expect(
      [document?.["message"], streamed?.["delta"]].every((one) => isObject(one) && !("function_call" in one)),
    ).toBe(true)
  })

  test("stays for a client that uses it", () => {
    const [document, streamed] = both({ functions: [{ name: "f" }] })
    expect(document).toMatchObject({ message: { function_call: called } })
    expect(streamed).toMatchObject({ finish_reason: "function_call", delta: { function_call: called } })
  })

  test("in pieces is one call of the document", () => {
    const { message } = readAll([
      chunkOf({ delta: { function_call: { name: "f", arguments: "" } } }),
      chunkOf({ delta: { function_call: { arguments: '{"x":' } } }),
      chunkOf({ delta: { function_call: { arguments: "1}" } } }),
      chunkOf({ delta: {}, finish_reason: "function_call" }),
    ])
    expect(message["tool_calls"]).toMatchObject([{ function: called }])
  })
})

describe("reasoning in reasoning_details only", () => {
  const detail = (text: string) =>
    chunkOf({ delta: { reasoning_details: [{ type: "reasoning.text", text, index: 0 }] } })

  test("is reasoning, and metered", () => {
    expect(readAll([detail("H"), detail("m.")])).toMatchObject({ reasoning: "Hm.", units: 3 })
  })

  test("after the same text in reasoning is not reasoning again", () => {
    expect(readAll([chunkOf({ delta: { reasoning: "Hm." } }), detail("Hm.")]).reasoning).toBe("Hm.")
  })
})

test("arguments of a tool without parameters are sent as they arrive", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }]
  const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }
  const chunk = chunkOf({ delta: { tool_calls: [call] }, finish_reason: null })
  const normal = normalizeChunk(chunk, { ...user, calls: [], upstreamBody: { tools } })
  expect(normal["choices"]).toBe(chunk["choices"])
})

describe("the usage of a Messages stream", () => {
  const usages = (...all: Json[]) => {
    const meter = newMeter()
    const [first, ...others] = all
    messagesReader.read(meter, { type: "message_start", message: { id: "a", usage: first } })
    for (const usage of others) messagesReader.read(meter, { type: "message_delta", delta: {}, usage })
    return meter.tokens
  }
  const counts = fc.nat(10_000)

  test("without a count of the prompt is none, so that the prompt is not free", () => {
    const holds = fc.property(counts, counts, (one, other) => {
      expect(usages({ output_tokens: one }, { output_tokens: other })).toBeNull()
      expect(toChatUsage(addCounts(NO_COUNTS, { output_tokens: one }))).toBeNull()
    })
    fc.assert(holds)
  })

  test("keeps the count of the prompt if the last event has zeros", () => {
    const holds = fc.property(fc.integer({ min: 1, max: 10_000 }), counts, counts, (input, cached, output) => {
      const first = { input_tokens: input, cache_read_input_tokens: cached, output_tokens: 0 }
      const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
      const expected = { prompt: input + cached, cached, completion: output }
      expect(usages(first, { ...zeros, output_tokens: output })).toMatchObject(expected)
    })
    fc.assert(holds)
  })
})

test.each([
  ["length", "length", "max_tokens"],
  ["max_tokens", "length", "max_tokens"],
  ["tool_calls", "tool_calls", "tool_use"],
  ["stop", "stop", "end_turn"],
  ["content_filter", "content_filter", "refusal"],
  ["eos_token", "stop", "end_turn"],
  ["stop_sequence", "stop", "stop_sequence"],
  ["pause_turn", "stop", "pause_turn"],
])("the stop reason %s of a Messages server is %s, and %s in a native response", (native, finish, stop) => {
  expect(toMessagesFinish(native)).toBe(finish)
  expect(normalizeStopReason(native, false)).toBe(stop)
})

test.each([
  ["a name in fragments", [called("wea", ""), called("ther", ""), called("", '{"x":1}')]],
  ["a repeated name", [called("weather", ""), called("weather", '{"x":'), called("weather", "1}")]],
  ["empty arguments before the real ones", [called("weather", "{}"), called("", '{"x":'), called("", "1}")]],
  ["a finished call repeated", [called("weather", '{"x":1}'), called("weather", '{"x":1}')]],
])("the log of a call with %s has the call once", (_, deltas) => {
  const meter = { ...newMeter(), transcript: { content: "", reasoning: "" } }
  for (const delta of deltas) readResponse(meter, chunkOf({ delta: { tool_calls: [delta] } }))
  expect(meter.transcript).toMatchObject({ toolCalls: [{ name: "weather", arguments: '{"x":1}' }] })
})

test("a stop reason of the provider's own reaches clients of the chat format, and the record", () => {
  const message = { type: "message", role: "assistant", content: "No.", stop_reason: "guardrail_intervened" }
  const [choice] = objectsOf(toChatResult(message)["choices"])
  expect(choice).toMatchObject({ finish_reason: "content_filter", native_finish_reason: "guardrail_intervened" })
  const meter = newMeter()
  messagesReader.read(meter, message)
  expect(meter).toMatchObject({ finishReason: "content_filter", nativeFinishReason: "guardrail_intervened" })
})

function called(name: string, encoded: string): Json {
  return { index: 0, id: "a", type: "function", function: { name, arguments: encoded } }
}
