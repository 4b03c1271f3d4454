import { beforeAll, expect, test, vi } from "vitest"
import { expectJson, newWorkspace } from "../support/world.ts"
import { call, listen, newReceiver, useProvider, mockReceivers, receivedSpans, spansIn } from "./receiver.ts"
import { eventually } from "../support/eventually.ts"

beforeAll(() => {
  mockReceivers()
  return () => vi.restoreAllMocks()
})

const tool = (name: string) => ({
  type: "function",
  function: { name, description: `Calls ${name}`, parameters: { type: "object", properties: {} } },
})
const called = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: "{}" } })

/** A turn with three tool calls, a fallback and a guardrail flag, after a turn with tool results. */
const TURN = {
  models: ["sim/status-500", "sim/parallel-tools"],
  tools: ["weather", "news", "stocks"].map(tool),
  temperature: 1,
  messages: [
    { role: "user", content: "Write to ada@example.com" },
    { role: "assistant", content: null, tool_calls: [called("call-0", "weather")] },
    { role: "tool", tool_call_id: "call-0", content: "rainy in Paris" },
    { role: "user", content: "Now all three" },
  ],
}

test.each([
  ["a stream", true],
  ["a document", false],
])("an agent's turn is complete in an OTLP receiver, a webhook and S3: %s", async (_, stream) => {
  const workspace = await newWorkspace()
  const rules = { content_filter_builtins: [{ slug: "email", action: "flag" }] }
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/guardrails", { name: "Mail", ...rules }),
  )
  const keys = await expectJson<{ data: { hash: string; kind: string }[] }>(200, workspace.manage.get("/keys"))
  const hash = keys.data.find(({ kind }) => kind === "normal")?.hash
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
  const [otlp, hook, bucket] = [newReceiver(), newReceiver(), newReceiver()]
  await listen(workspace, hook.url)
  await listen(workspace, otlp.url, { type: "otel-collector", config: { endpoint: otlp.url } })
  const s3 = {
    endpoint: bucket.url,
    bucketName: "b",
    accessKeyId: "AKIA0123456789012345",
    secretAccessKey: "s3-secret-key-0123456789ab",
  }
  await listen(workspace, bucket.url, { type: "s3", config: s3 })
  await call(workspace.as.post("/chat/completions", { ...TURN, stream }))

  for (const { got } of [otlp, hook]) {
    await receivedSpans(got, 3)
    const [turn, ...steps] = spansIn(got)
    const read = (key: string) => JSON.parse(String(turn?.at[key])) as { parts: { type: string; name?: string }[] }[]
    const [answer] = read("gen_ai.output.messages")
    const calls = answer?.parts.filter(({ type }) => type === "tool_call")
    expect(calls?.map(({ name }) => name)).toEqual(["weather", "news", "stocks"])
    expect(read("gen_ai.input.messages")[2]).toEqual({
      role: "tool",
      parts: [{ type: "tool_call_response", id: "call-0", response: "rainy in Paris" }],
    })
    expect(read("gen_ai.tool.definitions").length).toBe(3)
    expect(turn?.at).toMatchObject({ "gen_ai.request.temperature": 1, "gen_ai.request.stream": stream })
    expect(steps.filter(({ at }) => at["gateway.guardrail.action"] === "flag").length).toBe(1)
    expect(steps.filter(({ name }) => name.startsWith("attempt")).length).toBeGreaterThanOrEqual(2)
    expect(new Set(steps.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([turn?.spanId]))
  }
  const line = await eventually(() => {
    const [object] = bucket.got
    return JSON.parse(object?.body ?? "") as Record<string, string>
  })
  expect((JSON.parse(line["tool_calls"] ?? "") as { name: string }[]).map(({ name }) => name)).toEqual([
    "weather",
    "news",
    "stocks",
  ])
  expect(line["input"]).toContain("rainy in Paris")
  expect((JSON.parse(line["tools"] ?? "") as unknown[]).length).toBe(3)
})

test.each(["/chat/completions", "/responses", "/messages"])(
  "a refusal and a tool call on %s reach a destination",
  async (path) => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url)
    const flat = { name: "weather", description: "d", parameters: { type: "object", properties: {} } }
    const body = {
      "/chat/completions": { messages: [{ role: "user", content: "Hi" }], tools: [tool("weather")] },
      "/responses": { input: "Hi", tools: [{ type: "function", ...flat }] },
      "/messages": {
        messages: [{ role: "user", content: "Hi" }],
        max_tokens: 50,
        tools: [{ name: "weather", description: "d", input_schema: flat.parameters }],
      },
    }[path]
    await call(workspace.as.post(path, { model: "sim/tool-call", ...body }))
    await call(workspace.as.post(path, { model: "sim/refusal", ...body }))
    const spans = await receivedSpans(got, 2)
    const messages = spans.map(({ at }) => String(at["gen_ai.output.messages"]))
    expect(messages.some((text) => text.includes('"type":"tool_call"') && text.includes('"weather"'))).toBe(true)
    expect(messages.some((text) => text.includes('"type":"refusal"'))).toBe(true)
  },
)

test("the later rounds of a server tool and its runs are children of the first round", async () => {
  const answers = [
    {
      message: { role: "assistant", content: null, tool_calls: [called("c1", "datetime")] },
      finish_reason: "tool_calls",
    },
    { message: { role: "assistant", content: "It is late." }, finish_reason: "stop" },
  ]
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  useProvider(() => Response.json({ choices: [{ index: 0, ...answers.shift() }], usage }))
  const workspace = await newWorkspace()
  const { got, url } = newReceiver()
  await listen(workspace, url, { type: "otel-collector", config: { endpoint: url } })
  const messages = [{ role: "user", content: "What time is it?" }]
  await call(
    workspace.as.post("/chat/completions", {
      model: "acme/chat-99",
      messages,
      tools: [{ type: "openrouter:datetime" }],
    }),
  )
  const spans = await receivedSpans(got, 3)
  const root = spans.find(({ parentSpanId }) => parentSpanId === undefined)
  const others = spans.filter((span) => span !== root)
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(others.map(({ parentSpanId }) => parentSpanId)).toEqual([root?.spanId, root?.spanId])
  expect(others.map(({ name }) => name).toSorted()).toEqual(["chat acme/chat-99", "execute_tool datetime"])
  expect(others.find(({ name }) => name.startsWith("execute"))?.at).toMatchObject({ "gen_ai.tool.name": "datetime" })
})
