import { afterEach, describe, expect, test } from "vitest"
import { framesOf } from "../../src/formats/sse/frames.ts"
import { messagesReader } from "../../src/formats/readers/messages.ts"
import { responsesReader } from "../../src/formats/readers/responses.ts"
import { type UpstreamRequest, mockProvider, sse } from "../support/mock-provider.ts"
import { newWorkspace, openHolds, receiptOf, expectJson } from "../support/world.ts"
import { newReplicaModel } from "../support/replicas.ts"

/** A native provider that responds in the other form: events to a request for JSON, or JSON to a request for a stream. */
type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string } }

let stop = () => {}
afterEach(() => stop())

function respondWith(answer: (upstreamCalls: UpstreamRequest) => Response) {
  const provider = mockProvider(answer)
  ;({ stop } = provider)
  return provider
}

async function eventsOf(answer: Promise<Response>) {
  const response = await answer
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const events = [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as Json)
  return { events, response }
}

const frame = (event: Json) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`
const bytesOf = (events: readonly Json[]) => new TextEncoder().encode(events.map(frame).join(""))

const MESSAGE = {
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "opus",
  content: [
    { type: "thinking", thinking: "Hm.", signature: "sig==" },
    { type: "redacted_thinking", data: "sealed" },
    { type: "text", text: "So.", citations: [{ type: "web_search_result_location", url: "u" }] },
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] },
    { type: "tool_use", id: "toolu_1", name: "f", input: { x: [1] } },
    { type: "tool_use", id: "toolu_2", name: "g", input: {} },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 5 },
}
const REQUEST = { model: "acme/opus-1", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }

describe("a message", () => {
  const frames = () => (messagesReader.toStreamHead(MESSAGE)?.items ?? []).filter((item) => item instanceof Uint8Array)
  const returned = () => frames().map((frame) => new TextDecoder().decode(frame))

  test("is unchanged when split into events and joined again", () => {
    expect(messagesReader.toResult(frames())).toEqual({ result: MESSAGE, error: null })
  })

  test("returned as JSON is streamed block by block", async () => {
    const workspace = await newWorkspace()
    respondWith(() => Response.json(MESSAGE))
    const { events, response } = await eventsOf(workspace.as.post("/messages", { ...REQUEST, stream: true }))
    expect(events.map(({ type }) => type).filter((type) => type !== "content_block_delta")).toEqual([
      "message_start",
      ...MESSAGE.content.flatMap(() => ["content_block_start", "content_block_stop"]),
      "message_delta",
      "message_stop",
    ])
    expect(events[0]).toMatchObject({ message: { id: "msg_up", content: [], stop_reason: null } })
    expect(events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]))).toEqual([
      { type: "thinking_delta", thinking: "Hm." },
      { type: "signature_delta", signature: "sig==" },
      { type: "text_delta", text: "So." },
      { type: "citations_delta", citation: { type: "web_search_result_location", url: "u" } },
      { type: "input_json_delta", partial_json: '{"query":"x"}' },
      { type: "input_json_delta", partial_json: '{"x":[1]}' },
      { type: "input_json_delta", partial_json: "{}" },
      { stop_reason: "tool_use", stop_sequence: null },
    ])
    const receipt = await receiptOf(workspace, response)
    expect(receipt).toMatchObject({ tokens_prompt: 20, tokens_completion: 5, ending: "complete" })
    expect(await openHolds(workspace)).toEqual([])
  })

  test("returned as events becomes one JSON document", async () => {
    const workspace = await newWorkspace()
    respondWith(() => sse(returned()))
    const answer = await workspace.as.post("/messages", REQUEST)
    const { content, stop_reason: reason } = await expectJson<Json>(200, answer.clone())
    expect({ content, reason }).toEqual({ content: MESSAGE.content, reason: "tool_use" })
    expect(await receiptOf(workspace, answer)).toMatchObject({ tokens_prompt: 20, tokens_completion: 5 })
  })

  test("keeps tool input that max_tokens cut as unparsed", () => {
    const events = [
      { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "f", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"x":' } },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 7, input_tokens: null } },
    ]
    expect(messagesReader.toResult(framesOf(bytesOf(events))).result).toMatchObject({
      content: [{ input: { unparsed: '{"x":' } }],
      stop_reason: "max_tokens",
      usage: { input_tokens: 12, output_tokens: 7 },
    })
  })

  test("streamed without message_delta ends with a stop reason and the charged usage", async () => {
    respondWith(() => sse(returned().filter((text) => !text.includes('"message_delta"'))))
    const workspace = await newWorkspace()
    const { events, response } = await eventsOf(workspace.as.post("/messages", { ...REQUEST, stream: true }))
    const [delta, end] = events.slice(-2)
    const { tokens_completion: charged } = await receiptOf(workspace, response)
    expect(delta).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: charged } })
    expect(end).toEqual({ type: "message_stop" })
  })

  test("streamed without event names gets them, since clients read events by name", async () => {
    respondWith(() => sse(returned().map((text) => text.replace(/^event: .*\n/m, ""))))
    const raw = await (await (await newWorkspace()).as.post("/messages", { ...REQUEST, stream: true })).text()
    const names = [...raw.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
    const types = [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => (JSON.parse(json ?? "") as Json)["type"])
    expect(types.length).toBeGreaterThan(10)
    expect(names).toEqual(types)
  })

  test.each([
    ["an error event", [frame({ type: "error", error: { type: "overloaded_error", message: "busy" } })], 529],
    ["a cut", returned().slice(0, -2), 502],
    ["an event that is not JSON", [...returned().slice(0, 2), "data: {broken\n\n", ...returned().slice(2)], 502],
  ])("with %s among its events fails with an HTTP error", async (_, pieces, status) => {
    respondWith(() => sse(pieces))
    const { error } = await expectJson<Failure>(status, (await newWorkspace()).as.post("/messages", REQUEST))
    expect(error.message).not.toBe("")
  })
})

const RESPONSE = {
  id: "resp_up",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [
    {
      id: "rs_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "In short." }],
      content: [{ type: "reasoning_text", text: "Hm." }],
      encrypted_content: "gAAA",
    },
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [
        {
          type: "output_text",
          text: "So.",
          annotations: [{ type: "url_citation", url: "u", title: "U", start_index: 0, end_index: 3 }],
          logprobs: [],
        },
        { type: "refusal", refusal: "No." },
      ],
    },
    { id: "fc_1", type: "function_call", status: "completed", call_id: "a", name: "f", arguments: '{"x":1}' },
    { id: "ctc_1", type: "custom_tool_call", status: "completed", call_id: "b", name: "g", input: "y" },
    { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } },
  ],
  usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 },
}
const PLACE = { model: "", input: "Hi", stream: true, provider: { only: ["replica-c"] } }

describe("a response", () => {
  const stream = async (response: Json) => {
    const workspace = await newWorkspace()
    respondWith(() => Response.json(response))
    const returned = await eventsOf(workspace.as.post("/responses", { ...PLACE, model: newReplicaModel() }))
    return { ...returned, workspace }
  }

  test("returned as JSON is streamed item by item", async () => {
    const { events, response, workspace } = await stream(RESPONSE)
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    const textOf = (kind: string) =>
      events.filter(({ type }) => type === `response.${kind}.delta`).map(({ delta, item_id: id }) => [id, delta])
    expect(textOf("reasoning_summary_text")).toEqual([["rs_1", "In short."]])
    expect(textOf("reasoning_text")).toEqual([["rs_1", "Hm."]])
    expect(textOf("output_text")).toEqual([["msg_1", "So."]])
    expect(textOf("refusal")).toEqual([["msg_1", "No."]])
    expect(textOf("function_call_arguments")).toEqual([["fc_1", '{"x":1}']])
    expect(textOf("custom_tool_call_input")).toEqual([["ctc_1", "y"]])
    const done = events.filter(({ type }) => type === "response.output_item.done")
    expect(done.map(({ item }) => item)).toEqual(RESPONSE.output)
    expect(events[0]).toMatchObject({ type: "response.created", response: { status: "in_progress", output: [] } })
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { output: RESPONSE.output } })
    expect(await receiptOf(workspace, response)).toMatchObject({ tokens_prompt: 20, tokens_completion: 7 })
    expect(await openHolds(workspace)).toEqual([])
  })

  test("cut by max_output_tokens ends in response.incomplete, and items without an id get one", async () => {
    const details = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    const { id: _, ...item } = RESPONSE.output[2] as Json
    const { events } = await stream({ ...RESPONSE, ...details, output: [item] })
    expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: { ...details, output: [item] } })
    expect(events.find(({ type }) => type === "response.function_call_arguments.done")?.["item_id"]).toBe("item_0")
  })

  test("that is queued or in progress counts as a failure", async () => {
    expect(responsesReader.toStreamHead({ ...RESPONSE, status: "in_progress" })).toBeNull()
    respondWith(() => Response.json({ ...RESPONSE, status: "queued" }))
    const body = { ...PLACE, model: newReplicaModel() }
    await expectJson(502, (await newWorkspace()).as.post("/responses", body))
  })

  test.each(["queued", "in_progress", "cancelled"])("that is %s, as JSON, is a failure too", async (status) => {
    respondWith(() => Response.json({ ...RESPONSE, status }))
    const body = { ...PLACE, model: newReplicaModel(), stream: false }
    await expectJson(502, (await newWorkspace()).as.post("/responses", body))
  })

  test.each([
    [
      "response.failed",
      { response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." } } },
    ],
    ["error", { code: "insufficient_quota", message: "Slow down." }],
  ])("with a rate limit or quota error returns 429: %s", async (type, fields) => {
    respondWith(() => sse([frame({ type, ...fields })]))
    const { as } = await newWorkspace()
    for (const isStreamed of [true, false]) {
      const body = { ...PLACE, model: newReplicaModel(), stream: isStreamed }
      const { error } = await expectJson<Failure>(429, as.post("/responses", body))
      expect(error.message).toContain("Slow down.")
    }
  })
})
