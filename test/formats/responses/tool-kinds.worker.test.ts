import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, mockProvider, sse, usageChunk } from "../../support/mock-provider.ts"
import { newWorkspace, readStream, expectJson } from "../../support/world.ts"

type Json = Record<string, unknown>
type Event = Json & { type: string; item?: Json; response?: { output: Json[] } }

let stop = () => {}
afterEach(() => stop())

const TOOLS = [
  { type: "function", name: "plain", parameters: { type: "object" } },
  {
    type: "custom",
    name: "patch",
    description: "Patches.",
    format: { type: "grammar", syntax: "lark", definition: "start: X" },
  },
  {
    type: "namespace",
    name: "agents",
    description: "Agents.",
    tools: [
      { type: "function", name: "close", parameters: { type: "object" } },
      { type: "custom", name: "say" },
    ],
  },
]

function mockCalls(calls: [name: string, args: string][]) {
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `c${index}`,
    type: "function",
    function: { name, arguments: args },
  }))
  const provider = mockProvider(({ body }) =>
    body["stream"]
      ? sse([chunk({ tool_calls }), chunk({}, "tool_calls"), usageChunk(1, 1), DONE])
      : Response.json({ choices: [{ message: { content: null, tool_calls }, finish_reason: "tool_calls" }] }),
  )
  ;({ stop } = provider)
  return provider
}

const CALLS: [string, string][] = [
  ["plain", "{}"],
  ["patch", '{"input":"*** Begin"}'],
  ["agents__close", '{"target":"x"}'],
  ["agents__say", '{"input":"hi"}'],
]
const OUTPUT = [
  { type: "function_call", call_id: "c0", name: "plain", arguments: "{}" },
  { type: "custom_tool_call", call_id: "c1", name: "patch", input: "*** Begin" },
  { type: "function_call", call_id: "c2", name: "close", namespace: "agents", arguments: '{"target":"x"}' },
  { type: "custom_tool_call", call_id: "c3", name: "say", namespace: "agents", input: "hi" },
]

describe("custom tools and namespaces with a provider that only has functions", () => {
  test("are sent as functions and returned as their original kinds", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockCalls(CALLS)
    const { output } = await expectJson<{ output: Json[] }>(
      200,
      as.post("/responses", {
        model: "played/m3",
        input: "Hi",
        tools: TOOLS,
        tool_choice: { type: "custom", name: "patch" },
      }),
    )
    expect(output).toMatchObject(OUTPUT)
    expect(output[0]).not.toHaveProperty("namespace")
    const tools = upstreamCalls[0]?.body["tools"] as { type: string; function: Json }[]
    expect(tools.map((tool) => [tool.type, tool.function["name"]])).toEqual(CALLS.map(([name]) => ["function", name]))
    expect(tools[1]?.function["description"]).toContain("start: X")
    expect(upstreamCalls[0]?.body["tool_choice"]).toEqual({ type: "function", function: { name: "patch" } })
  })

  test("stream the input of a custom tool as its events", async () => {
    const { as } = await newWorkspace()
    mockCalls(CALLS)
    const { chunks } = await readStream(
      as.post("/responses", { model: "played/m3", input: "Hi", tools: TOOLS, stream: true }),
    )
    const events = chunks as unknown as Event[]
    expect(events.at(-1)?.response?.output).toMatchObject(OUTPUT)
    expect(events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)).toMatchObject(
      OUTPUT,
    )
    expect(events.filter(({ type }) => type === "response.custom_tool_call_input.done")).toMatchObject([
      { input: "*** Begin", output_index: 1 },
      { input: "hi", output_index: 3 },
    ])
    const deltas = events.filter(({ type }) => type === "response.function_call_arguments.delta")
    expect(deltas.map(({ output_index: index }) => index)).toEqual([0, 2])
  })

  test("are sent back as function calls and results", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockCalls([])
    const outputs = OUTPUT.map(({ type, call_id }) => ({ type: `${type}_output`, call_id, output: "ok" }))
    const input = [{ role: "user", content: "Hi" }, ...OUTPUT, ...outputs]
    await as.post("/responses", { model: "played/m3", input, tools: TOOLS })
    type Message = { tool_calls: { function: Json }[]; role: string }
    const [, assistant, ...results] = (upstreamCalls[0]?.body["messages"] ?? []) as Message[]
    expect(assistant?.tool_calls.map((call) => [call.function["name"], call.function["arguments"]])).toEqual(CALLS)
    expect(results.map(({ role }) => role)).toEqual(["tool", "tool", "tool", "tool"])
  })

  test("drop a web search that may not leave the vendor's index", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockCalls([["plain", "{}"]])
    const tools = [...TOOLS.slice(0, 1), { type: "web_search", external_web_access: false }]
    await expectJson(
      200,
      as.post("/responses", { model: "played/m3", input: "Hi", tools, client_metadata: { a: "b" } }),
    )
    expect(upstreamCalls[0]?.body["tools"]).toHaveLength(1)
    expect(upstreamCalls[0]?.body).not.toHaveProperty("client_metadata")
  })
})
