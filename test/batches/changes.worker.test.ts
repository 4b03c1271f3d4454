import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { hashKey } from "../../src/access/key.ts"
import { invalidateKey } from "../../src/access/key-cache.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import { BatchingProvider, completion } from "./batching-provider.ts"
import { type Batch, createBatch, endsAfter, readLines, upload } from "./batches.ts"

afterEach(() => vi.restoreAllMocks())

/** 100 prompt and 10 completion tokens, at half of 1e-6 and 2e-6. */
const NANO = 60_000

const alias = (arms: object[]) => (workspace: Workspace) =>
  expectJson(200, workspace.manage.put("/workspaces/default/aliases/team%2Ffast", { arms }))
const preset = (body: object) => (workspace: Workspace) =>
  expectJson(200, workspace.manage.post("/presets/swift/chat/completions", body))
const setPreset = (change: object) => (workspace: Workspace) =>
  expectJson(200, workspace.manage.patch("/presets/swift", change))
const restrict =
  (rules: object) =>
  async ({ manage }: Workspace) => {
    type Found = { data: { default_guardrail_id: string } }
    const { data } = await expectJson<Found>(200, manage.get("/workspaces/default"))
    await expectJson(200, manage.patch(`/guardrails/${data.default_guardrail_id}`, rules))
  }

type Change = (workspace: Workspace, batch: Batch) => Promise<unknown>

/** What may change while the provider has the requests. */
const CHANGES: Readonly<Record<string, Change>> = {
  "the alias names a model of another provider": alias([{ model: "sim/echo" }]),
  "the alias names another model of the provider": alias([{ model: "batching/b2" }]),
  "the alias names a preset": alias([{ model: "@preset/nowhere" }]),
  "the alias matches no request": alias([{ model: "batching/b1", min_prompt_tokens: 1_000_000 }]),
  "the alias is deleted": ({ manage }) => expectJson(200, manage.delete("/workspaces/default/aliases/team%2Ffast")),
  "the model's name becomes an alias": ({ manage }) =>
    expectJson(200, manage.put("/workspaces/default/aliases/batching%2Fb1", { arms: [{ model: "sim/echo" }] })),
  "the preset is disabled": setPreset({ status: "disabled" }),
  "the preset names another model": preset({ model: "batching/b2" }),
  "the preset has a plugin": preset({ model: "batching/b1", plugins: [{ id: "web" }] }),
  "the preset is archived": setPreset({ status: "archived" }),
  "a guardrail forbids the model": restrict({ allowed_models: ["sim/echo"] }),
  "a guardrail forbids the provider": restrict({ ignored_providers: ["batching"] }),
  "the provider's budget is exhausted": ({ manage }) =>
    expectJson(200, manage.put("/provider-budgets/batching/daily", { limit_usd: 0.000_001 })),
  "the workspace's budget is exhausted": ({ manage }) =>
    expectJson(200, manage.put("/workspaces/default/budgets/daily", { limit_usd: 0.000_001 })),
  "the key is disabled": ({ manage, key }) => manage.patch(`/keys/${hashKey(key)}`, { disabled: true }),
  "the key is deleted": ({ manage, key }) => manage.delete(`/keys/${hashKey(key)}`),
  "the key has expired": async ({ key }) => {
    await env.DB.prepare("UPDATE api_keys SET expires_at = 1 WHERE hash = ?").bind(hashKey(key)).run()
    invalidateKey(hashKey(key))
  },
  "a rate limit is set": ({ manage }) =>
    expectJson(200, manage.patch("/workspaces/default", { requests_per_minute: 1, tokens_per_minute: 1 })),
  "the input file is deleted": ({ manage }, { input_file_id: id }) => expectJson(200, manage.delete(`/files/${id}`)),
}

/** A batch of one request for each model name, whose results arrive after the changes. */
async function batchWith(workspace: Workspace, names: readonly string[], changes: readonly Change[]): Promise<Batch> {
  const provider = new BatchingProvider()
  await alias([{ model: "batching/b1" }])(workspace)
  await preset({ model: "batching/b1", system_prompt: "Be brief." })(workspace)
  const lines = names.map((model, at) => ({
    custom_id: `r${at}`,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model, max_tokens: 50, messages: [{ role: "user", content: "Hi" }] },
  }))
  const created = await createBatch(workspace.as, lines, { provider: "batching" })
  await eventually(() => expect(provider.batches).toHaveLength(1))
  expect(provider.submitted().map(({ body }) => body["model"])).toEqual(names.map(() => "b1"))
  for (const change of changes) await change(workspace, created)
  provider.end(
    "completed",
    names.map((_, at) => completion(String(at + 1), `Answer ${at}`)),
  )
  return endsAfter(workspace.manage, created, ["wake"])
}

const NAMES = ["batching/b1", "team/fast", "@preset/swift"]

async function expectAllResults(workspace: Workspace, batch: Batch): Promise<void> {
  expect(batch.request_counts).toEqual({ total: NAMES.length, completed: NAMES.length, failed: 0 })
  const output = await readLines(workspace.manage, batch.output_file_id)
  expect(output.map(({ response }) => response?.body["model"])).toEqual(NAMES.map(() => "batching/b1"))
  expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NAMES.length * NANO, heldNano: 0 })
}

describe("results of a provider's batch are read and charged for the model that ran", () => {
  test.each(Object.entries(CHANGES))("if %s", async (_, change) => {
    const workspace = await newWorkspace()
    await expectAllResults(workspace, await batchWith(workspace, NAMES, [change]))
  })

  test("and each call keeps the requested name and the preset of its submission", async () => {
    const workspace = await newWorkspace()
    const { data: before } = await expectJson<{ data: { id: string } }>(
      200,
      preset({ model: "batching/b1" })(workspace).then(() => workspace.as.get("/presets/swift")),
    )
    const batch = await batchWith(workspace, NAMES, Object.values(CHANGES).slice(0, 7))
    type Calls = { data: { model: string; requested_model: string; preset_id?: string | null }[] }
    await eventually(async () => {
      const { data } = await expectJson<Calls>(200, workspace.as.get(`/calls?session_id=${batch.id}`))
      expect(data.map(({ model }) => model)).toEqual(NAMES.map(() => "batching/b1"))
      const names = data.map(({ requested_model: name }) => name).toSorted()
      expect(names).toEqual(["batching/b1", "batching/b1", "team/fast"])
    })
    const { results } = await env.DB.prepare(
      "SELECT record ->> 'presetId' AS preset FROM generations WHERE record ->> 'sessionId' = ?",
    )
      .bind(batch.id)
      .all<{ preset: string | null }>()
    expect(results.map((row) => row.preset).filter((id) => id !== null)).toEqual([before.id])
  })

  test("a request that an earlier release submitted is read with the current settings", async () => {
    const workspace = await newWorkspace()
    const forget: Change = async (_, { id }) => {
      await runInDurableObject(env.BATCH.get(env.BATCH.idFromName(id)), (_object, { storage }) => {
        storage.sql.exec("UPDATE requests SET target = NULL")
      })
    }
    await expectAllResults(workspace, await batchWith(workspace, NAMES, [forget]))
  })

  test("for any combination of changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(Object.values(CHANGES), { minLength: 2 }), async (some) => {
        vi.restoreAllMocks()
        const workspace = await newWorkspace()
        await expectAllResults(workspace, await batchWith(workspace, NAMES, some))
      }),
      { numRuns: runs(0.1) },
    )
  })
})

describe("a response of a native API", () => {
  const endpoint = "/v1/responses"
  const body = { model: "batching/b4", max_output_tokens: 50, input: "Hi" }
  const line = { custom_id: "a", method: "POST", url: endpoint, body }
  const filter = restrict({ content_filters: [{ pattern: "forbidden", action: "block" }] })

  test("is read in the format of its request, if the guardrail that reads responses was removed", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    await filter(workspace)
    const created = await createBatch(workspace.as, [line], { provider: "batching", endpoint })
    await eventually(() => expect(provider.batches).toHaveLength(1))
    expect(provider.submitted()).toMatchObject([{ url: "/v1/chat/completions" }])
    await restrict({ content_filters: null })(workspace)
    provider.end("completed", [completion("1", "Noted.")])
    const batch = await endsAfter(workspace.as, created, ["wake"])
    const [output] = await readLines(workspace.as, batch.output_file_id)
    expect(output?.response?.body).toMatchObject({ object: "response", output: [{ content: [{ text: "Noted." }] }] })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, heldNano: 0 })
  })

  test("is withheld if a guardrail that reads responses was added and cannot read it", async () => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const created = await createBatch(workspace.as, [line], { provider: "batching", endpoint })
    await eventually(() => expect(provider.batches).toHaveLength(1))
    expect(provider.submitted()).toMatchObject([{ url: endpoint }])
    await filter(workspace)
    provider.end("completed", [response("1")])
    const batch = await endsAfter(workspace.as, created, ["wake"])
    const [error] = await readLines(workspace.as, batch.error_file_id)
    expect(error).toMatchObject({ response: { status_code: 403 } })
    expect(JSON.stringify(error)).not.toContain("Noted.")
  })
})

describe("a stored file that a request names may be deleted once the request was submitted", () => {
  const FORMATS = {
    "/v1/chat/completions": (id: string) => ({
      max_tokens: 50,
      messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }],
    }),
    "/v1/messages": (id: string) => ({
      max_tokens: 50,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
    }),
    "/v1/responses": (id: string) => ({
      max_output_tokens: 50,
      input: [{ type: "message", role: "user", content: [{ type: "input_file", file_id: id }] }],
    }),
  }
  test.each(Object.entries(FORMATS))("%s", async (endpoint, bodyWith) => {
    const workspace = await newWorkspace()
    const provider = new BatchingProvider()
    const file = await upload(workspace.as, "The secret is 42.")
    const body = { model: "batching/b3", ...bodyWith(file) }
    const line = { custom_id: "a", method: "POST", url: endpoint, body }
    const created = await createBatch(workspace.as, [line], { provider: "batching", endpoint })
    await eventually(() => expect(provider.batches).toHaveLength(1))
    expect(JSON.stringify(provider.submitted())).toContain("The secret is 42.")
    await expectJson(200, workspace.as.delete(`/files/${file}`))
    const isNative = endpoint === "/v1/responses"
    provider.end("completed", [isNative ? response("1") : completion("1", "Noted.")])
    const batch = await endsAfter(workspace.as, created, ["wake"])
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: NANO, heldNano: 0 })
  })
})

function response(customId: string) {
  const content = [{ type: "output_text", text: "Noted.", annotations: [] }]
  const body = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "b3",
    output: [{ type: "message", id: "m1", role: "assistant", status: "completed", content }],
    usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
  }
  return { custom_id: customId, response: { status_code: 200, request_id: "r", body }, error: null }
}
