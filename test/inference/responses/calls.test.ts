import { describe, expect, test } from "vitest"
import type { ResponsesEvent } from "../../../src/inference/responses/schemas.ts"
import { callDelta, chunkOf, finalOf, type Json, told } from "./asked.ts"
import { expectWellFormed } from "./well-formed.ts"

const callsOf = (events: readonly ResponsesEvent[]) =>
  finalOf(events)
    .output.filter((item) => item.type === "function_call")
    .map((item) => [item["call_id"], item["name"], item["arguments"]])

describe("calls, as providers number and name them", () => {
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
      "every call number 0, told apart by its id",
      [begin("a", 0, "f", "{"), begin("b", 0, "g", "{"), go(0, "}", "a"), go(0, "}", "b")],
      [
        ["a", "f", "{}"],
        ["b", "g", "{}"],
      ],
    ],
    [
      "every call number 0, and no id",
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
      "a call told once more at its end",
      [begin("a", 0, "f", '{"x":1}'), begin("a", 0, "f", '{"x":1}')],
      [["a", "f", '{"x":1}']],
    ],
    [
      "a name that comes after its arguments",
      [go(0, "{", "a"), callDelta({ index: 0, function: { name: "f", arguments: "}" } })],
      [["a", "f", "{}"]],
    ],
    ["a name that never comes", [go(0, "{}", "a")], [["a", "", "{}"]]],
    [
      "arguments as an object",
      [callDelta({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } })],
      [["a", "f", '{"x":1}']],
    ],
  ]
  test.each(cases)("%s", (_, chunks, calls) => {
    const events = told([...chunks, chunkOf({}, "tool_calls")])
    expect(callsOf(events)).toEqual(calls)
    expectWellFormed(events)
  })
})
