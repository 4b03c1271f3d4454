import { describe, expect, onTestFinished, test } from "vitest"
import { good, mockProvider, sse } from "../support/mock-provider.ts"
import { newWorkspace, openHolds, receiptOf, expectJson } from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

type Item = {
  type: string
  content?: { type: string; text?: string }[]
  name?: string
  arguments?: string
  call_id?: string
}
type Answer = {
  id: string
  status: string
  output: Item[]
  usage: { input_tokens: number; output_tokens: number; cost: number }
  error: unknown
}
type Event = {
  type: string
  sequence_number: number
  delta?: string
  response?: Answer & { error: { code: string; message: string } }
}

const TEXT = "Say it again and again.."
const send = (body: Record<string, unknown>, as = newWorkspace()) =>
  as.then((workspace) => workspace.as.post("/responses", { model: "sim/echo", input: TEXT, ...body }))

async function stream(body: Record<string, unknown>) {
  const workspace = await newWorkspace()
  const response = await workspace.as.post("/responses", { model: "sim/echo", input: TEXT, stream: true, ...body })
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const data = raw
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6))
  expect(data.at(-1)).toBe("[DONE]")
  const events = data.slice(0, -1).map((one) => JSON.parse(one) as Event)
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
  return { events, raw, workspace, response, last: events.at(-1) }
}

const textOf = ({ output }: Answer) =>
  output
    .flatMap(({ content }) => content ?? [])
    .map(({ text }) => text ?? "")
    .join("")

describe.concurrent("a response", () => {
  test("is one JSON document, charged like a chat completion", async () => {
    const workspace = await newWorkspace()
    const response = await send({}, Promise.resolve(workspace))
    const answer = await expectJson<Answer>(200, response)
    expect(answer).toMatchObject({ status: "completed", error: null })
    expect(textOf(answer)).toBe(TEXT)
    expect(answer.usage).toMatchObject({ input_tokens: 10, output_tokens: 6, cost: 0.000022 })
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0.000022, tokens_from: "upstream" })
    const { data } = await expectJson<{ data: { id: string } }>(200, workspace.as.get(`/generation?id=${answer.id}`))
    expect(data.id).toBe(answer.id)
  })

  test("is streamed from created to completed, and the last event has the complete response", async () => {
    const { events, last } = await stream({})
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"])
    const deltas = events.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta)
    expect(deltas.join("")).toBe(TEXT)
    expect(last?.type).toBe("response.completed")
    expect(textOf(last?.response as Answer)).toBe(TEXT)
    expect(last?.response?.usage).toMatchObject({ input_tokens: 10, output_tokens: 6, cost: 0.000022 })
  })

  test("takes instructions, a conversation and a tool over two turns", async () => {
    const tools = [
      {
        type: "function",
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ]
    const first = await expectJson<Answer>(200, send({ model: "sim/tool-call", tools, instructions: "Be brief." }))
    const call = first.output.find(({ type }) => type === "function_call")
    expect(call).toMatchObject({ name: "weather", arguments: JSON.stringify({ city: TEXT }) })
    const input = [
      { role: "user", content: TEXT },
      ...first.output,
      { type: "function_call_output", call_id: call?.call_id, output: "sunny" },
    ]
    const second = await expectJson<Answer>(200, send({ model: "sim/tool-call", tools, input }))
    expect(textOf(second)).toBe("The tool answered: sunny")
  })

  test("cut by max_output_tokens has status incomplete", async () => {
    expect(await expectJson<Answer>(200, send({ model: "sim/long", max_output_tokens: 20 }))).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    })
  })
})

describe.concurrent("a failing provider", () => {
  test.each([
    ["sim/status-429", 429],
    ["sim/status-500", 502],
    ["sim/status-529", 529],
    ["sim/empty", 502],
    ["sim/html", 502],
    ["sim/first-frame-error", 503],
  ])("before the first content: %s is HTTP %i, streamed or not, and free", async (model, status) => {
    for (const streamed of [true, false]) {
      const workspace = await newWorkspace()
      const response = await send({ model, stream: streamed }, Promise.resolve(workspace))
      await expectJson(status, response.clone())
      expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
      expect(await openHolds(workspace)).toEqual([])
    }
  })

  test.each([
    ["sim/late-error", 503],
    ["sim/cut", 502],
    ["sim/stall", 408],
  ])("in mid-stream: %s ends in response.failed, and delivered content is charged", async (model, status) => {
    const { events, last, workspace, response } = await stream({ model })
    expect(last?.type).toBe("response.failed")
    expect(last?.response?.error.message).toEqual(expect.any(String))
    expect(events.filter(({ type }) => type === "response.completed")).toEqual([])
    const receipt = await receiptOf(workspace, response)
    expect(receipt).toMatchObject({ tokens_completion: 10, tokens_from: "estimate", status })
    expect(last?.response?.usage).toMatchObject({
      input_tokens: receipt.tokens_prompt,
      output_tokens: 10,
      cost: receipt.total_cost,
    })
  })

  test("is replaced by the next model", async () => {
    const { last } = await stream({ model: "sim/status-503", models: ["sim/echo"] })
    expect(textOf(last?.response as Answer)).toBe(TEXT)
  })
})

describe.concurrent("a background response", () => {
  // Clients poll while the status is queued or in_progress.
  test.each(["sim/echo", "sim-responses/echo"])("of %s is completed at once", async (model) => {
    const result = await expectJson<Answer>(200, send({ model, background: true }))
    expect(result).toMatchObject({ status: "completed", background: false })
  })
})

describe.concurrent("an unsupported value", () => {
  test.each([
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ prompt: { id: "p" } }, "prompt"],
    [{ store: true }, "store"],
    [{ background: "yes" }, "background"],
    [{ max_tool_calls: 31 }, "max_tool_calls"],
    [{ max_tool_calls: 0 }, "max_tool_calls"],
    [{ max_tool_calls: 1.5, stop_server_tools_when: [{ type: "step_count_is", step_count: 1 }] }, "max_tool_calls"],
    [{ input: undefined }, "input"],
    [{ input: [{ type: "item_reference", id: "x" }] }, "input[0]"],
    [{ tools: [{ type: "service:web_search", parameters: { engine: "exa" } }] }, "tools[0].parameters.engine"],
    [{ metadata: { "a[b]": "c" } }, "metadata"],
    [{ temperature: 3 }, "temperature"],
    [{ include: ["everything"] }, "include"],
    [{ stop_server_tools_when: [] }, "stop_server_tools_when"],
  ])("%j is rejected with 400 and a message that names %s", async (body, field) => {
    const { error } = await expectJson<{ error: { message: string } }>(400, send(body))
    expect(error.message.startsWith(field), error.message).toBe(true)
  })
})

test.each([0, 31])("max_tool_calls: %i is ignored where stop_server_tools_when is set", async (limit) => {
  const stops = { stop_server_tools_when: [{ type: "step_count_is", step_count: 1 }], max_tool_calls: limit }
  expect(await expectJson(200, send(stops))).toMatchObject({ max_tool_calls: null })
})

describe("a stream that waits for its provider", () => {
  useShortHeartbeats()

  test("sends heartbeats as events, because not every client counts comments", async () => {
    const provider = Promise.withResolvers<void>()
    const { stop } = mockProvider(async () => {
      await provider.promise
      return sse(good(TEXT))
    })
    onTestFinished(stop)
    const response = await send({ model: "acme/chat-1", stream: true })
    let text = ""
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.split('"type":"response.in_progress"').length > 3) provider.resolve()
    }
    expect(text).toContain('"type":"response.completed"')
  })
})
