import { describe, expect, test } from "vitest"
import { advance, fail, finish, keepAlive, newEventState, start } from "../../../src/formats/responses/events.ts"
import type { ResponsesEvent } from "../../../src/formats/responses/schemas.ts"
import { toEventFrame } from "../../../src/formats/sse/frames.ts"
import { requestOf, callDelta, chunkOf, COMPLETED_AT, facts, finalOf, runSteps, eventsOf, USAGE } from "./events-of.ts"

const typesOf = (events: readonly ResponsesEvent[]) => events.map(({ type }) => type.replace("response.", ""))

describe("events of a response", () => {
  test("stream a text", () => {
    const events = eventsOf([
      chunkOf({ role: "assistant", content: "" }),
      chunkOf({ content: "Hel" }),
      chunkOf({ content: "lo" }),
      chunkOf({}, "stop"),
      { choices: [], usage: USAGE },
    ])
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ])
    const place = { item_id: "msg_1", output_index: 0, content_index: 0 }
    const part = { type: "output_text", text: "Hello", annotations: [] }
    expect(events[0]).toMatchObject({
      response: { status: "in_progress", output: [], completed_at: null, usage: null },
    })
    expect(events[2]).toMatchObject({ item: { id: "msg_1", status: "in_progress", content: [] } })
    expect(events[4]).toEqual({
      type: "response.output_text.delta",
      sequence_number: 4,
      ...place,
      delta: "Hel",
      logprobs: [],
    })
    expect(events[6]).toMatchObject({ ...place, text: "Hello", logprobs: [] })
    expect(events[7]).toMatchObject({ ...place, part })
    expect(events[8]).toMatchObject({ output_index: 0, item: { status: "completed", content: [part] } })
    expect(finalOf(events)).toMatchObject({ status: "completed", usage: { input_tokens: 10, cost: 0.25 } })
  })

  test("stream reasoning, a refusal and a tool call", () => {
    const events = eventsOf([
      chunkOf({ reasoning: "H" }),
      chunkOf({ reasoning: "m." }),
      chunkOf({ refusal: "No." }),
      callDelta({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }, "tool_calls"),
    ])
    expect(typesOf(events).slice(2)).toEqual([
      "output_item.added",
      "content_part.added",
      "reasoning_text.delta",
      "reasoning_text.delta",
      "reasoning_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "refusal.delta",
      "refusal.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ])
  })

  test("stream each summary as a part", () => {
    const detail = (index: number, summary: string) =>
      chunkOf({ reasoning_details: [{ type: "reasoning.summary", index, summary }] })
    const sealed = { type: "reasoning.encrypted", data: "sealed", index: 1 }
    const events = eventsOf([
      detail(0, "A"),
      detail(0, "B"),
      detail(1, "C"),
      chunkOf({ reasoning_details: [sealed] }, "stop"),
    ])
    expect(typesOf(events).slice(2)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "completed",
    ])
    expect(finalOf(events).output).toMatchObject([
      { summary: [{ text: "AB" }, { text: "C" }], encrypted_content: "sealed" },
    ])
  })

  test("join a separate signature to the reasoning that it signs", () => {
    const events = eventsOf([
      chunkOf({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "Hm." }] }),
      chunkOf({ reasoning_details: [{ type: "reasoning.text", index: 0, signature: "s" }] }),
      chunkOf({ content: "So." }, "stop"),
    ])
    expect(finalOf(events).output[0]).toMatchObject({ content: [{ text: "Hm." }], signature: "s" })
  })

  test("do not split a message at reasoning in its middle", () => {
    const events = eventsOf([
      chunkOf({ content: "One, " }),
      chunkOf({ reasoning_details: [{ type: "reasoning.encrypted", data: "sealed" }] }),
      chunkOf({ content: "two." }, "stop"),
    ])
    expect(finalOf(events).output).toMatchObject([
      { type: "message", content: [{ text: "One, two." }] },
      { type: "reasoning", encrypted_content: "sealed" },
    ])
  })

  test("carry the usage and cost known at the end instead of those in the chunks", () => {
    const [advanced] = advance(newEventState(requestOf(), facts()), {
      ...chunkOf({ content: "Hi." }, "stop"),
      usage: USAGE,
    })
    const [, events] = finish(advanced, {
      completedAt: COMPLETED_AT,
      cost: 2,
      metadata: { service_metadata: { attempt: 1 } },
    })
    expect(finalOf(events)).toMatchObject({ usage: { input_tokens: 10, cost: 2 }, service_metadata: { attempt: 1 } })
  })

  test("carry the echo of the upstream body", () => {
    const events = eventsOf([{ choices: [], debug: { echo_upstream_body: { model: "m" } } }])
    expect(events[2]).toMatchObject({ type: "response.debug", debug: { echo_upstream_body: { model: "m" } } })
  })
})

describe("a response that fails", () => {
  const failure = { code: 502, message: "It broke off.", error_type: "provider_unavailable" }

  test("closes its open items and emits nothing after response.failed", () => {
    const events = runSteps(newEventState(requestOf(), facts()), [
      start,
      (state) => advance(state, chunkOf({ content: "Half" })),
      (state) => fail(state, failure),
      (state) => advance(state, chunkOf({ content: "more" })),
      (state) => finish(state, { completedAt: COMPLETED_AT }),
      keepAlive,
    ])
    expect(typesOf(events).slice(-4)).toEqual(["output_text.done", "content_part.done", "output_item.done", "failed"])
    expect(finalOf(events)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "It broke off." },
      error_type: "provider_unavailable",
      completed_at: null,
      output: [{ status: "incomplete", content: [{ text: "Half" }] }],
    })
  })

  test("before its first event emits created, in_progress and failed", () => {
    const [, events] = fail(newEventState(requestOf(), facts()), failure)
    expect(typesOf(events)).toEqual(["created", "in_progress", "failed"])
  })

  test("at a chunk with an error carries its code and type", () => {
    const error = { code: 429, message: "Slow down.", metadata: { error_type: "rate_limit_exceeded" } }
    const final = finalOf(eventsOf([chunkOf({ content: "Half" }), chunkOf({ content: "" }, "error", { error })]))
    expect(final).toMatchObject({
      status: "failed",
      error: { code: "rate_limit_exceeded" },
      error_type: "rate_limit_exceeded",
    })
  })
})

test("a heartbeat is an event with data", () => {
  const [begun, first] = keepAlive(newEventState(requestOf(), facts()))
  expect(typesOf(first)).toEqual(["created", "in_progress"])
  const [, again] = keepAlive(begun)
  expect(again).toMatchObject([{ type: "response.in_progress", sequence_number: 2, response: { id: "resp_1" } }])
})

test("an event is written with its name and JSON data", () => {
  const event = { type: "response.refusal.delta", sequence_number: 3, delta: "é\n" }
  expect(new TextDecoder().decode(toEventFrame(event))).toBe(
    `event: response.refusal.delta\ndata: {"type":"response.refusal.delta","sequence_number":3,"delta":"é\\n"}\n\n`,
  )
})
