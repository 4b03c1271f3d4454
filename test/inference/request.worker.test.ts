import { afterEach, describe, expect, test } from "vitest"
import { mockProvider } from "../support/mock-provider.ts"
import { newKey, newWorkspace, readStream, receiptOf, expectJson, textOf } from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
const hello = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }

let stop = () => {}
afterEach(() => stop())

describe("a field outside its range", () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ messages: [] }, "messages"],
    [{ messages: "Hi" }, "messages"],
    [{ messages: [{ role: "robot", content: "Hi" }] }, "messages[0].role"],
    [{ messages: [{ role: "user" }] }, "messages[0].content"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      "messages[0].content[0].image_url.url",
    ],
    [{ messages: [{ role: "tool", content: "x" }] }, "messages[0].tool_call_id"],
    [
      { messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f" } }] }] },
      "messages[0].tool_calls[0].function.arguments",
    ],
    [{ model: 7 }, "model"],
    [{ model: undefined }, "model"],
    [{ temperature: 2.1 }, "temperature"],
    [{ temperature: -0.1 }, "temperature"],
    [{ top_p: 1.1 }, "top_p"],
    [{ frequency_penalty: -2.1 }, "frequency_penalty"],
    [{ presence_penalty: 2.1 }, "presence_penalty"],
    [{ top_logprobs: 21 }, "top_logprobs"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_completion_tokens: 1.5 }, "max_completion_tokens"],
    [{ seed: "x" }, "seed"],
    [{ stop: ["a", "b", "c", "d", "e"] }, "stop"],
    [{ logit_bias: { "1": "x" } }, "logit_bias"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, "v"])) }, "metadata"],
    [{ metadata: { ["k".repeat(65)]: "v" } }, "metadata"],
    [{ metadata: { k: "v".repeat(513) } }, "metadata"],
    [{ metadata: { k: 1 } }, "metadata"],
    [{ session_id: "s".repeat(257) }, "session_id"],
    [{ modalities: ["smell"] }, "modalities"],
    [{ service_tier: "gold" }, "service_tier"],
    [{ route: "scenic" }, "route"],
    [{ reasoning: { effort: "heroic" } }, "reasoning.effort"],
    [{ reasoning_effort: "heroic" }, "reasoning_effort"],
    [{ reasoning_effort: "high", reasoning: { effort: "low" } }, "reasoning_effort"],
    [{ response_format: { type: "xml" } }, "response_format"],
    [{ tools: [{ type: "function", function: { name: "not a name" } }] }, "tools"],
    [{ tools: [{ type: "service:web_search", parameters: { engine: "exa" } }] }, "tools[0].parameters.engine"],
    [{ tool_choice: "perhaps" }, "tool_choice"],
    [{ plugins: [{ id: "unheard-of" }] }, "plugins[0].id"],
    [{ plugins: [{ id: "web", engine: "exa" }] }, "plugins[0].engine"],
    [{ stop_server_tools_when: [] }, "stop_server_tools_when"],
    [{ cache_control: { type: "forever" } }, "cache_control.type"],
    [{ provider: { sort: "beauty" } }, "provider.sort"],
    [{ provider: { order: "openai" } }, "provider.order"],
    [{ stream: "yes" }, "stream"],
    [{ debug: { echo_upstream_body: true } }, "debug"],
    [{ prediction: { type: "guess", content: "x" } }, "prediction.type"],
    [{ models: "sim/echo" }, "models"],
  ]

  test.each(cases)("%j is rejected with 400 and a message that names %s", async (change, field) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.as.post("/chat/completions", { ...hello, ...change }))
    expect(error.message.startsWith(field), error.message).toBe(true)
    expect(error.message.length).toBeGreaterThan(field.length + 8)
  })

  test("a session header that is too long is rejected with 400", async () => {
    const workspace = await newWorkspace()
    await expectJson(400, workspace.as.post("/chat/completions", hello, { "x-session-id": "s".repeat(257) }))
  })
})

describe("a valid request is accepted", () => {
  const cases: Record<string, unknown>[] = [
    { temperature: null, top_p: null, stop: null, seed: null, max_tokens: null, logit_bias: null, provider: null },
    { temperature: 0, top_p: 1, frequency_penalty: -2, presence_penalty: 2, top_logprobs: 20, logprobs: true },
    { stop: ["1", "2", "3", "4"], metadata: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, "v"])) },
    { reasoning_effort: "none", reasoning: { effort: "none", summary: "auto" } },
    { route: "fallback" },
    { plugins: [{ id: "web", enabled: false }] },
    {
      trace: { trace_id: "t", anything: { deep: true } },
      image_config: { aspect: "1:1" },
      cache_control: { type: "ephemeral" },
    },
    {
      messages: [
        { role: "developer", content: [{ type: "text", text: "x" }] },
        { role: "assistant", content: null, tool_calls: null },
        { role: "user", content: "Hi", name: "n" },
      ],
    },
    { unheard_of: { by: "us" } },
  ]
  test.each(cases)("%j", async (change) => {
    await expectJson(200, (await newWorkspace()).as.post("/chat/completions", { ...hello, ...change }))
  })

  test.each(["application/json;", "application/json ; charset=utf-8", "application/vnd.api+json", "Application/JSON"])(
    "declared as %s",
    async (type) => {
      const workspace = await newWorkspace()
      await expectJson(
        200,
        workspace.as.call("POST", "/chat/completions", JSON.stringify(hello), { "content-type": type }),
      )
    },
  )

  test.each([1e-7, 5, "5"])(
    "with a max_price of %s, and returns 404 only where no endpoint is that cheap",
    async (prompt) => {
      const answer = (await newWorkspace()).as.chat("sim/echo", "Hi", { provider: { max_price: { prompt } } })
      await expectJson(prompt === 1e-7 ? 404 : 200, answer)
    },
  )

  test("with a very deep body, or rejected with 400", async () => {
    const deep = `{"model":"sim/echo","messages":[{"role":"user","content":"Hi"}],"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`
    const answer = await (await newWorkspace()).as.call("POST", "/chat/completions", deep)
    expect([200, 400]).toContain(answer.status)
  })

  test("with JavaScript's special property names, which have no effect", async () => {
    const body = `{"model":"sim/echo","messages":[{"role":"user","content":"Hi"}],"__proto__":{"stream":true},"constructor":{"prototype":{"x":1}}}`
    const answer = await expectJson<{ object: string }>(
      200,
      (await newWorkspace()).as.call("POST", "/chat/completions", body),
    )
    expect(answer.object).toBe("chat.completion")
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined()
  })
})

describe("a preference that cannot be read is rejected, not ignored", () => {
  test.each([
    [{ preferred_max_latency: { p50: "fast" } }, "provider.preferred_max_latency.p50: must be a number."],
    [{ preferred_min_throughput: { p99: -1 } }, "provider.preferred_min_throughput.p99: must be at least 0."],
    [{ max_price: { prompt: "cheap" } }, "provider.max_price.prompt: must be USD as a decimal string."],
    [{ max_price: { completion: -1 } }, "provider.max_price.completion: must be USD as a decimal string."],
  ])("%j", async (provider, message) => {
    const { error } = await expectJson<Failure>(400, (await newWorkspace()).as.chat("sim/echo", "Hi", { provider }))
    expect(error.message).toBe(message)
  })

  test("percentiles may be null or left out", async () => {
    const provider = { preferred_max_latency: { p50: null, p90: 1 }, preferred_min_throughput: {} }
    await expectJson(200, (await newWorkspace()).as.chat("sim/echo", "Hi", { provider }))
  })
})

describe("the choice of an endpoint", () => {
  test("returns 404 for an unknown model with a hint to GET /models", async () => {
    const { error } = await expectJson<Failure>(404, (await newWorkspace()).as.chat("nobody/nothing", "Hi"))
    expect(error.message).toContain("GET /models")
  })

  test("returns 404 for a model without a price", async () => {
    const { error } = await expectJson<Failure>(404, (await newWorkspace()).as.chat("played/unpriced", "Hi"))
    expect(error.message).toContain("no price is known")
  })

  test.each([
    [{ only: ["openai"] }, "provider.only"],
    [{ ignore: ["embedded"] }, "provider.ignore"],
    [{ max_price: { prompt: "0.5" } }, "provider.max_price"],
    [{ quantizations: ["fp8"] }, "provider.quantizations"],
  ])("%j excludes all endpoints, and the 404 names the filter", async (provider, filter) => {
    const { error } = await expectJson<Failure>(404, (await newWorkspace()).as.chat("sim/echo", "Hi", { provider }))
    expect(error.message).toContain(filter)
  })

  test("with an unavailable provider in order continues with the rest", async () => {
    await expectJson(200, (await newWorkspace()).as.chat("sim/echo", "Hi", { provider: { order: ["openai"] } }))
  })

  test("with allow_fallbacks: false tries one target", async () => {
    const answer = (await newWorkspace()).as.chat("sim/status-503", "Hi", {
      models: ["sim/echo"],
      provider: { allow_fallbacks: false },
    })
    await expectJson(503, answer)
  })

  test.each(["floor", "nitro"])("with the variant :%s uses the endpoints of the model", async (variant) => {
    await expectJson(200, (await newWorkspace()).as.chat(`sim/echo:${variant}`, "Hi"))
  })
})

describe("a slow provider", () => {
  useShortHeartbeats()

  test("is failed over after the early 200 while no content was sent", async () => {
    let turn = 0
    stop = mockProvider(async () => {
      if (turn++ > 0) return Response.json({ error: { message: "late", code: 500 } }, { status: 500 })
      await scheduler.wait(300)
      return Response.json({ error: { message: "late" } }, { status: 503 })
    }).stop
    const workspace = await newWorkspace()
    const { raw, chunks } = await readStream(
      workspace.as.chat("played/m90", "Hi", { stream: true, models: ["sim/echo"] }),
    )
    expect(raw.startsWith(": keepalive")).toBe(true)
    expect(textOf(chunks)).toBe("Hi")
  })

  test("ends in a free error chunk when no provider responds", async () => {
    stop = mockProvider(async () => {
      await scheduler.wait(300)
      return Response.json({ error: { message: "late" } }, { status: 503 })
    }).stop
    const workspace = await newWorkspace()
    const { chunks, done, response } = await readStream(workspace.as.chat("played/m91", "Hi", { stream: true }))
    expect(done).toBe(true)
    expect(chunks).toMatchObject([{ choices: [{ finish_reason: "error" }], error: { code: 503, message: "late" } }])
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
  })
})

test("tool_choice any of Mistral's clients means required", async () => {
  let sent: unknown
  stop = mockProvider(({ body }) => {
    sent = body["tool_choice"]
    return Response.json({
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
    })
  }).stop
  const workspace = await newWorkspace()
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
  const response = await workspace.as.chat("played/m80", "Hi", { tools, tool_choice: "any" })
  await response.body?.cancel()
  expect(sent).toBe("required")
})

describe("secrets", () => {
  test("no key is in a key list, a key's details or an error", async () => {
    const workspace = await newWorkspace()
    const { key } = await newKey(workspace)
    const answers = await Promise.all([
      workspace.manage.get("/keys"),
      workspace.as.get("/key"),
      workspace.as.chat("sim/status-401", "Hi"),
      workspace.as.chat("nobody/nothing", "Hi"),
    ])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    for (const secret of [key, workspace.key, workspace.managementKey]) expect(texts.join()).not.toContain(secret)
  })
})

test("every response has a request id and cache-control no-store", async () => {
  const workspace = await newWorkspace()
  for (const answer of [
    await workspace.as.chat("sim/echo", "Hi"),
    await workspace.as.get("/key"),
    await workspace.as.get("/nowhere"),
  ]) {
    expect(answer.headers.get("x-request-id")).toMatch(/^req-[0-9a-f-]{36}$/)
    expect(answer.headers.get("cache-control")).toContain("no-store")
    await answer.body?.cancel()
  }
})
