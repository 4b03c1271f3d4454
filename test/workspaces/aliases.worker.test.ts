import { runDurableObjectAlarm } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { expectJson, newKey, newWorkspace, readStream, type TestClient, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: { reason?: string } } }
type Answer = { id: string; model: string; openrouter_metadata?: Record<string, unknown> }

const path = ({ workspaceId }: Workspace, name: string) =>
  `/workspaces/${workspaceId}/aliases/${encodeURIComponent(name)}`
const set = (workspace: Workspace, name: string, ...arms: Record<string, unknown>[]) =>
  expectJson(200, workspace.manage.put(path(workspace, name), { arms, allow_unknown: true }))
const send = (as: TestClient, model: string, more = {}) => as.chat(model, "Hello there.", { max_tokens: 20, ...more })

describe("aliases of a workspace", () => {
  test("are set, read, listed, replaced and removed", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/fast", { model: "sim/echo" }, { model: "sim/long", weight: 3, regions: ["europe"] })
    const shown = await expectJson(200, workspace.manage.get(path(workspace, "team/fast")))
    expect(shown).toEqual({
      data: {
        name: "team/fast",
        workspace_id: workspace.workspaceId,
        description: null,
        arms: [
          { model: "sim/echo", weight: 1 },
          { model: "sim/long", weight: 3, regions: ["europe"] },
        ],
      },
    })
    await set(workspace, "team/fast", { model: "sim/paced" })
    await set(workspace, "slow", { model: "sim/slow" })
    const { data } = await expectJson<{ data: { name: string; arms: unknown[] }[] }>(
      200,
      workspace.manage.get(`/workspaces/${workspace.workspaceId}/aliases`),
    )
    expect(data.map(({ name }) => name)).toEqual(["slow", "team/fast"])
    expect(data[1]?.arms).toEqual([{ model: "sim/paced", weight: 1 }])
    for (let turn = 0; turn < 2; turn++) {
      expect(await expectJson(200, workspace.manage.delete(path(workspace, "slow")))).toEqual({ deleted: true })
    }
    await expectJson(404, workspace.manage.get(path(workspace, "slow")))
    // The settings of the workspace are unchanged.
    const settings = await expectJson<{ data: object }>(
      200,
      workspace.manage.get(`/workspaces/${workspace.workspaceId}`),
    )
    expect(settings.data).not.toHaveProperty("aliases")
  })

  test.each([
    ["no arms", "a", { arms: [] }, "arms"],
    ["a weight of 0", "a", { arms: [{ model: "sim/echo", weight: 0 }] }, "weight"],
    ["an unknown field", "a", { arms: [{ model: "sim/echo" }], extra: 1 }, "extra"],
    [
      "an impossible range of prompt lengths",
      "a",
      { arms: [{ model: "sim/echo", min_prompt_tokens: 9, max_prompt_tokens: 3 }] },
      "arms[0].max_prompt_tokens: must be at least min_prompt_tokens",
    ],
    ["a name with a space", "a b", { arms: [{ model: "sim/echo" }] }, "name"],
    ["a name with two slashes", "a/b/c", { arms: [{ model: "sim/echo" }] }, "name"],
  ])("with %s are rejected", async (_, name, body, field) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.manage.put(path(workspace, name), body))
    expect(error.message).toContain(field)
  })

  test("are listed among the models of a key if its guardrails and the arms allow a model", async () => {
    const workspace = await newWorkspace()
    const [one, other] = await Promise.all([newKey(workspace), newKey(workspace)])
    await set(workspace, "team/fast", { model: "sim/long" }, { model: "sim/echo:nitro", weight: 3 })
    await set(workspace, "private", { model: "sim/echo", key_hashes: [one.hash] })
    await set(workspace, "sim/slow", { model: "sim/echo" })
    await set(workspace, "broken", { model: "nobody/nothing" })
    type Listed = { id: string; canonical_slug: string; owned_by: string; description: string }
    const listed = async (as: TestClient) => {
      const { data } = await expectJson<{ data: Listed[] }>(200, as.get("/models/user"))
      return new Map(data.map((model) => [model.id, model]))
    }
    const found = await listed(one.as)
    expect(found.get("team/fast")).toMatchObject({
      canonical_slug: "sim/echo",
      owned_by: "sim",
      description: "Alias of sim/long, sim/echo:nitro.",
    })
    expect(found.get("private")).toMatchObject({ canonical_slug: "sim/echo" })
    expect(found.get("sim/slow")).toMatchObject({ canonical_slug: "sim/echo" })
    expect(found.has("broken")).toBe(false)
    expect((await listed(other.as)).has("private")).toBe(false)

    const rules = { name: "aliases only", allowed_models: ["team/fast"] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
    const assigned = { key_hashes: [other.hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, assigned))
    await eventually(async () => expect([...(await listed(other.as)).keys()]).toEqual(["team/fast"]))
  })

  test("are limited to fifty", async () => {
    const workspace = await newWorkspace()
    for (let at = 0; at < 50; at++) await set(workspace, `a${at}`, { model: "sim/echo" })
    const { error } = await expectJson<Failure>(
      400,
      workspace.manage.put(path(workspace, "one-more"), { arms: [{ model: "sim/echo" }] }),
    )
    expect(error.message).toContain("at most 50 aliases")
    await set(workspace, "a7", { model: "sim/long" })
  })

  test("reject conditions on keys of another organization", async () => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    const { hash } = await newKey(other)
    const body = { arms: [{ model: "sim/echo", key_hashes: [hash] }] }
    const { error } = await expectJson<Failure>(404, workspace.manage.put(path(workspace, "a"), body))
    expect(error.message).toBe(`key_hashes: there is no key ${hash}.`)
  })

  test("return 403 for an inference key", async () => {
    const workspace = await newWorkspace()
    await expectJson(403, workspace.as.put(path(workspace, "a"), { arms: [{ model: "sim/echo" }] }))
  })
})

describe("a call to an alias", () => {
  test("is served by one of its arms in every API format, and recorded with both names", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/fast", { model: "sim/echo" })
    const { as } = await newKey(workspace)
    const headers = { "x-openrouter-metadata": "enabled" }
    const answer = await expectJson<Answer>(200, as.chat("team/fast", "Hello.", { max_tokens: 20 }, headers))
    expect(answer.model).toBe("sim/echo")
    expect(answer.openrouter_metadata).toMatchObject({ requested: "team/fast", strategy: "alias" })
    expect((await readStream(send(as, "team/fast", { stream: true }))).chunks[0]?.model).toBe("sim/echo")
    const input = { model: "team/fast", input: "Hello." }
    expect(await expectJson(200, as.post("/responses", input))).toMatchObject({ model: "sim/echo" })
    const messages = [{ role: "user", content: "Hello." }]
    const pending = as.post("/messages", { model: "Team/FAST", max_tokens: 20, messages })
    expect(await expectJson(200, pending)).toMatchObject({ model: "sim/echo" })
    const recorded = () =>
      eventually(async () => {
        await runDurableObjectAlarm(workspace.object)
        const { data } = await expectJson<{ data: unknown[] }>(200, workspace.manage.get("/calls"))
        expect(data).toHaveLength(4)
        return data
      })
    for (const call of await recorded()) expect(call).toMatchObject({ requested_model: "team/fast", model: "sim/echo" })
  })

  test("for embeddings uses an embedding model", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/vectors", { model: "sim/embed" })
    const { as } = await newKey(workspace)
    const answer = await expectJson(200, as.post("/embeddings", { model: "team/vectors", input: "Hello." }))
    expect(answer).toMatchObject({ model: "sim/embed" })
  })

  test("can override a model of the catalogue, and its arm names the model itself", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "sim/long", { model: "sim/echo" })
    await set(workspace, "sim/echo", { model: "sim/echo" })
    const { as } = await newKey(workspace)
    expect(await expectJson(200, send(as, "sim/long"))).toMatchObject({ model: "sim/echo" })
    expect(await expectJson(200, send(as, "Sim/LONG"))).toMatchObject({ model: "sim/echo" })
    expect(await expectJson(200, send(as, "sim/echo"))).toMatchObject({ model: "sim/echo" })
  })

  test("uses both arms with an empty session id, as without one", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/both", { model: "sim/echo" }, { model: "sim/json" })
    const { as } = await newKey(workspace)
    for (const more of [{ session_id: "" }, {}]) {
      const all = new Set<string>()
      for (let at = 0; at < 60 && all.size < 2; at++) {
        const answer = as.chat("team/both", "Hello.", { max_tokens: 20, ...more }, { "x-session-id": "" })
        all.add((await expectJson<Answer>(200, answer)).model)
      }
      expect(all.size).toBe(2)
    }
  })

  test("with a session id keeps its arm; without one, both arms are used", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/both", { model: "sim/echo" }, { model: "sim/echo:free" })
    const { as } = await newKey(workspace)
    const models = new Set<string>()
    for (let turn = 0; turn < 12; turn++) {
      models.add((await expectJson<Answer>(200, send(as, "team/both", { session_id: "one" }))).model)
    }
    expect(models.size).toBe(1)
    const all = new Set<string>()
    for (let at = 0; at < 60 && all.size < 2; at++)
      all.add((await expectJson<Answer>(200, send(as, "team/both"))).model)
    expect(all).toEqual(new Set(["sim/echo", "sim/echo:free"]))
  })

  test("applies the preset of its arm", async () => {
    const workspace = await newWorkspace()
    const preset = { model: "sim/echo", max_tokens: 3 }
    await expectJson(200, workspace.manage.post("/presets/short/chat/completions", preset))
    await set(workspace, "team/short", { model: "@preset/short" })
    const { as } = await newKey(workspace)
    const answer = await expectJson<{ usage: { completion_tokens: number } }>(
      200,
      as.chat("team/short", "one two three four five six seven eight"),
    )
    expect(answer.usage.completion_tokens).toBeLessThanOrEqual(3)
  })

  test("may have the variants and the preset that a model may have", async () => {
    const workspace = await newWorkspace()
    const preset = { model: "sim/paced", max_tokens: 3 }
    await expectJson(200, workspace.manage.post("/presets/short/chat/completions", preset))
    await expectJson(200, workspace.manage.post("/presets/other/chat/completions", { model: "sim/paced" }))
    await set(workspace, "team/fast", { model: "sim/echo" })
    await set(workspace, "team/short", { model: "@preset/short" })
    await set(workspace, "team/echo-short", { model: "sim/echo@preset/short" })
    const { as } = await newKey(workspace)
    const modelOf = async (name: string) => (await expectJson<Answer>(200, send(as, name))).model
    expect(await modelOf("team/fast:nitro")).toBe("sim/echo")
    expect(await modelOf("team/fast:thinking:floor")).toBe("sim/echo")
    expect(await modelOf("team/fast:free")).toBe("sim/echo:free")
    expect(await modelOf("team/echo-short:nitro")).toBe("sim/echo")
    expect(await modelOf("team/short@preset/short")).toBe("sim/paced")
    type Used = { usage: { completion_tokens: number } }
    const long = as.chat("team/fast:nitro@preset/short", "one two three four five six seven eight")
    expect((await expectJson<Used>(200, long)).usage.completion_tokens).toBeLessThanOrEqual(3)

    await expectJson(404, send(as, "team/fast:unknown"))
    const variant = await expectJson<Failure>(400, send(as, "team/short:nitro"))
    expect(variant.error.message).toContain("team/short selects a preset")
    const presets = await expectJson<Failure>(400, send(as, "team/short@preset/other"))
    expect(presets.error.message).toContain("name one preset")
  })

  test("works through the default model of the workspace and through presets", async () => {
    const workspace = await newWorkspace()
    const { manage } = workspace
    const messages = [{ role: "user", content: "Hello there." }]
    await set(workspace, "team/fast", { model: "@preset/short" })
    await set(workspace, "team/other", { model: "sim/paced" })
    await expectJson(200, manage.post("/presets/short/chat/completions", { model: "sim/echo", max_tokens: 3 }))
    await expectJson(200, manage.post("/presets/other/chat/completions", { model: "team/other", max_tokens: 3 }))
    await expectJson(200, manage.patch("/workspaces/default", { default_text_model: "team/fast" }))
    const { as } = await newKey(workspace)
    const modelOf = async (body: Record<string, unknown>) => {
      const response = await as.post("/chat/completions", { messages, ...body }, { "x-service-metadata": "enabled" })
      type Routed = Answer & { service_metadata: { requested: string; strategy: string } }
      const { model, service_metadata: routing } = await expectJson<Routed>(200, response)
      return [model, routing.requested, routing.strategy]
    }
    expect(await modelOf({})).toEqual(["sim/echo", "team/fast", "alias"])
    expect(await modelOf({ preset: "other" })).toEqual(["sim/paced", "team/other", "alias"])
    expect(await modelOf({ model: "@preset/other" })).toEqual(["sim/paced", "team/other", "alias"])
    expect((await modelOf({ model: "sim/json", preset: "other" }))[0]).toBe("sim/json")
  })

  test("without a matching arm returns 404 with the reason", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/eu", { model: "sim/echo", regions: ["europe"] })
    const { as } = await newKey(workspace)
    const { error } = await expectJson<Failure>(404, send(as, "team/eu"))
    expect(error.message).toContain("No arm of the alias team/eu matches this request")
  })

  test("is allowed by guardrails that allow the alias, and rejected by those that exclude either name", async () => {
    const workspace = await newWorkspace()
    await set(workspace, "team/fast", { model: "sim/echo" })
    const under = async (rules: object) => {
      const { as, hash } = await newKey(workspace)
      const made = workspace.manage.post("/guardrails", { name: "Models", ...rules })
      const { data } = await expectJson<{ data: { id: string } }>(201, made)
      await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
      return as
    }
    const allowed = await under({ allowed_models: ["team/*"] })
    await expectJson(200, send(allowed, "team/fast"))
    await expectJson(403, send(allowed, "sim/echo"))
    await expectJson(403, send(await under({ allowed_models: ["other/*"], allow_unknown: true }), "team/fast"))
    await expectJson(403, send(await under({ ignored_models: ["team/fast"] }), "team/fast"))
    await expectJson(403, send(await under({ ignored_models: ["team/fast"] }), "team/fast:nitro"))
    await expectJson(200, send(allowed, "team/fast:nitro"))
    await expectJson(403, send(await under({ ignored_models: ["sim/echo"] }), "team/fast"))
    // Allowing the alias does not allow other models of the request.
    await set(workspace, "other/slow", { model: "sim/long" })
    const messages = [{ role: "user", content: "Hi" }]
    for (const models of [
      ["sim/long", "team/fast"],
      ["team/none", "sim/long", "team/fast"],
      ["other/slow", "team/fast"],
    ]) {
      const answer = await expectJson<{ model?: string }>(403, allowed.post("/chat/completions", { models, messages }))
      expect(answer.model).toBeUndefined()
    }
    await set(workspace, "team/both", { model: "sim/long" })
    await expectJson(200, allowed.post("/chat/completions", { models: ["team/both", "team/fast"], messages }))
    const ignoring = await under({ ignored_models: ["team/both"] })
    await expectJson(403, ignoring.post("/chat/completions", { models: ["team/fast", "team/both"], messages }))
  })

  test("of another workspace returns 404", async () => {
    const [one, other] = [await newWorkspace(), await newWorkspace()]
    await set(one, "team/fast", { model: "sim/echo" })
    await expectJson(404, send((await newKey(other)).as, "team/fast"))
  })
})
