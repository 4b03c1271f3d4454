import { describe, expect, test } from "vitest"
import { newWorkspace, openHolds, receiptOf, expectJson } from "../support/world.ts"

/**
 * The seven cases of the Responses API's compliance suite, run against a provider of each API format: the output of
 * /responses must not show which format the provider uses.
 */

type Json = Record<string, unknown>
type Part = { type: string; text?: string }
type Item = { id: string; type: string; status: string; content?: Part[]; arguments?: string; call_id?: string }
type Answer = { id: string; status: string; output: Item[]; usage: Json; error: unknown }
type Event = {
  type: string
  sequence_number: number
  output_index: number
  content_index: number
  item_id: string
  delta: string
  item: Item
  part: Part
  text: string
  arguments: string
  response: Answer
}

const TOOL = {
  type: "function",
  name: "get_weather",
  description: "The weather of a place.",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
}
const IMAGE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const user = (content: unknown) => ({ type: "message", role: "user", content })

type Case = { model: string; body: Json; expectedText?: string; calls?: string }

const CASES: Record<string, Case> = {
  "a basic text response": { model: "echo", body: { input: "Say hello." }, expectedText: "Say hello." },
  streaming: {
    model: "echo",
    body: { input: [user("Count from 1 to 5.")], stream: true },
    expectedText: "Count from 1 to 5.",
  },
  "a system prompt": {
    model: "echo",
    body: {
      instructions: "You are a pirate.",
      input: [{ type: "message", role: "developer", content: "Be brief." }, user("Ahoy?")],
    },
    expectedText: "Ahoy?",
  },
  "tool calling": { model: "tool-call", body: { input: [user("Paris")], tools: [TOOL] }, calls: "Paris" },
  "tool calling, streamed": {
    model: "tool-call",
    body: { input: [user("Paris")], tools: [TOOL], tool_choice: "auto", stream: true },
    calls: "Paris",
  },
  "image input": {
    model: "echo",
    body: {
      input: [
        user([
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: IMAGE, detail: "auto" },
        ]),
      ],
    },
    expectedText: "What is this?",
  },
  "a conversation of several turns": {
    model: "echo",
    body: {
      input: [
        user("My name is Ada."),
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello, Ada.", annotations: [], logprobs: [] }],
        },
        user("What is my name?"),
      ],
    },
    expectedText: "What is my name?",
  },
}

describe.each(["sim", "sim-responses", "sim-messages"])("a provider with the API format of %s", (author) => {
  test.each(Object.entries(CASES))("%s", async (_, { model, body, expectedText, calls }) => {
    const workspace = await newWorkspace()
    const request = { model: `${author}/${model}`, ...body }
    const response = await workspace.as.post("/responses", request)
    const answer = body["stream"] ? assemble(await eventsOf(response)) : await expectJson<Answer>(200, response.clone())

    expectAnswer(answer, request)
    expect(answer.id).toBe(response.headers.get("x-generation-id"))
    if (expectedText !== undefined) expect(answer.output).toEqual([message(expectedText)])
    if (calls !== undefined) expect(answer.output).toEqual([call(calls)])
    expect(await openHolds(workspace)).toEqual([])
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "complete", tokens_from: "upstream" })
  })

  test("returns reasoning as separate items before the message, streamed or not", async () => {
    const { as } = await newWorkspace()
    const request = { model: `${author}/reasoning`, input: "Why?" }
    const streamed = assemble(await eventsOf(await as.post("/responses", { ...request, stream: true })))
    for (const answer of [streamed, await expectJson<Answer>(200, as.post("/responses", request))]) {
      expectAnswer(answer, request)
      expect(answer.output.map(({ type }) => type)).toEqual(["reasoning", "message"])
      expect(answer.output[0]?.content).toEqual([{ type: "reasoning_text", text: expect.stringContaining("Why?") }])
      expect(answer.output[1]).toEqual(message("Why?"))
    }
  })

  test("returns parallel tool calls as items with unique ids", async () => {
    const { as } = await newWorkspace()
    const request = { model: `${author}/parallel-tools`, input: "Paris", tools: [TOOL] }
    const streamed = assemble(await eventsOf(await as.post("/responses", { ...request, stream: true })))
    for (const answer of [streamed, await expectJson<Answer>(200, as.post("/responses", request))]) {
      expect(answer.output).toEqual([call("Paris"), call("Paris"), call("Paris")])
      for (const key of ["id", "call_id"] as const) expect(new Set(answer.output.map((item) => item[key])).size).toBe(3)
    }
  })

  test.each(["late-error", "cut"])(
    "%s ends the stream with response.failed after the deltas sent so far",
    async (fault) => {
      const { as } = await newWorkspace()
      const request = { model: `${author}/${fault}`, input: "Say it again", stream: true }
      const events = await eventsOf(await as.post("/responses", request))
      const last = events.at(-1)
      expect(last?.type).toBe("response.failed")
      expect(last?.response).toMatchObject({ status: "failed", error: { message: expect.any(String) } })
      expect(events.filter(({ type }) => type === "response.output_text.delta")).toHaveLength(10)
    },
  )

  test.each(["first-frame-error", "status-429"])("%s is an HTTP error, streamed or not", async (fault) => {
    const { as } = await newWorkspace()
    for (const stream of [true, false]) {
      const refused = await as.post("/responses", { model: `${author}/${fault}`, input: "Hi", stream })
      expect(refused.status).toBeGreaterThanOrEqual(429)
      expect(await refused.json()).toMatchObject({ error: { code: refused.status } })
    }
  })

  test("is charged by estimate when it returns no usage", async () => {
    const workspace = await newWorkspace()
    for (const stream of [true, false]) {
      const response = await workspace.as.post("/responses", { model: `${author}/no-usage`, input: "Hi", stream })
      await response.text()
      expect(await receiptOf(workspace, response)).toMatchObject({ tokens_from: "estimate", ending: "complete" })
    }
  })
})

const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_\\w+$`)) as string

function message(text: string) {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }]
  return { id: id("msg"), type: "message", status: "completed", role: "assistant", content }
}

function call(location: string) {
  const called = { name: "get_weather", arguments: JSON.stringify({ location }) }
  return { id: id("fc"), type: "function_call", status: "completed", call_id: id("(call|toolu)"), ...called }
}

/** The fields that every response has, whatever the provider. */
function expectAnswer(answer: Answer, { model, instructions = null, tools = [] }: Json): void {
  expect(answer).toMatchObject({
    object: "response",
    status: "completed",
    created_at: expect.any(Number),
    completed_at: expect.any(Number),
    error: null,
    incomplete_details: null,
    instructions,
    previous_response_id: null,
    parallel_tool_calls: true,
    store: false,
    tool_choice: "auto",
    tools: (tools as Json[]).map((tool) => ({ ...tool, strict: null })),
    text: { format: { type: "text" } },
    // Fields that other API formats lack: the requested value or a default.
    temperature: expect.any(Number),
    top_p: expect.any(Number),
    presence_penalty: expect.any(Number),
    frequency_penalty: expect.any(Number),
    top_logprobs: expect.any(Number),
    service_tier: expect.any(String),
    truncation: "disabled",
    background: false,
    metadata: {},
    usage: {
      input_tokens: expect.any(Number),
      input_tokens_details: { cached_tokens: expect.any(Number), cache_write_tokens: expect.any(Number) },
      output_tokens: expect.any(Number),
      output_tokens_details: { reasoning_tokens: expect.any(Number) },
      total_tokens: (answer.usage["input_tokens"] as number) + (answer.usage["output_tokens"] as number),
      cost: expect.any(Number),
    },
  })
  expect(
    String(model).endsWith(
      `/${String((answer as unknown as Json)["model"])
        .split("/")
        .at(-1)}`,
    ),
  ).toBe(true)
}

async function eventsOf(response: Response): Promise<Event[]> {
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
  const frames = raw.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"))
  expect(frames.pop()).toBe("data: [DONE]")
  const events = frames.map((frame) => {
    const [, type, data] = /^event: (.+)\ndata: (.+)$/.exec(frame) ?? []
    const event = JSON.parse(data ?? "") as Event
    expect(event.type).toBe(type)
    return event
  })
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"])
  return events
}

/** Assembles the response from the events, and checks it against the last event. */
function assemble(events: readonly Event[]): Answer {
  const items: Item[] = []
  const done = new Set<number>()
  for (const event of events) {
    const { output_index: at, content_index: part } = event
    const item = items[at]
    if ("item_id" in event) {
      expect(event.item_id, event.type).toBe(item?.id)
      expect(done.has(at), event.type).toBe(false)
    }
    switch (event.type) {
      case "response.output_item.added":
        expect(at).toBe(items.length)
        expect(event.item.status).toBe("in_progress")
        items.push(structuredClone(event.item))
        break
      case "response.content_part.added":
        if (item) item.content = [...(item.content ?? []), structuredClone(event.part)]
        expect(part).toBe((item?.content?.length ?? 0) - 1)
        break
      case "response.output_text.delta":
      case "response.reasoning_text.delta":
        Object.assign(item?.content?.[part] ?? {}, { text: (item?.content?.[part]?.text ?? "") + event.delta })
        break
      case "response.output_text.done":
      case "response.reasoning_text.done":
        expect(event.text).toBe(item?.content?.[part]?.text)
        break
      case "response.content_part.done":
        expect(event.part).toEqual(item?.content?.[part])
        break
      case "response.function_call_arguments.delta":
        if (item) item.arguments += event.delta
        break
      case "response.function_call_arguments.done":
        expect(event.arguments).toBe(item?.arguments)
        break
      case "response.output_item.done":
        expect(event.item).toMatchObject({ ...item, status: "completed" })
        items[at] = event.item
        done.add(at)
        break
      default:
        expect(event.type).toMatch(/^response\.(?:created|in_progress|completed)$/)
    }
  }
  const last = events.at(-1)
  expect(last?.type).toBe("response.completed")
  expect(done.size).toBe(items.length)
  expect(last?.response.output).toEqual(items)
  return last?.response as Answer
}
