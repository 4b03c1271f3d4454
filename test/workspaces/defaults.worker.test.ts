import { afterEach, describe, expect, test } from "vitest"
import { type UpstreamRequest, mockProvider } from "../support/mock-provider.ts"
import { newWorkspace, operatorClient, expectJson, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: { reason?: string } } }
const set = ({ manage }: Workspace, change: Record<string, unknown>) =>
  expectJson(200, manage.patch("/workspaces/default", change))

let stop = () => {}
afterEach(() => stop())

describe("the default model of a workspace", () => {
  const requests: [string, Record<string, unknown>][] = [
    ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
    ["/responses", { input: "Hi" }],
    ["/messages", { max_tokens: 20, messages: [{ role: "user", content: "Hi" }] }],
  ]
  test.each(requests)("serves %s only without a model", async (path, body) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.as.post(path, body))
    expect(error.message).toBe("model: is required: author/slug, as GET /models lists.")
    await set(workspace, { default_text_model: "sim/echo" })
    const answer = await expectJson<{ model: string }>(200, workspace.as.post(path, body))
    expect(answer.model).toMatch(/^(sim\/)?echo$/)
    const named = await expectJson<{ model: string }>(200, workspace.as.post(path, { ...body, model: "sim/reasoning" }))
    expect(named.model).toMatch(/^(sim\/)?reasoning$/)
    await set(workspace, { default_text_model: null })
    await expectJson(400, workspace.as.post(path, body))
  })

  test("must be a known model, an alias, a preset or the auto router, and is stored in the catalogue's spelling", async () => {
    const workspace = await newWorkspace()
    const { manage } = workspace
    type Defaults = { data: { default_text_model: string; default_image_model: string } }
    await expectJson(200, manage.put("/workspaces/default/aliases/team%2Ffast", { arms: [{ model: "sim/echo" }] }))
    for (const [given, kept] of [
      ["SIM/Echo", "sim/echo"],
      ["sim/echo:nitro", "sim/echo:nitro"],
      ["team/fast", "team/fast"],
      ["@preset/later", "@preset/later"],
      ["openrouter/auto", "openrouter/auto"],
    ]) {
      const change = { default_text_model: given, default_image_model: null }
      const { data } = await expectJson<Defaults>(200, manage.patch("/workspaces/default", change))
      expect(data.default_text_model).toBe(kept)
    }
    for (const field of ["default_text_model", "default_image_model"]) {
      const unknown = { [field]: "sim/ecko" }
      const { error } = await expectJson<Failure>(400, manage.patch("/workspaces/default", unknown))
      expect(error.message).toContain(`${field}: there is no model sim/ecko here. Did you mean sim/echo`)
      const created = { name: "Other", slug: "other", ...unknown }
      await expectJson(400, manage.post("/workspaces", created))
      await expectJson(200, manage.patch("/workspaces/default", { ...unknown, allow_unknown: true }))
    }
  })

  test("for images is separate", async () => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.as.post("/images", { prompt: "A hill" }))
    expect(error.message).toContain("model: is required")
    await set(workspace, { default_image_model: "sim/image" })
    await expectJson(200, workspace.as.post("/images", { prompt: "A hill" }))
  })
})

describe("a disabled server tool", () => {
  const chat = (workspace: Workspace, more: Record<string, unknown>) => workspace.as.chat("sim/echo", "Hi", more)

  test.each([
    ["under the client's prefix", { tools: [{ type: "openrouter:web_search" }] }],
    ["under the service's prefix", { tools: [{ type: "service:web_search" }] }],
    ["by its shorthand", { tools: [{ type: "web_search_preview" }] }],
    ["with a date suffix", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
    ["as an unsupported tool", { tools: [{ type: "openrouter:bash" }] }],
  ])("is rejected %s", async (_, more) => {
    const workspace = await newWorkspace()
    await set(workspace, { disabled_server_tools: ["openrouter:web_search", "service:bash"] })
    const { error } = await expectJson<Failure>(403, chat(workspace, more))
    expect(error.metadata).toEqual({ reason: "server_tool_disabled" })
  })

  test("is rejected as a plugin, and other tools still work", async () => {
    const workspace = await newWorkspace()
    const fetches = { plugins: [{ id: "web-fetch" }] }
    await expectJson(200, chat(workspace, fetches))
    await set(workspace, { disabled_server_tools: ["openrouter:web_fetch"] })
    await expectJson(403, chat(workspace, fetches))
    await expectJson(200, chat(workspace, { tools: [{ type: "openrouter:datetime" }] }))
    await expectJson(200, chat(workspace, { tools: [{ type: "function", function: { name: "web_fetch" } }] }))
    await set(workspace, { disabled_server_tools: [] })
    await expectJson(200, chat(workspace, fetches))
  })
})

describe("the default sort of a workspace", () => {
  const answer = ({ body }: UpstreamRequest) =>
    Response.json({
      id: "up",
      object: "chat.completion",
      created: 1,
      model: body["model"],
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    })

  test("applies to requests without a sort", async () => {
    const id = "acme/sorted"
    const endpoints = ["0.0000011", "0.000001"].map((prompt, at) => ({
      provider: `replica-${"ab"[at]}`,
      upstream_id: "m0",
      pricing: { prompt, completion: prompt },
    }))
    await expectJson(200, operatorClient.put("/catalogue", { models: [{ id, name: id, endpoints }] }))
    const workspace = await newWorkspace()
    await set(workspace, { default_provider_sort: "price" })
    const mock = mockProvider(answer)
    stop = mock.stop
    // Without the sort, all requests would go to the cheaper one once in ten million runs.
    for (let turn = 0; turn < 20; turn++) await expectJson(200, workspace.as.chat(id, "Hi"))
    expect(new Set(mock.upstreamCalls.map(({ url }) => new URL(url).hostname))).toEqual(new Set(["replica-b.test"]))
    await expectJson(200, workspace.as.chat(id, "Hi", { provider: { order: ["replica-a"] } }))
    expect(mock.upstreamCalls.at(-1)?.url).toContain("replica-a.test")
  })
})
