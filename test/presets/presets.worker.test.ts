import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import * as z from "zod"
import { DesignatedPreset, PresetList, PresetVersion, VersionList } from "../../src/presets/schemas.ts"
import { exportedRequestOf } from "../../src/inference/endpoints/chat/exported.ts"
import { type UpstreamRequest, mockProvider } from "../support/mock-provider.ts"
import { client, newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { policyEntry } from "../support/policy-writes.ts"

type Failure = { error: { code: number; message: string } }
type Json = Record<string, unknown>
const One = z.strictObject({ data: DesignatedPreset.extend({ designated_version: PresetVersion.strict() }).strict() })

/** A preset of this workspace, created on one of the three endpoints. */
async function put({ manage }: Pick<Workspace, "manage">, slug: string, body: Json, endpoint = "chat/completions") {
  return One.parse(await expectJson<unknown>(200, manage.post(`/presets/${slug}/${endpoint}`, body))).data
}

test.each(["chat/completions", "responses", "messages"])(
  "a request without a body to %s is invalid",
  async (endpoint) => {
    const workspace = await newWorkspace()
    const path = `/presets/empty/${endpoint}`
    const { error } = await expectJson<Failure>(400, workspace.manage.call("POST", path))
    expect(error.message).toBe("body: is required. Send {} for an empty preset.")
    const declared = { "content-type": "application/json" }
    await expectJson(400, workspace.manage.call("POST", path, "", declared))
    await expectJson(404, workspace.manage.get("/presets/empty"))
    await expectJson(200, workspace.manage.call("POST", path, "{}", declared))
  },
)

let stop = () => {}
afterEach(() => {
  stop()
  vi.useRealTimers()
})

/** A provider that responds in the format of the request; returns the requests. */
function recordCalls(): UpstreamRequest[] {
  const mock = mockProvider(({ url, body }) => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (url.endsWith("/messages")) {
      const counted = { input_tokens: 1, output_tokens: 1 }
      const content = [{ type: "text", text: "ok" }]
      const reported = { id: "m", type: "message", role: "assistant", model: "m", stop_sequence: null }
      return Response.json({ ...reported, content, stop_reason: "end_turn", usage: counted })
    }
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }]
    return Response.json({ id: "up", object: "chat.completion", created: 1, model: body["model"], choices, usage })
  })
  stop = mock.stop
  return mock.upstreamCalls
}

describe("credentials of an MCP server in a preset", () => {
  const secrets = ["path-secret", "bearer-secret", "header-secret", "user-secret"]
  const server_url = "https://user-secret@mcp.test/path-secret?key=path-secret"
  const headers = { "x-key": "header-secret" }
  const tool = { type: "mcp", server_label: "docs", server_url, authorization: "bearer-secret", headers }
  const expectNoSecret = (text: string) => {
    for (const secret of secrets) expect(text).not.toContain(secret)
  }

  test("are read by management keys only", async () => {
    const workspace = await newWorkspace()
    const made = await put(workspace, "documented", { model: "batching/b1", tools: [tool] }, "responses")
    expect(made.designated_version?.config["tools"]).toEqual([tool])
    const { as } = await newKey(workspace)
    for (const path of ["", "/versions", "/versions/1"]) {
      const text = await (await as.get(`/presets/documented${path}`)).text()
      expect(text).toContain('"headers":{"x-key":"<redacted>"}')
      expect(text).toContain('"server_url":"https://mcp.test/<redacted>"')
      expectNoSecret(text)
      expect(await (await workspace.manage.get(`/presets/documented${path}`)).text()).toContain("bearer-secret")
    }
  })

  test("are sent to the provider, and not repeated in responses", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "documented", { model: "batching/b1", tools: [tool] }, "responses")
    const { as } = await newKey(workspace)
    const content = [{ type: "output_text", text: "Done.", annotations: [] }]
    const output = [{ type: "message", id: "m", role: "assistant", status: "completed", content }]
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const result = { id: "r", object: "response", created_at: 1, status: "completed", model: "b1", output, usage }
    const mock = mockProvider(() => Response.json({ ...result, tools: [tool] }))
    stop = mock.stop
    const request = { model: "@preset/documented", input: "Hi" }
    const response = await as.post("/responses", request)
    expect(response.status).toBe(200)
    expectNoSecret(await response.text())
    const debug = { echo_upstream_body: true }
    const messages = [{ role: "user", content: "Hi" }]
    for (const streamed of [
      as.post("/responses", { ...request, stream: true, debug }),
      as.post("/chat/completions", { model: request.model, messages, stream: true, debug }),
    ]) {
      expectNoSecret(await (await streamed).text())
    }
    expect(mock.upstreamCalls[0]?.body["tools"]).toEqual([tool])
  })

  test("are not sent to destinations", () => {
    const request = { model: "a/b", messages: [], tools: [tool], stream: false }
    expectNoSecret(JSON.stringify(exportedRequestOf(request)))
  })
})

describe("a preset", () => {
  test("is created from a chat request with the fields of a preset", async () => {
    const workspace = await newWorkspace()
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]
    const made = await put(workspace, "careful", {
      model: "sim/echo",
      temperature: 0.2,
      max_completion_tokens: 300,
      reasoning_effort: "high",
      tools,
      messages: "anything at all",
      stream: "yes",
      user: 7,
      session_id: null,
      prompt: { id: 1 },
    })
    expect(made).toMatchObject({
      slug: "careful",
      name: "careful",
      description: null,
      status: "active",
      status_updated_at: null,
      workspace_id: workspace.workspaceId,
      creator_user_id: expect.any(String),
      designated_version: { version: 1, system_prompt: null },
    })
    expect(made.designated_version_id).toBe(made.designated_version.id)
    expect(made.designated_version.preset_id).toBe(made.id)
    expect(made.designated_version.config).toEqual({
      model: "sim/echo",
      temperature: 0.2,
      max_tokens: 300,
      reasoning: { effort: "high" },
      tools,
    })
  })

  test("is created from a responses request with its instructions", async () => {
    const { designated_version: version } = await put(
      await newWorkspace(),
      "r",
      {
        model: "sim/echo",
        instructions: "Be brief.",
        max_output_tokens: 50,
        text: { format: { type: "json_schema", name: "n", schema: { type: "object" } } },
        tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
        tool_choice: { type: "function", name: "look" },
        // The published client sends these with every request.
        service_tier: "auto",
        store: false,
        stream: false,
        input: 7,
      },
      "responses",
    )
    expect(version).toMatchObject({ system_prompt: "Be brief." })
    expect(version.config).toEqual({
      model: "sim/echo",
      max_tokens: 50,
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "look" } },
    })
  })

  test("is created from a messages request with its system prompt", async () => {
    const { designated_version: version } = await put(
      await newWorkspace(),
      "m",
      {
        model: "sim/echo",
        system: [
          { type: "text", text: "Be kind." },
          { type: "text", text: "Be brief." },
        ],
        stop_sequences: ["END"],
        thinking: { type: "enabled", budget_tokens: 2_000 },
        tools: [{ name: "look", input_schema: { type: "object" } }],
        messages: null,
      },
      "messages",
    )
    expect(version.system_prompt).toBe("Be kind.\n\nBe brief.")
    expect(version.config).toEqual({
      model: "sim/echo",
      stop: ["END"],
      reasoning: { max_tokens: 2_000 },
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
    })
  })

  test("has versions, one of which is designated", async () => {
    const workspace = await newWorkspace()
    const { manage, as } = workspace
    const first = await put(workspace, "p", { model: "sim/echo", seed: 1 })
    const second = await put(workspace, "p", { model: "sim/echo", seed: 2 })
    expect(second.id).toBe(first.id)
    expect(second.designated_version).toMatchObject({ version: 2, config: { seed: 2 } })
    const list = VersionList.strict().parse(await expectJson<unknown>(200, as.get("/presets/p/versions")))
    expect(list).toEqual({ data: [first.designated_version, second.designated_version], total_count: 2 })
    expect(await expectJson(200, as.get("/presets/p/versions?limit=1&offset=1"))).toEqual({
      data: [second.designated_version],
      total_count: 2,
    })
    expect(await expectJson(200, as.get("/presets/p/versions/1"))).toEqual({ data: first.designated_version })
    await expectJson(404, as.get("/presets/p/versions/3"))
    await expectJson(400, as.get("/presets/p/versions/last"))
    const back = One.parse(await expectJson<unknown>(200, manage.patch("/presets/p", { designated_version: 1 }))).data
    expect(back.designated_version).toEqual(first.designated_version)
    expect(One.parse(await expectJson<unknown>(200, as.get("/presets/p"))).data).toEqual(back)
    const { error } = await expectJson<Failure>(400, manage.patch("/presets/p", { designated_version: 9 }))
    expect(error.message).toContain("designated_version")
  })

  test("gets distinct versions from concurrent requests", async () => {
    const workspace = await newWorkspace()
    const made = await Promise.all(Array.from({ length: 6 }, (_, seed) => put(workspace, "race", { seed })))
    expect(made.map(({ designated_version: { version } }) => version).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  })

  test("is listed with the others by latest update", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const workspace = await newWorkspace()
    for (const slug of ["a", "b", "a"]) {
      await put(workspace, slug, {})
      vi.setSystemTime(Date.now() + 10)
    }
    const list = PresetList.strict().parse(await expectJson<unknown>(200, workspace.as.get("/presets")))
    expect(list.data.map(({ slug }) => slug)).toEqual(["a", "b"])
    expect(list.total_count).toBe(2)
    const second = await expectJson<{ data: Json[] }>(200, workspace.as.get("/presets?limit=1&offset=1"))
    expect(second.data[0]).toMatchObject({ slug: "b" })
  })

  test("is accessible only in its workspace, and created only by management keys", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    await put(mine, "own", { model: "sim/echo" })
    for (const path of ["/presets/own", "/presets/own/versions", "/presets/own/versions/1"]) {
      await expectJson(404, theirs.manage.get(path))
      await expectJson(200, mine.as.get(path))
      await expectJson(401, client().get(path))
    }
    await expectJson(404, theirs.manage.patch("/presets/own", { name: "x" }))
    await expectJson(403, mine.as.post("/presets/own/responses", {}))
    await expectJson(403, mine.as.patch("/presets/own", { name: "x" }))
    const team = await expectJson<{ data: { id: string } }>(
      201,
      mine.manage.post("/workspaces", { name: "T", slug: "t" }),
    )
    const there = `?workspace_id=${team.data.id}`
    const { as } = await newKey(mine, { workspace_id: team.data.id })
    await expectJson(404, as.get("/presets/own"))
    await expectJson(200, mine.manage.post(`/presets/team/responses${there}`, { model: "sim/echo" }))
    await expectJson(200, as.get("/presets/team"))
    await expectJson(200, mine.manage.get(`/presets/team${there}`))
    await expectJson(404, mine.as.get(`/presets/team${there}`))
    await expectJson(404, theirs.manage.get(`/presets/team${there}`))
  })

  test.each([
    ["chat/completions", { temperature: 3 }, "temperature"],
    ["chat/completions", { reasoning_effort: "low", reasoning: { effort: "high" } }, "reasoning_effort"],
    ["chat/completions", { model: "@preset/other" }, "model"],
    ["responses", { tools: "all" }, "tools"],
    ["responses", { instructions: "x".repeat(200_001) }, "instructions"],
    ["messages", { system: 7 }, "system"],
  ])("is rejected at %s with %j", async (endpoint, body, field) => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<Failure>(400, manage.post(`/presets/p/${endpoint}`, body))
    expect(error.message).toContain(field)
    await expectJson(400, manage.post(`/presets/no%20slug/${endpoint}`, {}))
    await expectJson(404, manage.get("/presets/p"))
  })

  test("that is archived rejects a new version", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "old", {})
    const change = { status: "archived", description: "Was good." }
    const { data } = await expectJson<{ data: Json }>(200, workspace.manage.patch("/presets/old", change))
    expect(data).toMatchObject({ ...change, status_updated_at: expect.any(String) })
    const { error } = await expectJson<Failure>(409, workspace.manage.post("/presets/old/responses", {}))
    expect(error.message).toContain("archived")
    expect(
      (await expectJson<{ total_count: number }>(200, workspace.as.get("/presets/old/versions"))).total_count,
    ).toBe(1)
    await expectJson(200, workspace.manage.patch("/presets/old", { status: "active" }))
    await put(workspace, "old", {})
    type Entries = { data: { action: string; changes: Json }[] }
    const { data: entries } = await expectJson<Entries>(200, workspace.manage.get("/audit?resource_type=preset"))
    expect(entries.map(({ action }) => action)).toEqual([
      "preset.add_version",
      "preset.update",
      "preset.update",
      "preset.create",
    ])
  })
})

const MODEL = "played/m70"
const FORMATS: [string, string, Json][] = [
  ["/chat/completions", MODEL, { messages: [{ role: "user", content: "Hi" }] }],
  ["/responses", MODEL, { input: "Hi" }],
  ["/messages", MODEL, { max_tokens: 40, messages: [{ role: "user", content: "Hi" }] }],
  ["/messages", "acme/opus-1", { max_tokens: 40, messages: [{ role: "user", content: "Hi" }] }],
]

describe.each(FORMATS)("a call of %s to %s", (path, model, body) => {
  const config = { instructions: "Speak softly.", temperature: 0.3, top_p: 0.7 }
  const instructionsIn = ({ body }: UpstreamRequest) =>
    JSON.stringify(body["system"] ?? (body["messages"] as Json[])[0])

  test.each([
    ["the model", { model: "@preset/soft" }],
    ["a field", { preset: "soft" }],
    ["the preset field", { preset: "@preset/soft" }],
    ["a model with it", { model: `${model}@preset/soft` }],
    ["the preset field with a model", { model, preset: "soft" }],
    ["model and preset field", { model: "@preset/soft", preset: "soft" }],
  ])("applies the preset named by %s", async (_, named) => {
    const workspace = await newWorkspace()
    await put(workspace, "soft", { model, ...config }, "responses")
    const requests = recordCalls()
    await expectJson(200, workspace.as.post(path, { ...body, ...named, top_p: 0.9 }))
    expect(requests).toHaveLength(1)
    const [call] = requests
    expect(call?.body).toMatchObject({ temperature: 0.3, top_p: 0.9 })
    expect(JSON.stringify(call?.body)).not.toContain("preset")
    expect(call && instructionsIn(call)).toContain("Speak softly.")
  })

  test("keeps its instructions after those of the preset", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "soft", { model, ...config }, "responses")
    const scoped: Record<string, Json> = {
      "/chat/completions": {
        messages: [
          { role: "system", content: "Rhyme." },
          { role: "user", content: "Hi" },
        ],
      },
      "/responses": { instructions: "Rhyme." },
      "/messages": { system: "Rhyme." },
    }
    const requests = recordCalls()
    await expectJson(200, workspace.as.post(path, { ...body, ...scoped[path], preset: "soft" }))
    expect(JSON.stringify(requests[0]?.body)).toMatch(/Speak softly\..*Rhyme\./)
  })

  test("has the preset's tools and limits in the upstream format", async () => {
    const workspace = await newWorkspace()
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]
    await put(workspace, "tools", { model, tools, tool_choice: "required", max_tokens: 30, stop: "END" })
    const requests = recordCalls()
    await expectJson(200, workspace.as.post(path, { ...body, preset: "tools" }))
    const upstream = requests[0]?.body ?? {}
    expect(JSON.stringify(upstream["tools"])).toContain('"look"')
    expect(["required", "any"]).toContain(
      (upstream["tool_choice"] as { type?: string }).type ?? upstream["tool_choice"],
    )
    const limit = upstream["max_completion_tokens"] ?? upstream["max_tokens"]
    // A message always has its own limit.
    expect(limit).toBe(path === "/messages" ? 40 : 30)
  })

  test("is rejected with the reason for an unknown or inactive preset", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "p", { model })
    const refusal = async (status: number, named: Json) =>
      (await expectJson<Failure>(status, workspace.as.post(path, { ...body, ...named }))).error.message
    expect(await refusal(404, { preset: "none" })).toContain("no preset none")
    expect(await refusal(400, { model: "@preset/p", preset: "q" })).toContain("both q and p")
    await expectJson(200, workspace.manage.patch("/presets/p", { status: "disabled" }))
    expect(await refusal(400, { preset: "p" })).toContain("disabled")
    await expectJson(200, workspace.manage.patch("/presets/p", { status: "archived" }))
    expect(await refusal(404, { model: "@preset/p" })).toContain("archived")
    const other = await newWorkspace()
    expect(await expectJson<Failure>(404, other.as.post(path, { ...body, preset: "p" }))).toMatchObject({
      error: { message: expect.stringContaining("no preset p") },
    })
  })
})

describe("a preset in calls", () => {
  test("has a model, a model list or neither, and the call can override it", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "models", { models: ["sim/none", "sim/echo"], temperature: 1 })
    await put(workspace, "bare", { temperature: 1 })
    const call = (body: Json) =>
      workspace.as.post("/chat/completions", { messages: [{ role: "user", content: "Hi" }], ...body })
    await expectJson(200, call({ model: "@preset/models" }))
    await expectJson(200, call({ models: ["@preset/models"] }))
    await expectJson(404, call({ model: "sim/none@preset/models" }))
    expect((await expectJson<Failure>(400, call({ preset: "bare" }))).error.message).toContain("model: is required")
    await expectJson(200, workspace.manage.patch("/workspaces/default", { default_text_model: "sim/echo" }))
    await expectJson(200, call({ preset: "bare" }))
  })

  test("with a disabled server tool returns 403", async () => {
    const workspace = await newWorkspace()
    await put(workspace, "clock", { model: "sim/echo", tools: [{ type: "openrouter:datetime" }] })
    const call = () => workspace.as.chat("@preset/clock", "Hi")
    await expectJson(200, call())
    await expectJson(
      200,
      workspace.manage.patch("/workspaces/default", { disabled_server_tools: ["service:datetime"] }),
    )
    await expectJson(403, call())
  })

  test("is updated immediately in this isolate, and within seconds in others", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const workspace = await newWorkspace()
    const requests = recordCalls()
    const temperature = async () => {
      await expectJson(200, workspace.as.chat("@preset/p", "Hi"))
      return requests.at(-1)?.body["temperature"]
    }
    await expectJson(404, workspace.as.chat("@preset/p", "Hi"))
    const { id } = await put(workspace, "p", { model: MODEL, temperature: 0.1 })
    expect(await temperature()).toBe(0.1)
    await put(workspace, "p", { model: MODEL, temperature: 0.2 })
    expect(await temperature()).toBe(0.2)
    const disable = env.DB.prepare("UPDATE presets SET status = 'disabled' WHERE id = ?").bind(id)
    await env.DB.batch([disable, policyEntry(workspace.organizationId)])
    expect(await temperature()).toBe(0.2)
    vi.setSystemTime(Date.now() + 5_000)
    await expectJson(400, workspace.as.chat("@preset/p", "Hi"))
  })

  test("counts with its instructions in the hold", async () => {
    const workspace = await newWorkspace(0.005)
    await put(workspace, "long", { model: "sim/echo", instructions: "x".repeat(10_000) }, "responses")
    await expectJson(200, workspace.as.chat("sim/echo", "Hi", { max_tokens: 16 }))
    await expectJson(402, workspace.as.chat("@preset/long", "Hi", { max_tokens: 16 }))
  })
})
