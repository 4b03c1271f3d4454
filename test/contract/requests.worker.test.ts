import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, mockProvider, sse } from "../support/mock-provider.ts"
import { expectJson, newWorkspace, readStream, type Receipt, receiptOf } from "../support/world.ts"

type Json = Record<string, unknown>

let stop = () => {}
afterEach(() => stop())

const MODEL = "played/m58"
/** A test whose provider fails uses a new model, since cooldowns belong to an endpoint. */
let next = 60
const newModel = () => `played/m${next++}`

const completion = () =>
  Response.json({
    id: "up-1",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage: null,
  })

const USER = { role: "user", content: "Hi" }

/** Body of the upstream request for this chat request. */
async function upstreamBody(fields: Json): Promise<Json> {
  const { upstreamCalls, stop: end } = mockProvider(completion)
  stop = end
  const { as } = await newWorkspace()
  await expectJson(200, as.post("/chat/completions", { model: MODEL, messages: [USER], ...fields }))
  stop()
  return upstreamCalls[0]?.body ?? {}
}

const TOOL = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }

test.each([
  ["/chat/completions", { messages: [USER] }],
  ["/responses", { input: "Hi" }],
  ["/messages", { messages: [USER], max_tokens: 16 }],
])("POST %s accepts null for stream and answers with JSON", async (path, fields) => {
  const { as } = await newWorkspace()
  const response = await as.post(path, { model: "sim/echo", stream: null, ...fields })
  expect(response.headers.get("content-type")).toContain("application/json")
  await expectJson(200, response)
})

describe("a chat request to a provider of the same format", () => {
  test.each<Json>([
    { frequency_penalty: 0.5 },
    { presence_penalty: -0.5 },
    { repetition_penalty: 1.1 },
    { temperature: 0.5 },
    { top_p: 0.5 },
    { min_p: 0.1 },
    { seed: 7 },
    { stop: ["a", "b"] },
    { logit_bias: { "50256": -100 } },
    { logprobs: true, top_logprobs: 5 },
    { image_config: { size: "1:1", vendor: { key: 1 } } },
    { modalities: ["text", "image"] },
    { prediction: { type: "content", content: "x" } },
    { response_format: { type: "json_object" } },
    { tools: [TOOL], tool_choice: "required", parallel_tool_calls: true },
    { tools: [TOOL], tool_choice: { type: "function", function: { name: "f" } }, parallel_tool_calls: false },
    { cache_control: { type: "ephemeral" } },
    { prompt_cache_options: { mode: "explicit", ttl: "30m" } },
  ])("forwards %j unchanged", async (fields) => {
    expect(await upstreamBody(fields)).toMatchObject(fields)
  })

  test("forwards messages of five roles with their names and their breakpoints", async () => {
    const part = { type: "text", text: "Hi", cache_control: { type: "ephemeral" } }
    const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } }
    const messages = [
      { role: "system", content: "S", name: "s" },
      { role: "developer", content: "D" },
      { role: "user", content: [part], name: "ada" },
      { role: "assistant", content: "A", tool_calls: [call] },
      { role: "tool", content: "T", tool_call_id: "c1" },
    ]
    expect(await upstreamBody({ messages, tools: [TOOL] })).toMatchObject({ messages })
  })

  test("limits the output by max_completion_tokens, or by max_tokens without it", async () => {
    expect(await upstreamBody({ max_tokens: 20 })).toMatchObject({ max_tokens: 20 })
    const both = await upstreamBody({ max_tokens: 20, max_completion_tokens: 30 })
    expect(both).toMatchObject({ max_completion_tokens: 30 })
    expect(both).not.toHaveProperty("max_tokens")
  })

  test("sends the reasoning effort alike in either form", async () => {
    for (const effort of ["max", "xhigh", "high", "medium", "low", "minimal", "none"]) {
      const { model: _one, ...short } = await upstreamBody({ reasoning_effort: effort })
      const { model: _other, ...long } = await upstreamBody({ reasoning: { effort } })
      expect(short).toMatchObject({ reasoning_effort: effort })
      expect(long).toEqual(short)
    }
    expect(await upstreamBody({ reasoning: { effort: "low", summary: "auto" } })).toMatchObject({
      reasoning: { effort: "low", summary: "auto" },
    })
  })

  test("does not forward metadata, session, plugins and routing preferences", async () => {
    const body = await upstreamBody({
      metadata: { a: "b" },
      session_id: "s",
      trace: { trace_id: "t" },
      route: "fallback",
      models: ["sim/echo"],
      provider: { allow_fallbacks: true },
      plugins: [{ id: "web", enabled: false }],
      fallbacks: ["acme/dear"],
      store: true,
    })
    for (const name of [
      "metadata",
      "session_id",
      "trace",
      "route",
      "models",
      "fallbacks",
      "provider",
      "plugins",
      "store",
    ]) {
      expect(body).not.toHaveProperty(name)
    }
  })
})

test.each(["/chat/completions", "/responses"])("%s: the tier fast is priority at the provider", async (path) => {
  const { upstreamCalls, stop: end } = mockProvider(completion)
  stop = end
  const { as } = await newWorkspace()
  const body = { model: MODEL, ...(path === "/responses" ? { input: "Hi" } : { messages: [USER] }) }
  for (const tier of ["fast", "priority", "flex"]) await expectJson(200, as.post(path, { ...body, service_tier: tier }))
  expect(upstreamCalls.map(({ body: { service_tier: tier } }) => tier)).toEqual(["priority", "priority", "flex"])
})

test("the tier that the provider used is in the result", async () => {
  stop = mockProvider(async () => {
    const answer = await completion().json<Json>()
    return Response.json({ ...answer, service_tier: "flex" })
  }).stop
  const { as } = await newWorkspace()
  expect(await expectJson(200, as.chat(MODEL, "Hi"))).toMatchObject({ service_tier: "flex" })
})

test.each(["/chat/completions", "/responses"])(
  "%s: the session is that of the body, or else that of the header",
  async (path) => {
    const workspace = await newWorkspace()
    const body = { model: "sim/echo", ...(path === "/responses" ? { input: "Hi" } : { messages: [USER] }) }
    const sessionOf = async (fields: Json, header?: string) => {
      const headers = header === undefined ? {} : { "x-session-id": header }
      const response = await workspace.as.post(path, { ...body, ...fields }, headers)
      await response.text()
      return (await receiptOf(workspace, response)) as Receipt & { session_id: string | null }
    }
    expect(await sessionOf({}, "header")).toMatchObject({ session_id: "header" })
    expect(await sessionOf({ session_id: "body" })).toMatchObject({ session_id: "body" })
    expect(await sessionOf({ session_id: "body" }, "header")).toMatchObject({ session_id: "body" })
    expect(await sessionOf({})).toMatchObject({ session_id: null })
  },
)

test.each(["/chat/completions", "/responses"])("%s: a response is a document unless stream is true", async (path) => {
  const { as } = await newWorkspace()
  const body = { model: "sim/echo", ...(path === "/responses" ? { input: "Hi" } : { messages: [USER] }) }
  for (const fields of [{}, { stream: false }]) {
    const response = await as.post(path, { ...body, ...fields })
    expect(response.headers.get("content-type")).toContain("application/json")
    await expectJson(200, response)
  }
  const { response, done } = await readStream(as.post(path, { ...body, stream: true }))
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  expect(done).toBe(true)
})

test("a rate limit after a stream has started is a chunk with finish_reason error", async () => {
  const limit = `data: ${JSON.stringify({ error: { code: 429, message: "Too many requests" } })}\n\n`
  stop = mockProvider(() => sse([chunk({ content: "1234" }), limit, DONE])).stop
  const { as } = await newWorkspace()
  const { chunks, done } = await readStream(as.chat(newModel(), "Hi", { stream: true }))
  expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "error" }], error: { code: 429 } })
  expect(done).toBe(true)
})

test.each([
  [400, 400],
  [404, 404],
  [408, 408],
  [413, 413],
  [422, 422],
  [429, 429],
  [500, 502],
  [503, 503],
  [524, 524],
  [529, 529],
])("a provider status %i for a response is %i in the envelope, with its code", async (upstream, status) => {
  stop = mockProvider(() => Response.json({ error: { message: "no" } }, { status: upstream })).stop
  const { as } = await newWorkspace()
  const answer = as.post("/responses", { model: newModel(), input: "Hi" })
  type Failure = { error: { code: number; message: string; metadata: { provider_code: string } } }
  const { error } = await expectJson<Failure>(status, answer)
  expect(error).toMatchObject({ code: status, message: expect.any(String) })
  expect(error.metadata.provider_code).toBe(String(upstream))
})
