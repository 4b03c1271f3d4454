import { afterEach, describe, expect, test } from "vitest"
import { type UpstreamRequest, chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newKey, newWorkspace, openHolds, readStream, expectJson, textOf, type Workspace } from "../support/world.ts"

type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string } }
type Result = {
  choices: {
    message: Json & { content: string; reasoning_details?: Json[]; tool_calls?: Json[] }
    finish_reason: string
  }[]
  usage: { total_tokens: number; cost: number; server_tool_use_details?: Json }
  service_metadata?: { pipeline: Json[] }
}

let stop = () => {}
afterEach(() => stop())

const call = (name: string, args: Json = {}, id = "c1") => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
})
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const complete = (message: Json, finish = "stop") =>
  Response.json({
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: USAGE,
  })

/** Returns one turn per upstream call; the last turn repeats. */
function respondWith(turns: (() => Response)[]) {
  let turn = 0
  const provider = mockProvider(() => (turns[Math.min(turn++, turns.length - 1)] as () => Response)())
  ;({ stop } = provider)
  return provider
}

const send = (workspace: Workspace, more: Json, headers: Record<string, string> = {}) =>
  workspace.as.post(
    "/chat/completions",
    { model: "played/m1", messages: [{ role: "user", content: "What time is it?" }], ...more },
    headers,
  )
const DATETIME = { tools: [{ type: "openrouter:datetime" }] }
const messagesOf = ({ body }: UpstreamRequest) => body["messages"] as Json[]

describe("a server tool", () => {
  test.each(["openrouter:datetime", "service:datetime"])(
    "%s runs, and its result is sent back to the model",
    async (type) => {
      const workspace = await newWorkspace()
      const { upstreamCalls } = respondWith([
        () => complete({ content: null, tool_calls: [call("datetime", { timezone: "Asia/Tokyo" })] }, "tool_calls"),
        () => complete({ content: "It is late." }),
      ])
      const response = await send(workspace, { tools: [{ type }] }, { "x-service-metadata": "enabled" })
      const result = await expectJson<Result>(200, response)
      expect(result.choices[0]).toMatchObject({ message: { content: "It is late." }, finish_reason: "stop" })
      expect(result.choices[0]?.message.tool_calls).toBeUndefined()
      expect(result.choices[0]?.message.reasoning_details).toMatchObject([
        { type: "reasoning.server_tool_call", tool_name: "datetime", tool_call_id: "c1" },
      ])
      expect(result.usage).toMatchObject({
        total_tokens: 30,
        server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1, web_search_requests: 0 },
      })
      expect(result.usage.cost).toBeCloseTo(2 * (10e-6 + 10e-6), 9)
      expect(result.service_metadata?.pipeline).toMatchObject([{ type: "server_tools" }])
      expect(upstreamCalls).toHaveLength(2)
      expect(upstreamCalls[0]?.body["tools"]).toMatchObject([{ type: "function", function: { name: "datetime" } }])
      const [, assistant, toolMessage] = messagesOf(upstreamCalls[1] as UpstreamRequest)
      expect(assistant).toMatchObject({ role: "assistant", tool_calls: [{ id: "c1", function: { name: "datetime" } }] })
      expect(toolMessage).toMatchObject({
        role: "tool",
        tool_call_id: "c1",
        content: expect.stringContaining("Asia/Tokyo") as string,
      })
      expect(await openHolds(workspace)).toEqual([])
    },
  )

  test("in a stream merges all rounds into one completion with one finish reason, one usage and the tool run", async () => {
    const workspace = await newWorkspace()
    const stream = (pieces: string[]) => () => sse([...pieces, usageChunk(10, 5), DONE])
    respondWith([
      stream([
        chunk({ role: "assistant", content: "Let me see. " }),
        chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "date", arguments: "" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { name: "time", arguments: "{" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
        chunk({}, "tool_calls"),
      ]),
      stream([chunk({ content: "It is late." }), chunk({}, "stop")]),
    ])
    const { chunks, done } = await readStream(send(workspace, { ...DATETIME, stream: true }))
    expect(done).toBe(true)
    expect(textOf(chunks)).toBe("Let me see. It is late.")
    expect(chunks.flatMap((one) => one.choices[0]?.delta.tool_calls ?? [])).toEqual([])
    expect(chunks.map((one) => one.choices[0]?.finish_reason).filter(Boolean)).toEqual(["stop"])
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1)
    expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 30, cost: 0.00004 })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(JSON.stringify(chunks)).toContain("reasoning.server_tool_call")
    expect(await openHolds(workspace)).toEqual([])
  })

  test("called together with a client function runs, and leaves the function call to the client", async () => {
    const workspace = await newWorkspace()
    const mine = { type: "function", function: { name: "mine", parameters: { type: "object" } } }
    const { upstreamCalls } = respondWith([
      () => complete({ content: null, tool_calls: [call("datetime"), call("mine", { a: 1 }, "c2")] }, "tool_calls"),
    ])
    const result = await expectJson<Result>(200, send(workspace, { tools: [mine, ...DATETIME.tools] }))
    expect(result.choices[0]?.finish_reason).toBe("tool_calls")
    expect(result.choices[0]?.message.tool_calls).toMatchObject([{ id: "c2", function: { name: "mine" } }])
    expect(upstreamCalls).toHaveLength(1)

    // Sent back unchanged, the run becomes a call and a result in the turn in which both were called.
    const second = respondWith([() => complete({ content: "fine" })])
    await expectJson(
      200,
      send(workspace, {
        tools: [mine, ...DATETIME.tools],
        messages: [
          { role: "user", content: "What time is it?" },
          result.choices[0]?.message,
          { role: "tool", tool_call_id: "c2", content: "done" },
        ],
      }),
    )
    const [, turn, ...results] = messagesOf(second.upstreamCalls[0] as UpstreamRequest)
    expect(turn).toMatchObject({ role: "assistant", tool_calls: [{ id: "c1" }, { id: "c2" }] })
    expect(results.map(({ role, tool_call_id: id }) => [role, id])).toEqual([
      ["tool", "c1"],
      ["tool", "c2"],
    ])
  })

  test("in a stream does not count in the indexes of the client's tool calls, which start at 0", async () => {
    const mine = { type: "function", function: { name: "mine", parameters: { type: "object" } } }
    const delta = (index: number, name: string, args: string) =>
      chunk({ tool_calls: [{ index, id: `c${index}`, type: "function", function: { name, arguments: args } }] })
    respondWith([
      () =>
        sse([
          delta(0, "datetime", "{}"),
          delta(1, "mine", '{"a":'),
          chunk({ tool_calls: [{ index: 1, function: { arguments: "1}" } }] }),
          chunk({}, "tool_calls"),
          DONE,
        ]),
    ])
    const { chunks } = await readStream(send(await newWorkspace(), { tools: [mine, ...DATETIME.tools], stream: true }))
    const deltas = chunks.flatMap(
      (one) => (one.choices[0]?.delta.tool_calls ?? []) as { index: number; function: Json }[],
    )
    expect(deltas.map(({ index }) => index)).toEqual([0, 0])
    expect(deltas.map((one) => one.function["arguments"]).join("")).toBe('{"a":1}')
  })
})

describe("the tool loop", () => {
  const again = () => complete({ content: "x", tool_calls: [call("datetime")] }, "tool_calls")

  test.each([
    [{ stop_server_tools_when: [{ type: "step_count_is", step_count: 2 }] }, 3],
    [{ stop_server_tools_when: [{ type: "has_tool_call", tool_name: "openrouter:datetime" }] }, 2],
    [{ stop_server_tools_when: [{ type: "finish_reason_is", reason: "tool_calls" }] }, 2],
    [{ stop_server_tools_when: [{ type: "max_tokens_used", max_tokens: 40 }] }, 4],
    [{ stop_server_tools_when: [{ type: "max_cost", max_cost_in_dollars: 0.00005 }] }, 4],
    [
      {
        stop_server_tools_when: [
          { type: "max_cost", max_cost_in_dollars: 9 },
          { type: "step_count_is", step_count: 1 },
        ],
      },
      2,
    ],
    [{}, 31],
  ])("%j: ends after %i rounds, the last with tool_choice none", async (more, rounds) => {
    const { upstreamCalls } = respondWith([again])
    const result = await expectJson<Result>(200, send(await newWorkspace(), { ...DATETIME, ...more }))
    expect(upstreamCalls).toHaveLength(rounds)
    expect(upstreamCalls.map(({ body }) => body["tool_choice"]).at(-1)).toBe("none")
    expect(upstreamCalls.slice(0, -1).every(({ body }) => body["tool_choice"] !== "none")).toBe(true)
    expect(result.choices[0]?.finish_reason).toBe("stop")
  })

  test("ends after max_tool_calls steps on /responses, unless stop_server_tools_when sets another limit", async () => {
    const { as } = await newWorkspace()
    const body = { model: "played/m1", input: "Hi", ...DATETIME, max_tool_calls: 2 }
    const { upstreamCalls } = respondWith([again])
    await expectJson(200, as.post("/responses", body))
    expect(upstreamCalls).toHaveLength(3)
    upstreamCalls.length = 0
    await expectJson(
      200,
      as.post("/responses", { ...body, stop_server_tools_when: [{ type: "step_count_is", step_count: 4 }] }),
    )
    expect(upstreamCalls).toHaveLength(5)
  })

  test("applies a forced tool_choice to the first round only", async () => {
    const { upstreamCalls } = respondWith([again, () => complete({ content: "done" })])
    await expectJson(200, send(await newWorkspace(), { ...DATETIME, tool_choice: { type: "openrouter:datetime" } }))
    expect(upstreamCalls.map(({ body }) => body["tool_choice"])).toEqual([
      { type: "function", function: { name: "datetime" } },
      "auto",
    ])
  })

  test("ends with 402 when the key's limit does not cover the next round, and leaves no hold", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0.00009 })
    respondWith([again])
    const body = { model: "played/m1", messages: [{ role: "user", content: "Hi" }], max_tokens: 16, ...DATETIME }
    const { error } = await expectJson<Failure>(402, as.post("/chat/completions", body))
    expect(error.message).toContain("limit")
    expect(await openHolds(workspace)).toEqual([])
  })

  test("ends with an error chunk when the provider fails in a later round of a stream", async () => {
    const first = () =>
      sse([
        chunk({ content: "Let me see. " }),
        chunk({ tool_calls: [call("datetime")] }),
        chunk({}, "tool_calls"),
        DONE,
      ])
    respondWith([first, () => Response.json({ error: { message: "no" } }, { status: 500 })])
    const workspace = await newWorkspace()
    const { chunks, done } = await readStream(send(workspace, { ...DATETIME, stream: true }))
    expect(chunks.at(-1)).toMatchObject({ error: { code: 502 }, choices: [{ finish_reason: "error" }] })
    expect(done).toBe(true)
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("a stream that fails in a later round", () => {
  const first = () => sse([chunk({ tool_calls: [call("datetime")] }), chunk({}, "tool_calls"), usageChunk(10, 5), DONE])
  const FAILURES: [name: string, second: () => Response][] = [
    ["before its content", () => Response.json({ error: { message: "no" } }, { status: 500 })],
    ["after a part of its content", () => sse([chunk({ content: "A part of it" })])],
  ]
  const FORMATS: [path: string, body: Json, usageOf: (event: Json) => unknown][] = [
    ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }, ({ error, usage }) => error && usage],
    ["/responses", { input: "Hi" }, ({ response }) => (response as Json | undefined)?.["usage"]],
  ]

  test.each(FAILURES.flatMap(([name, second]) => FORMATS.map((format) => [name, format[0], second, format] as const)))(
    "%s reports the charge of all rounds: %s",
    async (_name, path, second, [, body, usageOf]) => {
      const workspace = await newWorkspace()
      respondWith([first, second])
      const { chunks } = await readStream(
        workspace.as.post(path, { model: "played/m1", stream: true, ...DATETIME, ...body }),
      )
      const { spentNano } = await workspace.ledger.balance()
      expect(spentNano).toBeGreaterThan(0)
      const usage = usageOf({ ...chunks.at(-1) }) as { cost: number }
      expect(Math.round(usage.cost * 1e9)).toBe(spentNano)
    },
  )
})

describe("on /responses", () => {
  test("a tool run is a separate output item, and the output can be sent back as input", async () => {
    const { as } = await newWorkspace()
    respondWith([
      () => complete({ content: null, tool_calls: [call("datetime")] }, "tool_calls"),
      () => complete({ content: "Late." }),
    ])
    const body = { model: "played/m1", input: "What time is it?", tools: [{ type: "openrouter:datetime" }] }
    const { output } = await expectJson<{ output: (Json & { type: string })[] }>(200, as.post("/responses", body))
    expect(output.map(({ type }) => type)).toEqual(["openrouter:datetime", "reasoning", "message"])
    expect(output[0]).toMatchObject({ status: "completed", timezone: "UTC", datetime: expect.any(String) as string })

    const { upstreamCalls } = respondWith([() => complete({ content: "Still late." })])
    const input = [{ role: "user", content: "What time is it?" }, ...output, { role: "user", content: "And now?" }]
    await expectJson(200, as.post("/responses", { ...body, input }))
    expect(messagesOf(upstreamCalls[0] as UpstreamRequest).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ])
  })

  test("a stream emits output_item.added and output_item.done for a tool run", async () => {
    const { as } = await newWorkspace()
    respondWith([
      () => sse([chunk({ tool_calls: [call("datetime")] }), chunk({}, "tool_calls"), usageChunk(10, 5), DONE]),
      () => sse(good("Late.")),
    ])
    const body = { model: "played/m1", input: "Hi", tools: [{ type: "service:datetime" }], stream: true }
    const { chunks } = await readStream(as.post("/responses", body))
    const events = chunks as unknown as (Json & {
      type: string
      item?: Json
      sequence_number: number
      response?: Json
    })[]
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ item }) => item?.["type"] === "service:datetime").map(({ type }) => type)).toEqual([
      "response.output_item.added",
      "response.output_item.done",
    ])
    expect(events.at(-1)?.type).toBe("response.completed")
    expect(events.at(-1)?.response?.["usage"]).toMatchObject({ output_tokens: 7 })
  })
})

describe("an unavailable tool or plugin is rejected with 400 and named in the error", () => {
  test.each([
    [{ tools: [{ type: "openrouter:bash" }] }, "tools[0].type: openrouter:bash is not available"],
    [{ tools: [{ type: "openrouter:web_search", parameters: { engine: "exa" } }] }, "EXA_API_KEY is not set"],
    [{ tools: [{ type: "openrouter:datetime", parameters: { timezone: "Mars" } }] }, "tools[0].parameters.timezone"],
    [{ plugins: [{ id: "fusion" }] }, "plugins[0].id: fusion"],
    [{ plugins: [{ id: "web", engine: "exa" }] }, "plugins[0].engine: exa is not configured here"],
    [{ transforms: ["sideways"] }, "transforms"],
    [{ n: 2, tools: [{ type: "openrouter:datetime" }] }, "n: must be 1"],
  ])("%j", async (more, expectedMessage) => {
    const { error } = await expectJson<Failure>(400, send(await newWorkspace(), more))
    expect(error.message).toContain(expectedMessage)
  })
})

describe("plugins", () => {
  const JSON_FORMAT = { response_format: { type: "json_object" }, plugins: [{ id: "response-healing" }] }

  test("response-healing repairs invalid JSON, streamed or not", async () => {
    const broken = '```json\n{"a": 1, "b": [1, 2,]\n```'
    respondWith([() => complete({ content: broken })])
    const result = await expectJson<Result>(200, send(await newWorkspace(), JSON_FORMAT))
    expect(JSON.parse(result.choices[0]?.message.content ?? "")).toEqual({ a: 1, b: [1, 2] })
    respondWith([
      () => sse([...broken.split(/(?=[\s[{])/).map((content) => chunk({ content })), chunk({}, "stop"), DONE]),
    ])
    const { chunks } = await readStream(send(await newWorkspace(), { ...JSON_FORMAT, stream: true }))
    expect(JSON.parse(textOf(chunks))).toEqual({ a: 1, b: [1, 2] })
  })

  test("response-healing leaves text unchanged if the request does not require JSON", async () => {
    respondWith([() => complete({ content: 'Use {"a": 1,} here' })])
    const result = await expectJson<Result>(200, send(await newWorkspace(), { plugins: [{ id: "response-healing" }] }))
    expect(result.choices[0]?.message.content).toBe('Use {"a": 1,} here')
  })

  test("file-parser turns a text file into text", async () => {
    const { upstreamCalls } = respondWith([() => complete({ content: "ok" })])
    const file = { filename: "a.txt", file_data: `data:text/plain;base64,${btoa("the contents")}` }
    const content = [
      { type: "text", text: "Read" },
      { type: "file", file },
    ]
    const body = { messages: [{ role: "user", content }], plugins: [{ id: "file-parser" }] }
    await expectJson(200, send(await newWorkspace(), body))
    expect(JSON.stringify(messagesOf(upstreamCalls[0] as UpstreamRequest))).toContain("the contents")
    expect(JSON.stringify(messagesOf(upstreamCalls[0] as UpstreamRequest))).not.toContain("file_data")
  })

  test("context-compression drops messages from the middle", async () => {
    const { as } = await newWorkspace()
    const middle = Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 ? "assistant" : "user",
      content: `${index} ${"x".repeat(12_000)}`,
    }))
    const messages = [{ role: "system", content: "Be brief" }, ...middle, { role: "user", content: "the end" }]
    type Compressed = Result & { service_metadata: { pipeline: Json[] } }
    const result = await expectJson<Compressed>(
      200,
      as.post(
        "/chat/completions",
        { model: "sim/echo", messages, plugins: [{ id: "context-compression" }] },
        { "x-service-metadata": "enabled" },
      ),
    )
    expect(result.choices[0]?.message.content).toBe("the end")
    expect(result.service_metadata.pipeline).toMatchObject([{ type: "context_compression" }])
  })

  test("auto-router has no effect on a request that names a model", async () => {
    const { upstreamCalls } = respondWith([() => complete({ content: "ok" })])
    await expectJson(200, send(await newWorkspace(), { plugins: [{ id: "auto-router" }] }))
    expect(upstreamCalls).toHaveLength(1)
  })

  test("auto-router picks a model from allowed_models", async () => {
    const { as } = await newWorkspace()
    const body = {
      model: "openrouter/auto",
      messages: [{ role: "user", content: "Hi" }],
      plugins: [{ id: "auto-router", allowed_models: ["sim/echo"] }],
    }
    const headers = { "x-service-metadata": "enabled" }
    type Routed = Result & { service_metadata: Json }
    const answer = await expectJson<Routed>(200, as.post("/chat/completions", body, headers))
    expect(answer.service_metadata).toMatchObject({ strategy: "auto", requested: "openrouter/auto" })
    expect(answer).toMatchObject({ model: "sim/echo" })
  })

  test(":thinking requests medium reasoning effort", async () => {
    const { upstreamCalls } = respondWith([() => complete({ content: "ok" })])
    await expectJson(200, send(await newWorkspace(), { model: "played/m1:thinking" }))
    expect(upstreamCalls[0]?.body).toMatchObject({ model: "m1", reasoning_effort: "medium" })
  })
})
