import * as fc from "fast-check"
import { expect, test } from "vitest"
import { advance, fail, keepAlive, newEventState, start } from "../../../src/formats/responses/events.ts"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import {
  requestOf,
  callDelta,
  chunkOf,
  facts,
  finalOf,
  type Json,
  runSteps,
  resultOf,
  eventsOf,
  USAGE,
} from "./events-of.ts"
import { expectWellFormed } from "./well-formed.ts"

const pieces = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 5 })
const finishReason = fc.constantFrom("stop", "tool_calls", "length", "content_filter")

/** A response in the order in which models generate it, complete and in chunks that interleave where providers do. */
const answer = fc
  .record({
    thought: pieces,
    signature: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    spoken: pieces,
    refused: pieces,
    calls: fc.array(fc.record({ name: fc.constantFrom("f", "g"), pieces }), { maxLength: 3 }),
    order: fc.infiniteStream(fc.nat()),
    finishReason,
  })
  .map(({ thought, signature, spoken: texts, refused, calls, order, finishReason: reason }) => {
    const queues = calls.map((call, index) => [
      { index, id: `call-${index}`, function: { name: call.name, arguments: "" } },
      ...call.pieces.map((piece) => ({ index, function: { arguments: piece } })),
    ])
    const interleaved: Json[] = queues.flatMap((queue) => queue.splice(0, 1))
    while (queues.some((queue) => queue.length > 0)) {
      const left = queues.filter((queue) => queue.length > 0)
      const delta = left[order.next().value % left.length]?.shift()
      if (delta) interleaved.push(delta)
    }
    const chunks = [
      chunkOf({ role: "assistant", content: "" }),
      ...thought.map((text) =>
        chunkOf({ reasoning: text, reasoning_details: [{ type: "reasoning.text", index: 0, text }] }),
      ),
      ...(signature === undefined
        ? []
        : [chunkOf({ reasoning_details: [{ type: "reasoning.text", index: 0, signature }] })]),
      ...texts.map((content) => chunkOf({ content })),
      ...refused.map((refusal) => chunkOf({ refusal })),
      ...interleaved.map((call) => callDelta(call)),
      chunkOf({}, reason),
      { choices: [], usage: USAGE },
    ]
    const details = thought.length > 0 || signature !== undefined
    const message = {
      content: texts.join(""),
      refusal: refused.join(""),
      ...(details && { reasoning_details: [{ type: "reasoning.text", text: thought.join(""), signature }] }),
      tool_calls: calls.map((call, index) => ({
        id: `call-${index}`,
        type: "function",
        function: { name: call.name, arguments: call.pieces.join("") },
      })),
    }
    return { chunks, result: resultOf(message, reason, { usage: USAGE }) }
  })

test("a stream ends with the same response as its non-streamed form", () => {
  fc.assert(
    fc.property(answer, ({ chunks, result }) => {
      const events = eventsOf(chunks)
      expectWellFormed(events)
      expect(finalOf(events)).toEqual(toResponsesResult(result, requestOf(), facts()))
    }),
  )
})

const anyDelta = fc.oneof(
  fc.record({ content: fc.string({ maxLength: 3 }) }),
  fc.record({ refusal: fc.string({ maxLength: 3 }) }),
  fc.record({ reasoning: fc.string({ maxLength: 3 }) }),
  fc.record({
    reasoning_details: fc.array(
      fc.record(
        {
          type: fc.constantFrom("reasoning.text", "reasoning.summary", "reasoning.encrypted", "reasoning.other"),
          text: fc.string({ maxLength: 2 }),
          summary: fc.string({ maxLength: 2 }),
          data: fc.string({ maxLength: 2 }),
          signature: fc.string({ maxLength: 1 }),
          id: fc.constantFrom("a", "b"),
          index: fc.nat({ max: 2 }),
        },
        { requiredKeys: ["type"] },
      ),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    tool_calls: fc.array(
      fc.record(
        {
          index: fc.nat({ max: 2 }),
          id: fc.constantFrom("", "a", "b"),
          function: fc.record(
            { name: fc.constantFrom("", "f", "g"), arguments: fc.constantFrom("", "{", "}", "{}") },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 2 },
    ),
  }),
  fc.record({ images: fc.constant([{ image_url: { url: "data:image/png;base64,AA==" } }]) }),
)

test("arbitrary chunks in any order produce well-formed events", () => {
  fc.assert(
    fc.property(fc.array(anyDelta, { maxLength: 12 }), finishReason, (deltas, reason) => {
      const chunks = deltas.map((delta) => chunkOf(delta as Json))
      expectWellFormed(eventsOf([...chunks, chunkOf({}, reason)]))
      const failed = { code: 502, message: "It broke off.", error_type: "provider_unavailable" }
      const steps = chunks.map((chunk) => (state: ReturnType<typeof newEventState>) => advance(state, chunk))
      expectWellFormed(
        runSteps(newEventState(requestOf(), facts()), [start, ...steps, keepAlive, (state) => fail(state, failed)]),
      )
    }),
  )
})

test("arbitrary JSON produces well-formed events", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (choice, delta) => {
      const shapes = [{ choices: choice }, { choices: [choice] }, { choices: [{ index: 0, delta }] }, { error: choice }]
      expectWellFormed(eventsOf(shapes))
    }),
  )
})
