import { afterEach, describe, expect, test } from "vitest"
import { type UpstreamRequest, mockProvider, sse } from "../support/mock-provider.ts"
import { newWorkspace, openHolds, receiptOf, expectJson } from "../support/world.ts"
import { newReplicaModel } from "../support/replicas.ts"
import { useShortHeartbeats } from "../support/variable.ts"

/** `replica-c` of the test configuration uses the Responses format. */
const ONLY_C = { provider: { only: ["replica-c"] } }
type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string } }

let stop = () => {}
afterEach(() => stop())

function respondWith(answer: (upstreamCalls: UpstreamRequest) => Response) {
  const provider = mockProvider(answer)
  ;({ stop } = provider)
  return provider
}

const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 27,
}
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
}
const RESPONSE = {
  id: "resp_up",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [MESSAGE],
}

const event = (type: string, fields: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function stream(ending: Json = { ...RESPONSE, usage: USAGE }, type = "response.completed"): string[] {
  const head = { ...RESPONSE, status: "in_progress", output: [] }
  return [
    event("response.created", { sequence_number: 0, response: head }),
    event("response.in_progress", { sequence_number: 1, response: head }),
    event("response.output_item.added", { sequence_number: 2, output_index: 0, item: { ...MESSAGE, content: [] } }),
    event("response.output_text.delta", {
      sequence_number: 3,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "Hello",
      obfuscation: "xyz",
    }),
    event("response.output_item.done", { sequence_number: 4, output_index: 0, item: MESSAGE }),
    event(type, { sequence_number: 5, response: ending }),
  ]
}

async function read(answer: Promise<Response>) {
  const response = await answer
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const data = raw.split("\n\n").flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
  const events = data.slice(0, -1).map((one) => JSON.parse(one) as Json & { response: Json })
  return { events, last: events.at(-1) as Json & { response: Json }, isDone: data.at(-1) === "[DONE]", raw, response }
}

describe("a provider of the Responses format", () => {
  test("gets a native request; its response keeps unknown fields and gets the generation id, the cost and missing keys", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = respondWith(() => Response.json({ ...RESPONSE, usage: USAGE, vendor_field: 1 }))
    const answer = await workspace.as.post("/responses", {
      model: newReplicaModel(),
      input: "Hi",
      user: "grace",
      store: false,
      max_output_tokens: 99,
      include: ["reasoning.encrypted_content"],
      metadata: { a: "b" },
      ...ONLY_C,
    })
    const returned = await expectJson<Json & { usage: Json }>(200, answer.clone())
    expect(returned).toMatchObject({
      id: answer.headers.get("x-generation-id"),
      status: "completed",
      output: [MESSAGE],
      vendor_field: 1,
      presence_penalty: 0,
      metadata: { a: "b" },
    })
    expect(returned.usage["cost"]).toBeCloseTo(20e-6 + 7 * 2e-6, 9)
    const [{ url, body }] = upstreamCalls as [UpstreamRequest]
    expect(url).toBe("http://replica-c.test/v1/responses")
    expect(body).toMatchObject({
      input: "Hi",
      store: false,
      max_output_tokens: 99,
      include: ["reasoning.encrypted_content"],
    })
    for (const field of ["provider", "metadata", "user", "session_id"]) expect(body).not.toHaveProperty(field)
    expect(JSON.stringify(body)).not.toContain("grace")
    const receipt = await receiptOf(workspace, answer)
    expect(receipt).toMatchObject({
      tokens_prompt: 20,
      tokens_completion: 7,
      native_tokens_cached: 5,
      ending: "complete",
    })
  })

  test("has its stream relayed event by event; the last event carries the cost", async () => {
    const workspace = await newWorkspace()
    respondWith(() => sse(stream()))
    const { events, last, isDone, raw, response } = await read(
      workspace.as.post("/responses", { model: newReplicaModel(), input: "Hi", stream: true, ...ONLY_C }),
    )
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at))
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      // The provider announces no parts.
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ])
    expect(raw).toContain('"obfuscation":"xyz"')
    expect(last["type"]).toBe("response.completed")
    expect(last.response).toMatchObject({ id: response.headers.get("x-generation-id"), output: [MESSAGE] })
    expect((last.response["usage"] as Json)["cost"]).toBeCloseTo(34e-6, 9)
    expect(isDone).toBe(true)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("has events without a type removed, and fields of null and fractions in its usage", async () => {
    const workspace = await newWorkspace()
    const details = { cached_tokens: 5, audio_tokens: 0.5, text_tokens: null }
    const usage = { ...USAGE, input_tokens_details: details, cost_in_ticks: null }
    const events = stream({ ...RESPONSE, usage })
    respondWith(() =>
      sse([...events.slice(0, 4), "event: ping\ndata: {}\n\n", 'data: {"x":1}\n\n', ...events.slice(4)]),
    )
    const received = await read(
      workspace.as.post("/responses", { model: newReplicaModel(), input: "Hi", stream: true, ...ONLY_C }),
    )
    expect(received.events.map(({ type, sequence_number: number }) => [typeof type, number])).toEqual(
      received.events.map((_, number) => ["string", number]),
    )
    expect(received.last.response["usage"]).toMatchObject({
      input_tokens_details: { cached_tokens: 5, audio_tokens: 1, cache_write_tokens: 0 },
    })
    expect(JSON.stringify(received.last.response["usage"])).not.toContain("null")
  })

  test("is the only one to receive input items that the chat format cannot express", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = respondWith(() => Response.json({ ...RESPONSE, usage: USAGE }))
    const input = [
      { role: "user", content: "Hi" },
      { type: "computer_call_output", call_id: "c", output: { type: "input_image" } },
    ]
    for (let turn = 0; turn < 6; turn++)
      await expectJson(200, as.post("/responses", { model: newReplicaModel(), input }))
    expect(new Set(upstreamCalls.map(({ url }) => url))).toEqual(new Set(["http://replica-c.test/v1/responses"]))
    const only = { provider: { only: ["replica-a"] } }
    const { error } = await expectJson<Failure>(
      400,
      as.post("/responses", { model: newReplicaModel(), input, ...only }),
    )
    expect(error.message).toContain("input[1].type")
  })

  test("does not receive reasoning that was translated from another provider", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = respondWith(() => Response.json({ ...RESPONSE, usage: USAGE }))
    const input = [
      { role: "user", content: "Hi" },
      {
        type: "reasoning",
        id: "rs_gw_1",
        summary: [],
        content: [{ type: "reasoning_text", text: "hm" }],
        signature: "s",
      },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAA", format: "openai-responses-v1" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Again" },
    ]
    await expectJson(200, as.post("/responses", { model: newReplicaModel(), input, ...ONLY_C }))
    const returned = upstreamCalls[0]?.body["input"] as Json[]
    expect(returned.filter(({ type }) => type === "reasoning")).toEqual([
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAA" },
    ])
  })
})

describe("a failing stream of the Responses format", () => {
  const send = async (pieces: (string | Error | null)[]) => {
    const workspace = await newWorkspace()
    respondWith(() => sse(pieces))
    const returned = await read(
      workspace.as.post("/responses", { model: newReplicaModel(), input: "Hi", stream: true, ...ONLY_C }),
    )
    return { ...returned, workspace }
  }

  test.each([
    ["cut in the middle", stream().slice(0, 4)],
    ["broken", [...stream().slice(0, 4), new Error("reset")]],
    ["silent", [...stream().slice(0, 4), null]],
    [
      "failed",
      stream({ ...RESPONSE, status: "failed", error: { code: "server_error", message: "boom" } }, "response.failed"),
    ],
    ["a last event without its response", [...stream().slice(0, 4), event("response.completed", {})]],
    ["an error event", [...stream().slice(0, 4), event("error", { code: "server_error", message: "boom" })]],
  ])("%s: ends with response.failed, and delivered content is charged", async (_, pieces) => {
    const { events, last, isDone, workspace, response } = await send(pieces)
    expect(events.filter(({ type }) => type === "response.completed")).toEqual([])
    expect(last["type"]).toBe("response.failed")
    expect(last.response).toMatchObject({ status: "failed", error: { code: expect.any(String) as string } })
    expect(isDone).toBe(true)
    const receipt = await receiptOf(workspace, response)
    expect(receipt.ending).not.toBe("complete")
    expect(receipt.total_cost).toBeGreaterThan(0)
    const usage = { output_tokens: receipt.tokens_completion, cost: receipt.total_cost }
    expect(last.response["usage"]).toMatchObject(usage)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("response.incomplete is a complete ending", async () => {
    const details = {
      ...RESPONSE,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage: USAGE,
    }
    const { last, workspace, response } = await send(stream(details, "response.incomplete"))
    expect(last["type"]).toBe("response.incomplete")
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "complete", finish_reason: "length" })
  })

  test("an error before any content fails over to the next provider", async () => {
    const { as } = await newWorkspace()
    respondWith(({ url }) =>
      url.includes("replica-c")
        ? sse([...stream().slice(0, 3), event("error", { code: "x", message: "no" })])
        : Response.json({ choices: [{ message: { content: "fine" }, finish_reason: "stop" }] }),
    )
    const { last } = await read(
      as.post("/responses", {
        model: newReplicaModel(),
        input: "Hi",
        stream: true,
        provider: { order: ["replica-c", "replica-a"] },
      }),
    )
    expect(last["type"]).toBe("response.completed")
    expect(JSON.stringify(last.response["output"])).toContain("fine")
  })
})

describe("a slow stream of the Responses format", () => {
  useShortHeartbeats()

  test("heartbeats before the first content keep sequence numbers continuous", async () => {
    const workspace = await newWorkspace()
    let open = () => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    respondWith(() => {
      const pipe = new TransformStream<Uint8Array, Uint8Array>()
      const writer = pipe.writable.getWriter()
      void (async () => {
        await opened
        for (const piece of stream()) await writer.write(new TextEncoder().encode(piece))
        await writer.close()
        // The relay stops reading after the terminal event.
      })().catch(() => undefined)
      return new Response(pipe.readable, { headers: { "content-type": "text/event-stream" } })
    })
    const response = await workspace.as.post("/responses", {
      model: newReplicaModel(),
      input: "Hi",
      stream: true,
      ...ONLY_C,
    })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    open()
    let raw = new TextDecoder().decode(first?.value)
    for (;;) {
      const next = await reader?.read()
      if (!next || next.done) break
      raw += new TextDecoder().decode(next.value)
    }
    const events = [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as Json)
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === "response.created")).toHaveLength(1)
    expect(events.at(-1)?.["type"]).toBe("response.completed")
  })
})
