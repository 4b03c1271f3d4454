import { describe, expect, test } from "vitest"
import { advance, type EventState, newEventState } from "../../../src/formats/responses/events.ts"
import type { ResponsesEvent } from "../../../src/formats/responses/schemas.ts"
import { requestOf, callDelta, chunkOf, facts, finalOf, type Json, runSteps, eventsOf } from "./events-of.ts"
import { expectWellFormed } from "./well-formed.ts"

const callsOf = (events: readonly ResponsesEvent[]) =>
  finalOf(events)
    .output.filter((item) => item.type === "function_call")
    .map((item) => [item["call_id"], item["name"], item["arguments"]])

describe("numbering and names of tool calls by providers", () => {
  const begin = (id: string | undefined, index: number | undefined, name: string, args = "") =>
    callDelta({ id, index, function: { name, arguments: args } })
  const go = (index: number | undefined, args: string, id?: string) =>
    callDelta({ index, id, function: { arguments: args } })
  const cases: [string, Json[], unknown[]][] = [
    ["name and arguments in one chunk", [begin("a", 0, "f", "{}")], [["a", "f", "{}"]]],
    [
      "arguments on the chunk with the finish reason",
      [begin("a", 0, "f"), callDelta({ index: 0, function: { arguments: "{}" } }, "tool_calls")],
      [["a", "f", "{}"]],
    ],
    [
      "interleaved",
      [begin("a", 0, "f"), begin("b", 1, "g"), go(0, '{"x":'), go(1, '{"y":'), go(0, "1}"), go(1, "2}")],
      [
        ["a", "f", '{"x":1}'],
        ["b", "g", '{"y":2}'],
      ],
    ],
    [
      "indexes that begin elsewhere and leave gaps",
      [begin("a", 3, "f", "{"), begin("b", 9, "g", "{"), go(3, "}"), go(9, "}")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    ["the id on every delta", [begin("a", 0, "f", "{"), go(0, "}", "a")], [["a", "f", "{}"]]],
    ["a new id on every delta", [begin("a", 0, "f", "{"), go(0, "}", "z")], [["a", "f", "{}"]]],
    ["the name on every delta", [begin("a", 0, "f", "{"), begin("a", 0, "f", "}")], [["a", "f", "{}"]]],
    ["an index that counts the deltas", [begin("a", 0, "f", "{"), go(1, "}", "a")], [["a", "f", "{}"]]],
    [
      "no index",
      [begin("a", undefined, "f", "{"), go(undefined, "}"), begin("b", undefined, "g", "{"), go(undefined, "}", "b")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "every call with index 0, separated by ids",
      [begin("a", 0, "f", "{"), begin("b", 0, "g", "{"), go(0, "}", "a"), go(0, "}", "b")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "every call with index 0, and no id",
      [begin("", 0, "f", '{"x":1}'), begin("", 0, "f", '{"x":2}')],
      [
        ["call_2", "f", '{"x":1}'],
        ["call_4", "f", '{"x":2}'],
      ],
    ],
    [
      "one id for two calls",
      [begin("a", 0, "f", "{}"), begin("a", 1, "g", "{}")],
      [
        ["a", "f", "{}"],
        ["call_3", "g", "{}"],
      ],
    ],
    [
      "a call repeated at its end",
      [begin("a", 0, "f", '{"x":1}'), begin("a", 0, "f", '{"x":1}')],
      [["a", "f", '{"x":1}']],
    ],
    [
      "a name after its arguments",
      [go(0, "{", "a"), callDelta({ index: 0, function: { name: "f", arguments: "}" } })],
      [["a", "f", "{}"]],
    ],
    ["no name", [go(0, "{}", "a")], [["a", "", "{}"]]],
    [
      "a name in pieces",
      [
        callDelta({ index: 0, id: "a", function: { name: "get_" } }),
        callDelta({ index: 0, function: { name: "weather", arguments: "" } }),
        go(0, "{}"),
      ],
      [["a", "get_weather", "{}"]],
    ],
    [
      "a name in pieces, the last with the arguments, before another call",
      [begin("a", 0, "get_"), begin("a", 0, "weather", "{}"), begin("b", 1, "get_"), begin("", 1, "time", "{}")],
      [
        ["a", "get_weather", "{}"],
        ["b", "get_time", "{}"],
      ],
    ],
    [
      "a complete name twice before the arguments",
      [begin("a", 0, "f"), begin("a", 0, "f"), go(0, "{}")],
      [["a", "f", "{}"]],
    ],
    [
      "one id for two calls with different indexes",
      [begin("a", 0, "f", "{}"), begin("a", 1, "g", "{"), go(1, "}", "a")],
      [
        ["a", "f", "{}"],
        ["call_3", "g", "{}"],
      ],
    ],
    [
      "every call with index 0, and pieces without an id",
      [begin("a", 0, "f", "{"), go(0, "}"), begin("b", 0, "g", "{"), go(0, "}")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "a name after its id and index",
      [begin("a", 0, "f", "{}"), go(1, "{", "b"), callDelta({ index: 1, function: { name: "g", arguments: "}" } })],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "no index, no id, the name on every delta",
      [begin("", undefined, "f", "{"), begin("", undefined, "f", "}")],
      [["call_2", "f", "{}"]],
    ],
    ["no arguments", [begin("a", 0, "f")], [["a", "f", "{}"]]],
    [
      "no arguments, before another call",
      [begin("a", 0, "f"), begin("b", 1, "g", "{}")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "arguments as an object",
      [callDelta({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } })],
      [["a", "f", '{"x":1}']],
    ],
  ]
  test.each(cases)("%s", (_, chunks, calls) => {
    const events = eventsOf([...chunks, chunkOf({}, "tool_calls")])
    expect(callsOf(events)).toEqual(calls)
    expectWellFormed(events)
  })

  test("a tool call is sent with its first arguments, with the next call, or at the end", () => {
    const begunBy = (...chunks: Json[]) => {
      const steps = chunks.map((chunk) => (state: EventState) => advance(state, chunk))
      const added = runSteps(newEventState(requestOf(), facts()), steps).filter(({ type }) =>
        type.endsWith("item.added"),
      )
      return added.map(({ item }) => (item as Json)["name"])
    }
    expect(begunBy(begin("a", 0, "f"))).toEqual([])
    expect(begunBy(begin("a", 0, "f"), go(0, "{"))).toEqual(["f"])
    expect(begunBy(begin("a", 0, "f"), begin("b", 1, "g"))).toEqual(["f"])
  })

  test("a tool call with complete arguments ends before the next one begins, as in OpenAI's streams", () => {
    const chunks = [begin("a", 0, "f", '{"x":'), go(0, "1}"), begin("b", 1, "g", "{}"), chunkOf({}, "tool_calls")]
    const order = eventsOf(chunks).flatMap(({ type, output_index: at }) =>
      /output_item|arguments\.done/.test(type) ? [[at, type.split(".").slice(-2).join(".")]] : [],
    )
    const call = ["output_item.added", "function_call_arguments.done", "output_item.done"]
    expect(order).toEqual([0, 1].flatMap((at) => call.map((event) => [at, event])))
  })

  test("a tool call that a limit cut before its arguments has none", () => {
    const events = eventsOf([begin("a", 0, "f", "{}"), begin("b", 1, "g"), chunkOf({}, "length")])
    expect(callsOf(events)).toEqual([
      ["a", "f", "{}"],
      ["b", "g", ""],
    ])
    expectWellFormed(events)
  })
})
