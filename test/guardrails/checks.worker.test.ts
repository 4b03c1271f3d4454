import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { chunk, DONE, good, sse, usageChunk } from "../support/mock-provider.ts"
import { deflated } from "../support/deflated.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import {
  expectJson,
  newKey,
  newWorkspace,
  openHolds,
  readStream,
  receiptOf,
  type TestClient,
  textOf,
  type Workspace,
} from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

/** External checks: services that judge the texts of a call for its guardrails. */

type Json = Record<string, unknown>
type Failure = { error: { message: string; metadata?: Json } }
type Sent = { url: string; headers: Headers; body: Json }
type Traffic = { checks: Sent[]; upstream: Json[] }
type Judge = (body: Json, url: string) => Response | Promise<Response>

const BAD = "the forbidden plan"
const PATHS = ["/chat/completions", "/responses", "/messages"] as const

afterEach(() => vi.restoreAllMocks())

/** Mocks the services of checks, and a provider that responds with `reply`. */
function mockTraffic(judge: Judge, reply = "Fine.", pieces: readonly string[] = [reply]): Traffic {
  const traffic: Traffic = { checks: [], upstream: [] }
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const body = await request.json<Json>()
    if (new URL(request.url).hostname.endsWith(".test") && !request.url.includes("/chat/completions")) {
      traffic.checks.push({ url: request.url, headers: request.headers, body })
      return judge(body, request.url)
    }
    traffic.upstream.push(body)
    if (body["stream"] !== true) {
      const message = { role: "assistant", content: reply }
      return Response.json({
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 3 },
      })
    }
    if (pieces.length === 1) return sse(good(reply))
    return sse([...pieces.map((content) => chunk({ content })), chunk({}, "stop"), usageChunk(3, 3), DONE])
  })
  return traffic
}

const verdict = (flagged: boolean, more: Json = {}) => Response.json({ flagged, ...more })
const flagsBad: Judge = (body) => verdict(JSON.stringify(body).includes(BAD), { categories: ["plans"] })

async function guardedKey(workspace: Workspace, rules: Json[], more: Json = {}): Promise<TestClient> {
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/guardrails", { name: "Checked", content_checks: rules, ...more }),
  )
  const { as, hash } = await newKey(workspace)
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
  return as
}

function bodyFor(path: (typeof PATHS)[number], text: string, more: Json = {}): Json {
  const messages = [{ role: "user", content: text }]
  if (path === "/responses") return { model: "played/m1", input: text, ...more }
  return { model: "played/m1", messages, max_tokens: 50, ...more }
}

describe("a check of requests", () => {
  test.each(PATHS)("blocks a request to %s before the provider receives it", async (path) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    const { checks, upstream } = mockTraffic(flagsBad)
    const { error } = await expectJson<Failure>(403, as.post(path, bodyFor(path, `Explain ${BAD}.`)))
    expect(error.message).toBe(
      'The guardrail "Checked" blocks this request: its check found guard: plans. Remove that text from the request.',
    )
    expect(error.metadata).toMatchObject({ reason: "guardrail_blocked", patterns: ["guard: plans"] })
    expect(upstream).toEqual([])
    expect(checks[0]?.headers.get("authorization")).toBe("Bearer guard-secret-0123")
    expect(checks[0]?.body).toEqual({
      stage: "request",
      texts: [{ role: "user", text: `Explain ${BAD}.` }],
      request_id: expect.stringMatching(/^req-/),
    })
    await expectJson(200, as.post(path, bodyFor(path, "Explain rivers.")))
    expect(upstream).toHaveLength(1)
  })

  test("may compress its result with deflate, although it was not asked to", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    mockTraffic(() => deflated({ flagged: true, categories: ["plans"] }))
    await expectJson(403, as.post("/chat/completions", bodyFor("/chat/completions", "Explain rivers.")))
  })

  test("receives the text after the detectors redacted it, without definitions of tools", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }], {
      content_filter_builtins: [{ slug: "email", action: "redact" }],
    })
    const { checks } = mockTraffic(flagsBad)
    const tools = [{ type: "function", function: { name: "search", description: "Searches.", parameters: {} } }]
    const messages = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Write to ada@example.com" },
          { type: "text", text: " today" },
        ],
      },
    ]
    await expectJson(200, as.post("/chat/completions", { model: "played/m1", messages, tools }))
    expect(checks[0]?.body["texts"]).toEqual([
      { role: "system", text: "Be brief." },
      { role: "user", text: "Write to [EMAIL]" },
      { role: "user", text: " today" },
    ])
  })

  test("flags without a change of the call, in the routing metadata and the record", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "flag" }])
    mockTraffic(flagsBad)
    const response = await as.post("/chat/completions", bodyFor("/chat/completions", BAD), {
      "x-service-metadata": "enabled",
    })
    const body = await expectJson<{ id: string; service_metadata: { pipeline: Json[] } }>(
      200,
      Promise.resolve(response),
    )
    expect(body.service_metadata.pipeline).toContainEqual({
      type: "guardrail",
      name: "Checked",
      guardrail_id: expect.any(String),
      guardrail_scope: "key",
      summary: "flagged: guard: plans",
      data: { action: "flag", detected: true, engines: ["check"], patterns: ["guard: plans"] },
    })
  })

  test("names only the guardrail that blocks if another one flags the same finding", async () => {
    const workspace = await newWorkspace()
    const { data } = await expectJson<{ data: { default_guardrail_id: string } }>(
      200,
      workspace.manage.get(`/workspaces/${workspace.workspaceId}`),
    )
    const flagging = { name: "Watcher", content_checks: [{ check: "guard", action: "flag" }] }
    await expectJson(200, workspace.manage.patch(`/guardrails/${data.default_guardrail_id}`, flagging))
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    const { checks } = mockTraffic(flagsBad)
    const { error } = await expectJson<Failure>(403, as.post("/chat/completions", bodyFor("/chat/completions", BAD)))
    expect(error.message).toMatch(/^The guardrail "Checked" blocks this request/)
    expect(checks).toHaveLength(1)
  })

  test.each([
    ["guard", { flagged: true, texts: ["Explain [removed]."] }],
    ["generic", { action: "GUARDRAIL_INTERVENED", texts: ["Explain [removed]."] }],
  ])("redacts with the texts that %s returns", async (check, result) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check, action: "redact" }])
    const { upstream } = mockTraffic(() => Response.json(result))
    await expectJson(200, as.post("/chat/completions", bodyFor("/chat/completions", `Explain ${BAD}.`)))
    expect(upstream[0]?.["messages"]).toEqual([{ role: "user", content: "Explain [removed]." }])
  })

  test.each([
    ["no texts", { flagged: true }],
    ["another number of texts", { flagged: true, texts: ["a", "b"] }],
  ])("blocks what it was to redact if the check returns %s", async (_, result) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "redact" }])
    const { upstream } = mockTraffic(() => Response.json(result))
    const { error } = await expectJson<Failure>(403, as.post("/chat/completions", bodyFor("/chat/completions", BAD)))
    expect(error.metadata).toMatchObject({ reason: "guardrail_blocked", patterns: ["guard"] })
    expect(upstream).toEqual([])
  })

  test("places every returned text where the original was, whatever the request has", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "redact" }])
    const part = fc.string({ minLength: 1, maxLength: 8 }).map((text) => `x${text}`)
    const content = fc.oneof(
      part,
      fc.array(part, { minLength: 1, maxLength: 3 }).map((texts) => texts.map((text) => ({ type: "text", text }))),
    )
    const messages = fc.array(fc.record({ role: fc.constantFrom("system", "user"), content }), {
      minLength: 1,
      maxLength: 4,
    })
    const { upstream } = mockTraffic((body) => {
      const texts = (body["texts"] as { text: string }[]).map(({ text }) => `<${text}>`)
      return verdict(true, { texts })
    })
    await fc.assert(
      fc.asyncProperty(messages, async (list) => {
        await expectJson(200, as.post("/chat/completions", { model: "played/m1", messages: list }))
        const marked = list.map(({ role, content: one }) => ({
          role,
          content: typeof one === "string" ? `<${one}>` : one.map(({ text }) => `<${text}>`).join(""),
        }))
        const sent = upstream.at(-1)?.["messages"] as { role: string; content: string | { text: string }[] }[]
        const flat = sent.map(({ role, content: one }) => ({
          role,
          content: typeof one === "string" ? one : one.map(({ text }) => text).join(""),
        }))
        expect(flat).toEqual(marked)
      }),
      { numRuns: runs(15) },
    )
  })

  test("covers embeddings, and refuses token ids that it cannot read", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    mockTraffic(flagsBad)
    await expectJson(403, as.post("/embeddings", { model: "sim/embed", input: ["Rivers", BAD] }))
    const { error } = await expectJson<Failure>(403, as.post("/embeddings", { model: "sim/embed", input: [1, 2, 3] }))
    expect(error.metadata).toMatchObject({ reason: "guardrail_unchecked" })
  })
})

describe("the format of a check", () => {
  test("openai: sends what is not by the assistant, and reads the categories", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "moderation", action: "block" }])
    const { checks } = mockTraffic(() =>
      Response.json({ results: [{ flagged: true, categories: { violence: true, hate: false } }] }),
    )
    const messages = [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
      { role: "user", content: "Three" },
    ]
    const { error } = await expectJson<Failure>(403, as.post("/chat/completions", { model: "played/m1", messages }))
    expect(checks[0]?.body).toEqual({ model: "omni", input: ["One", "Three"] })
    expect(error.metadata).toMatchObject({ patterns: ["moderation: violence"] })
    const only = { model: "played/m1", messages: [{ role: "assistant", content: "Two" }] }
    await expectJson(200, as.post("/chat/completions", only))
    expect(checks).toHaveLength(1)
  })

  test("lakera: sends messages and the project, and reads the detectors", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "shield", action: "block" }])
    const breakdown = [
      { detector_type: "prompt_attack", detected: true },
      { detector_type: "pii/email", detected: false },
    ]
    const { checks } = mockTraffic(() => verdict(true, { breakdown }))
    const { error } = await expectJson<Failure>(403, as.post("/chat/completions", bodyFor("/chat/completions", "Hi")))
    expect(checks[0]?.body).toEqual({
      breakdown: true,
      project_id: "p1",
      messages: [{ role: "user", content: "Hi" }],
    })
    expect(error.metadata).toMatchObject({ patterns: ["shield: prompt_attack"] })
  })

  test("litellm: sends texts and parameters", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "generic", action: "block" }])
    const { checks } = mockTraffic(() => Response.json({ action: "BLOCKED", blocked_reason: "no" }))
    await expectJson(403, as.post("/chat/completions", bodyFor("/chat/completions", "Hi")))
    expect(checks[0]?.body).toEqual({
      texts: ["Hi"],
      input_type: "request",
      litellm_call_id: expect.stringMatching(/^req-/),
      request_data: {},
      additional_provider_specific_params: { threshold: 0.5 },
    })
  })
})

describe("a check of responses", () => {
  test.each(PATHS)("withholds a response of %s that it blocks, and charges it", async (path) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "output" }])
    const { checks } = mockTraffic(flagsBad, `Here is ${BAD}.`)
    const response = await as.post(path, bodyFor(path, "Explain."))
    const text = await response.clone().text()
    expect([response.status, text.includes(BAD)]).toEqual([403, false])
    expect(checks.map(({ body }) => [body["stage"], body["texts"]])).toEqual([
      ["response", [{ role: "assistant", text: `Here is ${BAD}.` }]],
    ])
    expect((await receiptOf(workspace, response)).total_cost).toBeGreaterThan(0)
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each(PATHS)("sends nothing of a stream of %s before the complete response passed", async (path) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "both" }])
    const pieces = ["Here is ", "the forb", "idden plan", "."]
    mockTraffic(flagsBad, pieces.join(""), pieces)
    const response = await as.post(path, bodyFor(path, "Explain.", { stream: true }))
    const text = await response.text()
    expect(text).not.toContain("Here is")
    expect(text).toContain("guard: plans")
    vi.restoreAllMocks()
    mockTraffic(flagsBad, "Here is a map.", ["Here is ", "a map."])
    const passed = await (await as.post(path, bodyFor(path, "Explain.", { stream: true }))).text()
    expect(passed).toContain("Here is ")
    expect(passed).toContain("a map.")
  })

  test("receives the arguments of tool calls and reasoning of a stream", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "output" }])
    const checks: Json[] = []
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const body = await request.json<Json>()
      if (request.url.startsWith("http://guard.test")) {
        checks.push(body)
        return verdict(false)
      }
      const called = (args: string) => ({
        tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "run", arguments: args } }],
      })
      return sse([
        chunk({ reasoning: "First " }),
        chunk({ reasoning: "think." }),
        chunk(called('{"plan":')),
        chunk(called('"b"}')),
        chunk({}, "tool_calls"),
        usageChunk(3, 3),
        DONE,
      ])
    })
    const response = await as.post("/chat/completions", bodyFor("/chat/completions", "Go.", { stream: true }))
    expect(await response.text()).toContain("[DONE]")
    expect(checks.map(({ texts }) => texts)).toEqual([
      [
        { role: "assistant", text: "First think." },
        { role: "assistant", text: '{"plan":"b"}' },
      ],
    ])
  })

  test("flags a stream without a delay of its text", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "flag", direction: "output" }])
    mockTraffic(flagsBad, "", ["Here is ", BAD])
    const body = bodyFor("/chat/completions", "Explain.", { stream: true })
    const response = await as.post("/chat/completions", body, { "x-service-metadata": "enabled" })
    const { chunks } = await readStream(response)
    expect(textOf(chunks)).toBe(`Here is ${BAD}`)
    expect(JSON.stringify(chunks)).toContain("flagged: guard: plans")
  })
})

describe("a check in an agent loop", () => {
  /** A model that searches once and then responds with `reply`, and a search engine that returns `found`. */
  function mockSearch(found: string, reply: string): { rounds: Json[]; stages: unknown[] } {
    const seen: { rounds: Json[]; stages: unknown[] } = { rounds: [], stages: [] }
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      if (request.url.startsWith("http://search.test"))
        return Response.json({ results: [{ title: "Rivers", url: "https://a.example/rivers", content: found }] })
      const body = await request.json<Json>()
      if (request.url.startsWith("http://guard.test")) {
        seen.stages.push(body["stage"])
        return flagsBad(body, request.url)
      }
      seen.rounds.push(body)
      const isAnswered = (body["messages"] as Json[]).at(-1)?.["role"] === "tool"
      if (isAnswered) return sse(good(reply))
      const called = { name: "web_search", arguments: '{"query":"rivers"}' }
      const calls = [{ index: 0, id: "c1", type: "function", function: called }]
      return sse([chunk({ tool_calls: calls }), chunk({}, "tool_calls"), usageChunk(3, 3), DONE])
    })
    return seen
  }

  const search = (as: TestClient) =>
    as.post("/chat/completions", {
      ...bodyFor("/chat/completions", "Rivers?", { stream: true }),
      tools: [{ type: "openrouter:web_search" }],
    })

  test("reads the result of a tool before the model does", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    const { rounds, stages } = mockSearch(`It has ${BAD}.`, "Done.")
    const text = await (await search(as)).text()
    expect(text).toContain("blocks this tool result")
    expect(stages).toEqual(["request", "tool_result"])
    expect(JSON.stringify(rounds)).not.toContain(BAD)
  })

  test("reads each response before the client does", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "output" }])
    mockSearch("Long.", `There is ${BAD}.`)
    expect(await (await search(as)).text()).not.toContain("There is")
    vi.restoreAllMocks()
    mockSearch("Long.", "There are many.")
    expect(textOf((await readStream(await search(as))).chunks)).toBe("There are many.")
  })
})

describe("while a check judges a stream", () => {
  useShortHeartbeats()

  test("the client receives heartbeats", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "output" }])
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      return verdict(false)
    }
    mockTraffic(slow, "Here it is.")
    const response = await as.post("/chat/completions", bodyFor("/chat/completions", "Go.", { stream: true }))
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader?.read()
    expect(first?.value).toMatch(/^: /)
    let rest = ""
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) rest += next.value
    expect(rest).toContain('"content":"is."')
    expect(rest).toContain("[DONE]")
  })

  test("a client disconnect is charged for what was generated, and leaves no hold", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block", direction: "output" }])
    mockTraffic(() => new Promise<Response>(() => {}), "Here it is.")
    const response = await as.post("/chat/completions", bodyFor("/chat/completions", "Go.", { stream: true }))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    const id = response.headers.get("x-generation-id") ?? ""
    const { data } = await eventually(() =>
      expectJson<{ data: { total_cost: number } }>(200, workspace.as.get(`/generation?id=${id}`)),
    )
    expect(data.total_cost).toBeGreaterThan(0)
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("a check that is not available", () => {
  const failures: [string, Judge][] = [
    ["fails", () => new Response("no", { status: 500 })],
    ["redirects", () => new Response(null, { status: 302, headers: { location: "http://elsewhere.test/" } })],
    ["responds with another format", () => Response.json({ ok: true })],
    ["responds with something other than JSON", () => new Response("flagged")],
    ["breaks the connection", () => Promise.reject(new Error("reset"))],
  ]

  test.each(failures)("blocks the request if it %s", async (_, judge) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "block" }])
    const { upstream, checks } = mockTraffic(judge)
    const { error } = await expectJson<Failure>(503, as.post("/chat/completions", bodyFor("/chat/completions", "Hi")))
    expect(error.message).toBe(
      "The content check guard of a guardrail is not available, so this request was not sent. Retry later.",
    )
    expect(error.metadata).toMatchObject({ reason: "guardrail_unavailable", retryable: true })
    expect([upstream.length, checks.length]).toEqual([0, 1])
  })

  test.each(failures)("lets the request pass where the operator allows it, if it %s", async (_, judge) => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "lenient", action: "block", direction: "both" }])
    mockTraffic(judge)
    const response = await as.post("/chat/completions", bodyFor("/chat/completions", "Hi"), {
      "x-service-metadata": "enabled",
    })
    const body = await expectJson<{ service_metadata: { pipeline: Json[] } }>(200, Promise.resolve(response))
    expect(JSON.stringify(body.service_metadata.pipeline)).toContain("not available: lenient")
  })

  test("passes its turn after its timeout", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "lenient", action: "block" }])
    mockTraffic(() => new Promise<Response>(() => {}))
    await expectJson(200, as.post("/chat/completions", bodyFor("/chat/completions", "Hi")))
  })

  test("does not block where its finding would only be flagged", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "flag" }])
    mockTraffic(() => new Response("no", { status: 500 }))
    await expectJson(200, as.post("/chat/completions", bodyFor("/chat/completions", "Hi")))
  })
})

describe("the checks of a guardrail", () => {
  test("are stored and returned", async () => {
    const workspace = await newWorkspace()
    const rules = [{ check: "guard", action: "block" }]
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "A", content_checks: rules }),
    )
    expect(data).toMatchObject({ content_checks: [{ check: "guard", action: "block", direction: "input" }] })
    const cleared = await expectJson(200, workspace.manage.patch(`/guardrails/${data.id}`, { content_checks: null }))
    expect(cleared).toMatchObject({ data: { content_checks: null } })
  })

  test.each([
    [
      [{ check: "gard", action: "block" }],
      "content_checks[0].check: must be one of guard, lenient, moderation, shield, generic.",
    ],
    [
      [{ check: "guard", action: "redact", direction: "both" }],
      "content_checks[0].action: redact needs direction input; a response is blocked or flagged.",
    ],
    [
      [
        { check: "guard", action: "block" },
        { check: "guard", action: "flag" },
      ],
      "content_checks: must not name a check twice.",
    ],
  ])("must be known and consistent: %j", async (rules, message) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(
      400,
      workspace.manage.post("/guardrails", { name: "A", content_checks: rules }),
    )
    expect(error.message).toBe(message)
  })

  test("are tried on a text by POST /guardrails/test on request, after the filters", async () => {
    const workspace = await newWorkspace()
    const { checks } = mockTraffic((body, url) =>
      url.includes("lenient") ? new Response("no", { status: 500 }) : flagsBad(body, url),
    )
    const rules = {
      content_filter_builtins: [{ slug: "email", action: "redact" }],
      content_checks: [
        { check: "guard", action: "block" },
        { check: "lenient", action: "flag", direction: "both" },
        { check: "shield", action: "block", direction: "output" },
      ],
    }
    const text = `Write ${BAD} to ada@example.com`
    const run = (more: Json) =>
      expectJson<{ data: { checks: Json[] } }>(
        200,
        workspace.manage.post("/guardrails/test", { ...rules, text, ...more }),
      )
    expect((await run({})).data.checks).toEqual([])
    expect(checks).toEqual([])
    expect((await run({ run_checks: true })).data.checks).toEqual([
      { name: "guard", available: true, flagged: true, categories: ["plans"] },
      { name: "lenient", available: false, flagged: false, categories: [] },
    ])
    expect(checks[0]?.body["texts"]).toEqual([{ role: "user", text: `Write ${BAD} to [EMAIL]` }])
    const blocking = { content_filter_builtins: [{ slug: "email", action: "block" }] }
    expect((await run({ run_checks: true, ...blocking })).data.checks).toEqual([])
  })

  test("keep a key from realtime sessions, whose audio they cannot read", async () => {
    const workspace = await newWorkspace()
    const as = await guardedKey(workspace, [{ check: "guard", action: "flag" }])
    const { error } = await expectJson<Failure>(
      403,
      as.post("/realtime/client_secrets", { session: { type: "realtime", model: "played/live" } }),
    )
    expect(error.metadata).toMatchObject({ reason: "guardrail_unchecked" })
  })
})
