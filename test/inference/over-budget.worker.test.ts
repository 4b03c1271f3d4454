import { runDurableObjectAlarm } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { expectJson, newKey, newWorkspace, readStream, type TestClient } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: { reason?: string } } }
type Answer = { id: string; model: string; openrouter_metadata?: { requested: string; pipeline: unknown[] } }

const CHEAPER = { over_budget_models: ["sim/echo:free"] }
const call = (as: TestClient, more = {}, headers?: Record<string, string>) =>
  as.chat("sim/echo", "Hello there.", { max_tokens: 20, ...more }, headers)

describe("over_budget_models", () => {
  test("of a key serve the call when its limit rejects the requested model, and the metadata names them", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0, ...CHEAPER })
    const answer = await expectJson<Answer>(200, call(as, {}, { "x-openrouter-metadata": "enabled" }))
    expect(answer.model).toBe("sim/echo:free")
    expect(answer.openrouter_metadata).toMatchObject({
      requested: "sim/echo",
      pipeline: [{ type: "plugin", name: "over-budget", data: { reason: "key_limit", models: ["sim/echo:free"] } }],
    })
    const streamed = await readStream(call(as, { stream: true }))
    expect(streamed.chunks[0]?.model).toBe("sim/echo:free")
    const native = await as.post("/messages", {
      model: "sim/echo",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello." }],
    })
    expect(await expectJson(200, native)).toMatchObject({ model: "sim/echo:free" })
  })

  test("are not used while the limit has room", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 1, ...CHEAPER })
    expect(await expectJson(200, call(as))).toMatchObject({ model: "sim/echo" })
  })

  test.each([
    [
      "its budget",
      async (workspace: Awaited<ReturnType<typeof newWorkspace>>) => {
        const path = `/workspaces/${workspace.workspaceId}/budgets/daily`
        await expectJson(200, workspace.manage.put(path, { limit_usd: 0.000_000_001 }))
      },
    ],
    [
      "the balance",
      async (workspace: Awaited<ReturnType<typeof newWorkspace>>) => {
        await expectJson(200, workspace.manage.get(`/workspaces/${workspace.workspaceId}`))
      },
    ],
  ] as const)("of a workspace serve the call when %s rejects it", async (_, setUp) => {
    const workspace = await newWorkspace(0.000_001)
    await setUp(workspace)
    const { as } = await newKey(workspace)
    const before = await call(as)
    expect([402, 403]).toContain(before.status)
    await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, CHEAPER))
    expect(await expectJson(200, call((await newKey(workspace)).as))).toMatchObject({ model: "sim/echo:free" })
  })

  test("keep the original 402 when none of them is usable", async () => {
    const workspace = await newWorkspace()
    for (const models of [["sim/long"], ["no/such-model"], []]) {
      const { as } = await newKey(workspace, { limit: 0, over_budget_models: models, allow_unknown: true })
      const { error } = await expectJson<Failure>(402, call(as))
      expect(error.metadata?.reason).toBe("key_limit")
    }
  })

  test("do not serve a model that guardrails forbid", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { limit: 0, ...CHEAPER })
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "No free ones", ignored_models: ["sim/echo:free", "sim/echo"] }),
    )
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    await expectJson(403, call(as))
    const other = await expectJson<Failure>(402, as.chat("sim/long", "Hello."))
    expect(other.error.metadata?.reason).toBe("key_limit")
  })

  test("are checked by model name where a guardrail allows only an alias", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { limit: 0, ...CHEAPER })
    const arms = { arms: [{ model: "sim/echo" }] }
    await expectJson(200, workspace.manage.put(`/workspaces/${workspace.workspaceId}/aliases/team%2Ffast`, arms))
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "aliases", allowed_models: ["team/fast"] }),
    )
    await workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] })
    const { error } = await expectJson<Failure>(402, as.chat("team/fast", "Hello."))
    expect(error.metadata?.reason).toBe("key_limit")
  })

  test("keep the requested model in the call record", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0, ...CHEAPER })
    const { id } = await expectJson<Answer>(200, call(as))
    expect(await expectJson(200, as.get(`/generation?id=${id}`))).toMatchObject({
      data: { model: "sim/echo:free", total_cost: 0 },
    })
    await runDurableObjectAlarm(workspace.object)
    expect(await expectJson(200, workspace.manage.get("/calls?limit=1"))).toMatchObject({
      data: [{ requested_model: "sim/echo", model: "sim/echo:free" }],
    })
  })
})
