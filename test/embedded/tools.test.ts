import { describe, expect, test } from "vitest"
import { estimateTokens } from "../../src/support/tokens.ts"
import { contentOf, document, stream, user } from "./request.ts"

const output = "The quick brown fox jumps over the lazy dog, twice."
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      required: ["city", "unit"],
      properties: {
        city: { type: "string" },
        unit: { enum: ["celsius", "fahrenheit"] },
        days: { type: "integer" },
        hourly: { type: "boolean" },
        places: { type: "array", items: { type: "string" } },
        extra: { type: "object" },
      },
    },
  },
}
const clock = { type: "function", function: { name: "get_time" } }

describe("tools", () => {
  const args = { city: output, unit: "celsius", days: 42, hourly: true, places: [], extra: {} }

  test("calls the first tool with arguments from its schema", async () => {
    const answer = await document("tool-call", output, { tools: [weather, clock] })
    const [choice] = answer.choices
    expect(choice).toMatchObject({ finish_reason: "tool_calls", message: { content: null } })
    const calls = choice?.message?.tool_calls ?? []
    expect(calls).toMatchObject([
      { id: expect.stringMatching(/^call_/), type: "function", function: { name: "get_weather" } },
    ])
    expect(JSON.parse(calls[0]?.function.arguments ?? "")).toEqual(args)
    expect(answer.usage?.completion_tokens).toBe(estimateTokens(JSON.stringify(args)))
  })

  test("streams a call as its name first, then its arguments in chunks", async () => {
    const chunks = await stream("tool-call", output, { tools: [weather] })
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])
    expect(deltas[0]).toMatchObject({ index: 0, type: "function", function: { name: "get_weather", arguments: "" } })
    expect(JSON.parse(deltas.map((delta) => delta.function.arguments).join(""))).toEqual(args)
    expect(deltas.slice(1).some((delta) => "id" in delta)).toBe(false)
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls")
  })

  test("calls the tool that tool_choice names", async () => {
    const named = { type: "function", function: { name: "get_time" } }
    const { choices } = await document("tool-call", output, { tools: [weather, clock], tool_choice: named })
    expect(choices[0]?.message?.tool_calls).toMatchObject([{ function: { name: "get_time", arguments: "{}" } }])
  })

  test.each([
    ["there are no tools", {}],
    ["tool_choice is none", { tools: [weather], tool_choice: "none" }],
  ])("repeats the message when %s", async (_, more) => {
    expect(contentOf([await document("tool-call", output, more)])).toBe(output)
  })

  test("responds to a tool result with text", async () => {
    const messages = [...user(output), { role: "tool", tool_call_id: "call_1", content: "sunny" }]
    const answer = await document("parallel-tools", "", { messages, tools: [weather] })
    expect(contentOf([answer])).toBe("The tool answered: sunny")
    expect(answer.choices[0]?.finish_reason).toBe("stop")
  })

  test("calls several tools at once, each with its index and id", async () => {
    const chunks = await stream("parallel-tools", output, { tools: [weather, clock] })
    const opened = chunks.flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? []).filter(({ id }) => id)
    expect(opened.map(({ index, function: { name } }) => [index, name])).toEqual([
      [0, "get_weather"],
      [1, "get_time"],
    ])
    const { choices } = await document("parallel-tools", output, { tools: [clock] })
    expect(new Set(choices[0]?.message?.tool_calls?.map(({ id }) => id)).size).toBe(3)
  })

  test("calls one tool when parallel calls are off", async () => {
    const more = { tools: [weather, clock], parallel_tool_calls: false }
    expect((await document("parallel-tools", output, more)).choices[0]?.message?.tool_calls).toHaveLength(1)
  })

  test("cuts the arguments of a call at the limit", async () => {
    const { choices, usage } = await document("tool-call", output, { tools: [weather], max_tokens: 2 })
    expect(choices).toMatchObject([{ finish_reason: "length" }])
    expect(choices[0]?.message?.tool_calls?.[0]?.function.arguments).toBe(JSON.stringify(args).slice(0, 8))
    expect(usage?.completion_tokens).toBe(2)
  })
})
