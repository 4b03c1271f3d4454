import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newWorkspace, receiptOf, readStream, expectJson, textOf, type Workspace, openHolds } from "../support/world.ts"

/** Every test calls its own model, because cooldowns belong to an endpoint. */
let next = 0
const newModel = () => `played/m${next++}`

let stop = () => {}
afterEach(() => stop())

function respondWith(...answers: (string | Uint8Array | Error | null)[][]) {
  let turn = 0
  const provider = mockProvider(() => sse(answers[Math.min(turn++, answers.length - 1)] ?? []))
  stop = provider.stop
  return provider
}

const send = (workspace: Workspace, model: string, more: Record<string, unknown> = {}) =>
  workspace.as.chat(model, "Hello", { stream: true, ...more })

type Piece = string | null
/** The provider breaks the connection. */
const BREAK = "!"

const sendScripted = (workspace: Workspace, model: string, script: readonly Piece[]) =>
  send(workspace, model, { play: script })

describe.each([
  ["the first", 0],
  ["the 21st", 20],
])("%s stream of an endpoint", (_, before) => {
  async function prepare(pieces: readonly Piece[] | ((model: string) => Piece[])) {
    const workspace = await newWorkspace()
    const model = newModel()
    for (let i = 0; i < before; i++) await readStream(sendScripted(workspace, model, good("Hello, world")))
    const script = typeof pieces === "function" ? pieces(model) : pieces
    return { workspace, script, answer: () => sendScripted(workspace, model, script) }
  }

  test("reaches the client byte for byte", async () => {
    const { workspace, answer, script } = await prepare((model) =>
      good("Straight through, 日本語 🌍.").map((piece) =>
        piece.replace('"model":"played"', `  "vendor_field": [1, {"a": null}],  "model": "${model}"`),
      ),
    )
    const { raw, response } = await readStream(answer())
    const forwarded = script.length - 2
    expect(raw.startsWith(script.slice(0, forwarded).join(""))).toBe(true)
    expect(raw.slice(script.slice(0, forwarded).join("").length).split("\n\n")).toEqual([
      expect.stringContaining('"cost":'),
      "data: [DONE]",
      "",
    ])
    expect(await receiptOf(workspace, response)).toMatchObject({
      ending: "complete",
      tokens_prompt: 10,
      tokens_from: "upstream",
    })
  })

  test("is charged by the usage at its end", async () => {
    const { workspace, answer } = await prepare(good("long ".repeat(2_000)))
    const { chunks, response } = await readStream(answer())
    expect(textOf(chunks)).toBe("long ".repeat(2_000))
    expect(await receiptOf(workspace, response)).toMatchObject({ tokens_completion: 2_500, tokens_from: "upstream" })
  })

  test("ends in an error chunk when cut between events, charged for the delivered content", async () => {
    const pieces = [chunk({ content: "1234" }), chunk({ content: "5678" }), BREAK]
    const { workspace, answer } = await prepare(pieces)
    const { chunks, done, response } = await readStream(answer())
    expect(done).toBe(true)
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "error" }], error: { code: 502 } })
    // The first field: go-openai takes any other chunk for content.
    expect(Object.keys(chunks.at(-1) ?? {})[0]).toBe("error")
    expect(await receiptOf(workspace, response)).toMatchObject({
      ending: "cut",
      tokens_completion: 2,
      tokens_from: "estimate",
    })
  })

  test("counts as cut without a finish reason and [DONE]", async () => {
    const { workspace, answer } = await prepare([chunk({ content: "1234" })])
    const { chunks, response } = await readStream(answer())
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("error")
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "cut", tokens_completion: 1 })
  })

  test("gets a [DONE] when the provider sends only a finish reason", async () => {
    const { workspace, answer } = await prepare([chunk({ content: "1234" }), chunk({}, "stop"), usageChunk(10, 1)])
    const { chunks, done, response } = await readStream(answer())
    expect(done).toBe(true)
    expect(chunks.every((one) => one.error === undefined)).toBe(true)
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "complete", tokens_from: "upstream" })
  })

  test("ends at a [DONE] with spaces around it", async () => {
    respondWith([chunk({ content: "Hi" }), chunk({}, "stop"), "data:  [DONE] \n\n"])
    const { chunks, done } = await readStream(send(await newWorkspace(), newModel()))
    expect(textOf(chunks)).toBe("Hi")
    expect(chunks.every((one) => one.error === undefined)).toBe(true)
    expect(done).toBe(true)
  })

  test("gets a finish reason before the usage when the provider sends only [DONE]", async () => {
    const { workspace, answer } = await prepare([chunk({ content: "1234" }), usageChunk(10, 1), "data: [DONE]\n\n"])
    const { chunks, response } = await readStream(answer())
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, "stop", undefined])
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 1 })
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "complete", finish_reason: "stop" })
  })

  test("translates a provider's finish reason, and records the original", async () => {
    const { workspace, answer } = await prepare([
      chunk({ content: "1234" }),
      chunk({}, "MAX_TOKENS"),
      usageChunk(10, 1),
    ])
    const { chunks, response } = await readStream(answer())
    const finished = { finish_reason: "length", native_finish_reason: "MAX_TOKENS" }
    expect(chunks.at(-2)?.choices[0]).toMatchObject(finished)
    expect(await receiptOf(workspace, response)).toMatchObject(finished)
  })

  test("ends in an error chunk when it stalls", async () => {
    const { workspace, answer } = await prepare([chunk({ content: "1234" }), null])
    const { chunks, response } = await readStream(answer())
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "error" }], error: { code: 408 } })
    expect(await receiptOf(workspace, response)).toMatchObject({ ending: "stalled", tokens_completion: 1 })
  })

  test("is charged for all delivered content when it has no usage", async () => {
    const pieces = good("x".repeat(40_000)).filter((piece) => !piece.includes('"usage"'))
    const { workspace, answer } = await prepare(pieces)
    const { response } = await readStream(answer())
    expect(await receiptOf(workspace, response)).toMatchObject({ tokens_completion: 10_000, tokens_from: "estimate" })
  })

  test("is charged once for the delivered content when the client disconnects", async () => {
    const { workspace, answer } = await prepare([...Array.from({ length: 3 }, () => chunk({ content: "1234" })), null])
    const response = await answer()
    const reader = response.body?.getReader()
    // The first bytes can be a heartbeat.
    for (let text = ""; !text.includes("1234");) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      expect(done).toBe(false)
      text += new TextDecoder().decode(value)
    }
    await reader?.cancel()
    const { tokens_from: from, tokens_completion: tokens } = await receiptOf(workspace, response)
    expect([from, tokens >= 1 && tokens <= 3]).toEqual(["estimate", true])
    expect(await openHolds(workspace)).toEqual([])
  })
})

test.each([
  ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
  ["/messages", { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
  ["/responses", { input: "Hi" }],
])("a stream of thousands of tool calls ends with an error on %s, and what was sent is charged", async (path, body) => {
  const workspace = await newWorkspace()
  const call = (index: number) => ({ index, id: `call_${index}`, function: { name: "look_up", arguments: "{}" } })
  const calls = Array.from({ length: 3_000 }, (_, index) => chunk({ tool_calls: [call(index)] }))
  respondWith([...calls, chunk({}, "tool_calls"), usageChunk(9, 9), DONE])
  const response = await workspace.as.post(path, { model: newModel(), stream: true, ...body })
  const sent = await response.text()
  expect(sent).toContain("sent too many tool calls.")
  expect(sent).toContain("look_up")
  expect(sent).not.toContain("call_1100")
  const receipt = await receiptOf(workspace, response)
  expect(receipt).toMatchObject({ ending: "error" })
  expect(receipt.total_cost).toBeGreaterThan(0)
  expect(await openHolds(workspace)).toEqual([])
})

test.each(["/chat/completions", "/responses"])("a document of thousands of tool calls is a 502 on %s", async (path) => {
  const workspace = await newWorkspace()
  const call = (index: number) => ({ id: `call_${index}`, type: "function", function: { name: "f", arguments: "{}" } })
  const message = { role: "assistant", content: null, tool_calls: Array.from({ length: 3_000 }, (_, at) => call(at)) }
  const provider = mockProvider(() =>
    Response.json({ id: "up-1", choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
  )
  stop = provider.stop
  const input = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] }
  const { error } = await expectJson<{ error: { message: string } }>(
    502,
    workspace.as.post(path, { model: newModel(), ...input }),
  )
  expect(error.message).toContain("sent too many tool calls")
  expect(await openHolds(workspace)).toEqual([])
})

test("a stream of nothing but white space is rejected before its timeout", async () => {
  respondWith([...Array.from({ length: 20 }, () => " \n".repeat(50_000)), null])
  const workspace = await newWorkspace()
  const failed = await expectJson<{ error: { code: number } }>(502, send(workspace, newModel()))
  expect(failed.error.code).toBe(502)
  expect(await openHolds(workspace)).toEqual([])
})

test("a stream that exceeds the output limit by far is stopped", async () => {
  const workspace = await newWorkspace()
  const pieces = Array.from({ length: 100 }, () => chunk({ content: "endless ".repeat(100_000) }))
  respondWith([...pieces, null])
  const { chunks, response } = await readStream(send(workspace, newModel(), { max_tokens: 10 }))
  expect(chunks.length).toBeLessThan(90)
  expect(chunks.at(-1)).toMatchObject({
    error: { code: 502, message: expect.stringContaining("more text than the output limit") },
  })
  const receipt = await receiptOf(workspace, response)
  expect(receipt).toMatchObject({ ending: "error", tokens_from: "estimate" })
  expect(receipt.tokens_completion).toBeLessThan(18_000_000)
  expect(await openHolds(workspace)).toEqual([])
})

test("a document or a stream that starts with a byte order mark reaches the client as a stream", async () => {
  const message = { role: "assistant", content: "Hello" }
  const document = JSON.stringify({
    id: "up-1",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })
  const events = `${chunk({ content: "Hello" })}${chunk({}, "stop")}${usageChunk(3, 2)}${DONE}`
  const workspace = await newWorkspace()
  for (const body of [document, events]) {
    respondWith([`\ufeff${body}`])
    const { chunks } = await readStream(send(workspace, newModel()))
    expect(textOf(chunks)).toBe("Hello")
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 3, completion_tokens: 2 } })
  }
})

describe("a frame that strict clients reject", () => {
  test.each([
    ["a bare error", `data: {"error":{"message":"overloaded","code":529}}\n\n`, 529],
    ["an error as text", `data: {"error":"out of memory"}\n\n`, 502],
  ])("%s in mid-stream becomes the error chunk", async (_, frame, code) => {
    respondWith([chunk({ content: "1234" }), frame, DONE])
    const workspace = await newWorkspace()
    const { chunks, raw } = await readStream(send(workspace, newModel()))
    expect(raw.match(/data: {"error"/g)).toHaveLength(1)
    expect(chunks.at(-1)).toMatchObject({ object: "chat.completion.chunk", error: { code } })
  })

  test("with broken JSON ends the stream in an error chunk", async () => {
    respondWith([chunk({ content: "1234" }), "data: {broken\n\n", chunk({ content: "5678" }, "stop"), DONE])
    const { chunks } = await readStream(send(await newWorkspace(), newModel()))
    expect(textOf(chunks)).toBe("1234")
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "error" }], error: { code: 502 } })
  })

  test.each([
    ["an error object", `data: {"object":"error","message":"out of memory","code":500}\n\n`],
    ["an error event", `event: error\ndata: {"message":"overloaded"}\n\n`],
  ])("%s followed by [DONE] ends in an error", async (_, frame) => {
    respondWith([chunk({ content: "1234" }), frame, DONE])
    const { chunks } = await readStream(send(await newWorkspace(), newModel()))
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("error")
  })

  test("that leaves one of two choices unfinished counts as cut", async () => {
    const second = chunk({ content: "b" }).replace('"index":0', '"index":1')
    respondWith([chunk({ content: "a" }), second, chunk({}, "stop")])
    const { chunks } = await readStream(send(await newWorkspace(), newModel(), { n: 2 }))
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("error")
  })

  test("with an empty finish reason before any content still allows failover", async () => {
    respondWith([chunk({ role: "assistant" }, ""), `data: {"error":{"message":"no","code":503}}\n\n`])
    const workspace = await newWorkspace()
    const { chunks } = await readStream(send(workspace, newModel(), { models: ["sim/echo"] }))
    expect(textOf(chunks)).toBe("Hello")
  })

  test("with tool calls without an index gets one per call id", async () => {
    const call = (id: string | undefined, part: string) =>
      chunk({ tool_calls: [{ id, function: { name: "f", arguments: part } }] })
    respondWith([call("a", "1"), call(undefined, "2"), call("b", "3"), call("a", "4"), chunk({}, "tool_calls"), DONE])
    const { chunks } = await readStream(send(await newWorkspace(), newModel()))
    const indexes = chunks.flatMap((one) => one.choices[0]?.delta.tool_calls ?? []) as { index: number }[]
    expect(indexes.map(({ index }) => index)).toEqual([0, 0, 1, 0])
  })

  test("with a null usage, a null fingerprint, a missing index or an unknown role is repaired", async () => {
    const withoutIndex = (delta: object) =>
      `data: ${JSON.stringify({ id: "x", choices: [{ delta }], usage: null, system_fingerprint: null })}\n\n`
    respondWith([
      withoutIndex({ role: "model", content: "1234" }),
      withoutIndex({ tool_calls: [{ id: "a", function: { name: "f", arguments: {} } }] }),
      chunk({}, "stop"),
      DONE,
    ])
    const { chunks } = await readStream(send(await newWorkspace(), newModel()))
    const last = chunks.at(-1)
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 } })
    for (const one of chunks) {
      expect(one).toMatchObject({
        object: "chat.completion.chunk",
        created: expect.any(Number),
        model: expect.any(String),
      })
      if (one !== last) expect(one).not.toHaveProperty("usage")
      expect(one).not.toHaveProperty("system_fingerprint")
      for (const choice of one.choices) expect(choice).toHaveProperty("finish_reason")
    }
    expect(chunks[1]?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } },
    ])
  })
})

describe("an incomplete or early usage", () => {
  const usageOf = (usage: object, delta: object = {}) =>
    `data: ${JSON.stringify({ id: "u", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], usage })}\n\n`
  const charged = async (pieces: (string | Error)[]) => {
    respondWith(pieces)
    const workspace = await newWorkspace()
    return receiptOf(workspace, (await readStream(send(workspace, newModel()))).response)
  }
  const eight = [chunk({ content: "1234" }), chunk({ content: "5678" })]

  test.each([
    ["no completion", { prompt_tokens: 10, total_tokens: 500 }, 490, "upstream"],
    ["no prompt", { completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } }, 2, "estimate"],
    ["no prompt, but a total", { completion_tokens: 5, total_tokens: 15 }, 5, "upstream"],
    ["a null", { prompt_tokens: 10, completion_tokens: null }, 2, "estimate"],
    ["a negative", { prompt_tokens: 10, completion_tokens: -5 }, 2, "estimate"],
    ["a fraction", { prompt_tokens: 10, completion_tokens: 2.5 }, 3, "upstream"],
    ["decimal strings", { prompt_tokens: "10", completion_tokens: "2.0" }, 2, "upstream"],
    ["strings that are not counts", { prompt_tokens: "ten", completion_tokens: "0x2" }, 2, "estimate"],
    [
      "reasoning beside it",
      {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 1041,
        completion_tokens_details: { reasoning_tokens: 1000 },
      },
      1009,
      "upstream",
    ],
    [
      "reasoning within it",
      {
        prompt_tokens: 32,
        completion_tokens: 1009,
        total_tokens: 1041,
        completion_tokens_details: { reasoning_tokens: 1000 },
      },
      1009,
      "upstream",
    ],
  ])("%s", async (_, usage, completion, from) => {
    expect(await charged([...eight, chunk({}, "stop"), usageOf(usage), DONE])).toMatchObject({
      tokens_completion: completion,
      tokens_from: from,
    })
  })

  test.each([
    [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    [{ prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 }],
  ])("in a snapshot %j does not make the rest of a cut stream free", async (snapshot) => {
    expect(await charged([usageOf(snapshot, { content: "a" }), ...eight, new Error("cut")])).toMatchObject({
      ending: "cut",
      tokens_completion: 3,
    })
  })

  test("with an id that arrives late leaves all chunks under one id", async () => {
    const late = (text: string) => text.replace('"id":"up-1"', '"id":"late"')
    const first = chunk({ content: "1234" }).replace('"id":"up-1",', "")
    respondWith([first, late(chunk({ content: "5678" })), new Error("cut")])
    const { chunks } = await readStream(send(await newWorkspace(), newModel()))
    expect(chunks.at(-1)?.error).toBeDefined()
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  test("counts text in parts", async () => {
    const parts = chunk({ content: [{ type: "text", text: "x".repeat(400) }] })
    expect(await charged([parts, chunk({}, "stop"), DONE])).toMatchObject({ tokens_completion: 100 })
  })
})

describe("request options", () => {
  test("include_usage: false removes the usage", async () => {
    respondWith(good("Hello"))
    const { chunks, done } = await readStream(
      send(await newWorkspace(), newModel(), { stream_options: { include_usage: false } }),
    )
    expect(done).toBe(true)
    expect(chunks.every((one) => one.usage === undefined)).toBe(true)
  })

  test("usage.include adds the cost", async () => {
    respondWith(good("Hello"))
    const { chunks } = await readStream(send(await newWorkspace(), newModel(), { usage: { include: true } }))
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2, cost: 0.000014 })
  })

  test.each(["X-Service-Metadata", "X-Service-Experimental-Metadata", "X-OpenRouter-Metadata"])(
    "%s: enabled adds routing metadata before [DONE]",
    async (header) => {
      respondWith(good("Hello"))
      const workspace = await newWorkspace()
      const { chunks, done } = await readStream(
        workspace.as.chat(newModel(), "Hi", { stream: true }, { [header]: "enabled" }),
      )
      expect(done).toBe(true)
      expect(chunks.at(-1)).toMatchObject({
        choices: [],
        service_metadata: { attempt: 1, strategy: "direct", is_byok: false, endpoints: { total: 1 } },
      })
    },
  )

  test("the legacy metadata header does not override the current one", async () => {
    const workspace = await newWorkspace()
    const headers = { "x-service-metadata": "disabled", "x-service-experimental-metadata": "enabled" }
    const answer = await expectJson<object>(200, workspace.as.chat("sim/echo", "Hi", {}, headers))
    expect(answer).not.toHaveProperty("service_metadata")
  })

  test("chunks that the gateway adds have the time of the stream", async () => {
    const more = { stream: true, debug: { echo_upstream_body: true } }
    const workspace = await newWorkspace()
    for (const pieces of [good("Hello"), [chunk({ content: "Hel" }), new Error("cut")]]) {
      respondWith(pieces)
      const pending = workspace.as.chat(newModel(), "Hi", more, { "x-service-metadata": "enabled" })
      const { chunks } = await readStream(pending)
      expect(chunks.length).toBeGreaterThan(2)
      expect(new Set(chunks.map((one) => (one as { created?: number }).created))).toEqual(new Set([1]))
    }
  })

  test("routing metadata is part of an error and of a JSON response", async () => {
    const workspace = await newWorkspace()
    const enabled = { "x-service-metadata": "Enabled" }
    const failed = await expectJson<object>(503, workspace.as.chat("sim/status-503", "Hi", {}, enabled))
    expect(failed).toMatchObject({
      error: { code: 503 },
      service_metadata: { attempt: 1, attempts: [{ status: 503 }] },
    })
    const answered = await expectJson<object>(
      200,
      workspace.as.chat("sim/status-503", "Hi", { models: ["sim/echo"] }, enabled),
    )
    expect(answered).toMatchObject({
      service_metadata: {
        attempt: 2,
        strategy: "fallback",
        endpoints: { total: 2, available: [{ selected: false }, { selected: true }] },
      },
    })
    expect(answered).toHaveProperty("openrouter_metadata")
    expect(await expectJson<object>(200, workspace.as.chat("sim/echo", "Hi"))).not.toHaveProperty("service_metadata")
  })

  test("debug.echo_upstream_body returns the upstream request", async () => {
    const provider = respondWith(good("Hello"))
    const { chunks } = await readStream(send(await newWorkspace(), newModel(), { debug: { echo_upstream_body: true } }))
    expect(chunks[0]).toMatchObject({ choices: [], debug: { echo_upstream_body: provider.upstreamCalls[0]?.body } })
  })

  test("a JSON response to a streamed request is returned as a stream", async () => {
    const answer = {
      id: "a",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    }
    stop = mockProvider(() => Response.json(answer)).stop
    const { chunks, done } = await readStream(send(await newWorkspace(), newModel()))
    expect(textOf(chunks)).toBe("whole")
    expect(chunks.at(-1)?.usage).toMatchObject(answer.usage)
    expect(done).toBe(true)
  })
})

test.each(["text/json", "text/plain; charset=utf-8", "application/vnd.api+json"])(
  "a JSON response with the content type %s is returned",
  async (type) => {
    const { stop: end } = mockProvider(() => {
      const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }]
      return new Response(JSON.stringify({ id: "u", choices }), { headers: { "content-type": type } })
    })
    stop = end
    const { as } = await newWorkspace()
    expect(await expectJson(200, as.chat(newModel(), "Hi"))).toMatchObject({
      choices: [{ message: { content: "Hi" } }],
    })
  },
)

test("a JSON response that is nested too deep to be sent is a 502 without a charge", async () => {
  const { stop: end } = mockProvider(() => {
    const choice = `{"index":0,"message":{"content":"Hi","x":${"[".repeat(9_000)}${"]".repeat(9_000)}},"finish_reason":"stop"}`
    return new Response(`{"choices":[${choice}]}`, { headers: { "content-type": "application/json" } })
  })
  stop = end
  const workspace = await newWorkspace()
  const answer = await workspace.as.chat(newModel(), "Hi")
  const copy = answer.clone()
  await expectJson(502, answer)
  expect(await receiptOf(workspace, copy)).toMatchObject({ status: 502, total_cost: 0 })
})

describe("a provider that streams to a non-streamed request", () => {
  const nonStreamed = async (pieces: string[]) => {
    stop = mockProvider(() => sse(pieces)).stop
    return (await newWorkspace()).as.chat(newModel(), "Hi")
  }

  test("is returned as one JSON document with joined tool calls", async () => {
    const call = (piece: object) => chunk({ tool_calls: [{ index: 0, ...piece }] })
    const pieces = [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Let me " }),
      chunk({ content: "look." }),
      call({ id: "a", type: "function", function: { name: "find", arguments: "" } }),
      call({ function: { arguments: '{"x":' } }),
      call({ function: { arguments: "1}" } }),
      chunk({}, "tool_calls"),
      usageChunk(10, 9),
      DONE,
    ]
    const message = {
      role: "assistant",
      content: "Let me look.",
      tool_calls: [{ id: "a", type: "function", function: { name: "find", arguments: '{"x":1}' } }],
    }
    expect(await expectJson(200, nonStreamed(pieces))).toMatchObject({
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 10, completion_tokens: 9 },
    })
  })

  test("fails with 502 when its stream is cut", async () => {
    await expectJson(502, nonStreamed([chunk({ content: "half" })]))
  })
})

describe("the upstream request", () => {
  test("omits the gateway's headers and fields, hashes the user id and forwards the rest", async () => {
    const provider = respondWith(good("Hello"))
    const workspace = await newWorkspace()
    const more = {
      stream: true,
      user: "alice@example.com",
      session_id: "s",
      metadata: { a: "b" },
      provider: { allow_fallbacks: false },
      vendor_option: { deep: [1, 2] },
      temperature: 0.5,
      seed: null,
    }
    await readStream(
      workspace.as.chat(newModel(), "Hi", more, { "x-secret": "no", cookie: "no", "http-referer": "https://app.test" }),
    )
    const [request] = provider.upstreamCalls
    expect(request?.headers.get("authorization")).toBe("Bearer played-provider-key-0123456789")
    expect([...(request?.headers.keys() ?? [])].sort()).toEqual([
      "accept",
      "accept-encoding",
      "authorization",
      "content-type",
      "user-agent",
    ])
    expect(request?.body).toEqual({
      model: expect.stringMatching(/^m\d+$/),
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      vendor_option: { deep: [1, 2] },
      // The model's limits are unknown: max_tokens is the held amount.
      max_tokens: 16_384,
      user: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  test("has a pseudonym in place of safety_identifier, the other name of user", async () => {
    const provider = respondWith(good("Hello"))
    const { as } = await newWorkspace()
    await readStream(as.chat(newModel(), "Hi", { stream: true, safety_identifier: "alice@example.com" }))
    const [request] = provider.upstreamCalls
    expect(request?.body["user"]).toMatch(/^[0-9a-f]{32}$/)
    expect(JSON.stringify(request?.body)).not.toContain("alice")
  })

  test("rejected by the provider produces an error with the provider's key redacted", async () => {
    stop = mockProvider(({ headers }) =>
      Response.json({ error: { message: `bad header ${headers.get("authorization")}` } }, { status: 400 }),
    ).stop
    const workspace = await newWorkspace()
    const text = await (await send(workspace, newModel())).text()
    expect(text).not.toContain("played-provider-key")
    expect(text).toContain("[redacted]")
  })
})
