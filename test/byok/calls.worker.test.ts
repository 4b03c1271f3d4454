import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env, exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { type UpstreamRequest, chunk, DONE, good, mockProvider, sse } from "../support/mock-provider.ts"
import {
  newKey,
  newMember,
  newWorkspace,
  openHolds,
  operatorClient,
  readStream,
  type Receipt,
  receiptOf,
  expectJson,
  type Workspace,
} from "../support/world.ts"
import { eventually } from "../support/eventually.ts"
import { useShortHeartbeats } from "../support/variable.ts"

afterEach(() => vi.restoreAllMocks())

/** Endpoint health outlives a test in its isolate: each test uses a new model. */
let at = 40
const newModel = () => `acme/chat-${at++}`

/** Of no known key format: only an exact match can redact it. */
const KEY = "ownCanary0123456789abcdefXYZ"
const GATEWAY = /-provider-key-0123456789$/

type Credential = { id: string }
async function scoped(workspace: Workspace, provider: string, more: Record<string, unknown> = {}): Promise<Credential> {
  const input = { provider, key: KEY, ...more }
  return (await expectJson<{ data: Credential }>(201, workspace.manage.post("/byok", input))).data
}

const keyOf = ({ headers }: UpstreamRequest) =>
  headers.get("authorization")?.replace("Bearer ", "") ?? headers.get("x-api-key")
const completed = (usage: unknown = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }) =>
  Response.json({
    id: "up",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage,
  })
/** Responds, but rejects those keys with this status. */
const refusing = (status: number, refused: (key: string, requests: UpstreamRequest) => boolean) =>
  mockProvider((requests) => {
    const key = keyOf(requests) ?? ""
    return refused(key, requests)
      ? Response.json({ error: { message: `Incorrect API key provided: ${key}` } }, { status })
      : completed()
  })
const errorOf = async (status: number, answer: Promise<Response>) =>
  (await expectJson<{ error: { message: string; metadata: Record<string, unknown> } }>(status, answer)).error

describe("a call with a BYOK credential", () => {
  useShortHeartbeats()

  test("is sent with that key, does not charge the balance, and is marked as BYOK everywhere", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-b")
    const { upstreamCalls: requests } = mockProvider(() => completed())
    const answer = await workspace.as.chat(newModel(), "Hi", {}, { "x-service-metadata": "enabled" })
    const body = await expectJson<Record<string, unknown>>(200, answer.clone())
    expect(requests.map((one) => [new URL(one.url).hostname, keyOf(one)])).toEqual([["replica-b.test", KEY]])
    expect(body).toMatchObject({
      usage: {
        cost: 0,
        is_byok: true,
        cost_details: {
          upstream_inference_cost: 0.00002,
          upstream_inference_prompt_cost: 0.00001,
          upstream_inference_completions_cost: 0.00001,
        },
      },
      service_metadata: { is_byok: true },
    })
    expect(await receiptOf(workspace, answer)).toMatchObject({
      total_cost: 0,
      is_byok: true,
      upstream_inference_cost: 0.00002,
      provider_responses: [{ status: 200, is_byok: true }],
    })
    const { data } = await expectJson<{ data: Record<string, number> }>(200, workspace.as.get("/key"))
    expect(data).toMatchObject({ usage: 0, byok_usage: 0.00002, byok_usage_daily: 0.00002 })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, byokNano: 20_000 })
  })

  test("reports its cost in a stream, and on every endpoint", async () => {
    const workspace = await newWorkspace()
    for (const slug of ["replica-a", "replica-b", "replica-c"]) await scoped(workspace, slug, { is_byok_only: true })
    const { stop } = mockProvider(() => sse(good("Hello you")))
    const model = newModel()
    const requests = { stream: true, usage: { include: true } }
    const { chunks } = await readStream(workspace.as.chat(model, "Hi", requests))
    expect(chunks.at(-1)?.usage).toMatchObject({
      cost: 0,
      is_byok: true,
      cost_details: { upstream_inference_cost: 0.000016 },
    })
    const input = { model, input: "Hi", stream: true, provider: { only: ["replica-a"] } }
    const events = await (await workspace.as.post("/responses", input)).text()
    const last = events.split("\n\n").findLast((event) => event.includes("response.completed")) ?? ""
    expect(last).toContain('"is_byok":true')
    expect(last).toContain('"upstream_inference_output_cost":0.000006')
    stop()
    mockProvider(() => completed())
    const message = { model, max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }
    expect(await expectJson(200, workspace.as.post("/messages", message))).toMatchObject({
      usage: { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.00002 } },
    })
  })

  test("needs no credit", async () => {
    const workspace = await newWorkspace(0)
    const model = newModel()
    const { upstreamCalls: requests } = mockProvider(() => completed())
    await expectJson(402, workspace.as.chat(model, "Hi"))
    await scoped(workspace, "replica-a")
    const answer = await workspace.as.chat(model, "Hi")
    await expectJson(200, answer.clone())
    expect(requests.map(keyOf)).toEqual([KEY])
    expect(await receiptOf(workspace, answer)).toMatchObject({ total_cost: 0, is_byok: true })
    expect(await openHolds(workspace)).toEqual([])
  })

  test("counts against limits that include BYOK, and against no others", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a", { is_byok_only: true })
    const only = { provider: { only: ["replica-a"] }, max_tokens: 16 }
    const [counted, plain] = [
      await newKey(workspace, { limit: 0.0009, include_byok_in_limit: true }),
      await newKey(workspace, { limit: 0 }),
    ]
    const model = newModel()
    mockProvider(() => completed({ prompt_tokens: 10, completion_tokens: 1_000, total_tokens: 1_010 }))
    await expectJson(200, plain.as.chat(model, "Hi", only))
    await expectJson(200, counted.as.chat(model, "Hi", only))
    const refused = await errorOf(402, counted.as.chat(model, "Hi", only))
    expect(refused.metadata).toMatchObject({ reason: "key_limit" })
  })

  test("does not charge the balance when its runtime dies", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a", { is_byok_only: true })
    mockProvider(() => new Promise(() => {}))
    const unanswered = workspace.as.chat(newModel(), "Hi", { provider: { only: ["replica-a"] }, stream: true })
    await eventually(async () => expect(await openHolds(workspace)).toHaveLength(1))
    const [hold] = await openHolds(workspace)
    await runInDurableObject(workspace.object, (_, state) => {
      state.storage.sql.exec("UPDATE holds SET expires_at = 0, estimate = 1000")
    })
    await evictDurableObject(workspace.object)
    await runDurableObjectAlarm(workspace.object)
    const { data } = await expectJson<{ data: Receipt }>(200, workspace.as.get(`/generation?id=${hold?.id}`))
    expect(data).toMatchObject({ ending: "unsettled", total_cost: 0, is_byok: true })
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0 })
    await (await unanswered).body?.cancel()
  })

  test("can use providers for which the gateway has no key", async () => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    const model = newModel().replace("acme", "byok-test")
    const endpoints = [
      { provider: "mistral", upstream_id: "m", pricing: { prompt: "0.000001", completion: "0.000002" } },
    ]
    await expectJson(200, operatorClient.put("/catalogue", { models: [{ id: model, name: model, endpoints }] }))
    await scoped(workspace, "mistral")
    const { upstreamCalls: requests } = mockProvider(() => completed())
    await expectJson(200, workspace.as.chat(model, "Hi"))
    await expectJson(404, other.as.chat(model, "Hi"))
    expect(requests.map((one) => [new URL(one.url).hostname, keyOf(one)])).toEqual([["api.mistral.ai", KEY]])
  })
})

describe("the order of credentials", () => {
  test("is the workspace's in their order, then the gateway's key, then fallback credentials", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a", { key: "own-fallback-0123456789", is_fallback: true })
    await scoped(workspace, "replica-a", { key: "own-first-0123456789" })
    await scoped(workspace, "replica-a", { key: "own-second-0123456789" })
    const { upstreamCalls: requests } = refusing(429, () => true)
    await expectJson(429, workspace.as.chat(newModel(), "Hi", { provider: { only: ["replica-a"] } }))
    expect(requests.map(keyOf)).toEqual([
      "own-first-0123456789",
      "own-second-0123456789",
      "replica-a-provider-key-0123456789",
      "own-fallback-0123456789",
    ])
  })

  test("puts providers with credentials first, even before those that the client prefers", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-c")
    const { upstreamCalls: requests } = refusing(429, (key) => key === KEY)
    const order = ["replica-b", "replica-a"]
    await expectJson(200, workspace.as.chat(newModel(), "Hi", { provider: { order } }))
    expect(requests.map((one) => new URL(one.url).hostname)).toEqual(["replica-c.test", "replica-b.test"])
  })

  test("one failing credential does not put the endpoint into cooldown for other workspaces", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    await scoped(mine, "replica-a", { is_byok_only: true })
    const model = newModel()
    const { upstreamCalls: requests } = refusing(429, (key) => key === KEY)
    await expectJson(429, mine.as.chat(model, "Hi", { provider: { only: ["replica-a"] } }))
    await expectJson(200, theirs.as.chat(model, "Hi", { provider: { order: ["replica-a"] } }))
    expect(requests.map(keyOf)).toEqual([KEY, "replica-a-provider-key-0123456789"])
  })

  test.each([["is_required"], ["is_byok_only"]])("with %s the gateway's key is never used for it", async (flag) => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a", { [flag]: true })
    const model = newModel()
    const { upstreamCalls: requests } = refusing(500, () => true)
    await expectJson(502, workspace.as.chat(model, "Hi", { provider: { only: ["replica-a"] } }))
    expect(requests.map(keyOf)).toEqual([KEY])
  })

  test("is_required applies to the models that the credential covers, is_byok_only to all", async () => {
    const [some, all] = [await newWorkspace(), await newWorkspace()]
    const model = newModel()
    await scoped(some, "replica-a", { is_required: true, allowed_models: ["acme/other-*"] })
    await scoped(all, "replica-a", { is_byok_only: true, allowed_models: ["acme/other-*"] })
    const { upstreamCalls: requests } = mockProvider(() => completed())
    const only = { provider: { only: ["replica-a"] } }
    await expectJson(200, some.as.chat(model, "Hi", only))
    expect(requests.map(keyOf)).toEqual(["replica-a-provider-key-0123456789"])
    await expectJson(404, all.as.chat(model, "Hi", only))
    expect(requests).toHaveLength(1)
  })

  test("a credential is used for the models, keys and users that it names", async () => {
    const workspace = await newWorkspace()
    const [named, other] = [
      await newKey(workspace, { creator_user_id: await newMember(workspace, "ada") }),
      await newKey(workspace, { creator_user_id: await newMember(workspace, "bob") }),
    ]
    const model = newModel()
    const only = { provider: { only: ["replica-a"] } }
    const { upstreamCalls: requests } = mockProvider(() => completed())
    const usedBy = async (credential: Record<string, unknown>) => {
      const { id } = await scoped(workspace, "replica-a", credential)
      requests.length = 0
      for (const { as } of [named, other]) await expectJson(200, as.chat(model, "Hi", only))
      await expectJson(200, workspace.manage.delete(`/byok/${id}`))
      return requests.map((one) => keyOf(one) === KEY)
    }
    expect(await usedBy({ allowed_models: ["acme/*"] })).toEqual([true, true])
    expect(await usedBy({ allowed_models: ["acme/none"], allow_unknown: true })).toEqual([false, false])
    expect(await usedBy({ allowed_api_key_hashes: [named.hash] })).toEqual([true, false])
    expect(await usedBy({ allowed_user_ids: ["bob"] })).toEqual([false, true])
    expect(await usedBy({ disabled: true })).toEqual([false, false])
  })

  test("a credential is never used for another workspace, of the same organization or not", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    type Made = { data: { id: string } }
    const { data } = await expectJson<Made>(201, mine.manage.post("/workspaces", { name: "Team", slug: "team" }))
    const beside = await newKey(mine, { workspace_id: data.id })
    for (const slug of ["replica-a", "replica-b", "replica-c"]) await scoped(mine, slug)
    const model = newModel()
    const { upstreamCalls: requests } = mockProvider(() => completed())
    for (const as of [beside.as, theirs.as]) await expectJson(200, as.chat(model, "Hi"))
    expect(requests.map((one) => GATEWAY.test(keyOf(one) ?? ""))).toEqual([true, true])
    // Not even by a forged row: a key sealed for one workspace cannot be opened for another.
    await scoped(theirs, "replica-a", { key: "own-theirs-0123456789", is_byok_only: true })
    await env.DB.prepare(
      `UPDATE byok_credentials SET (sealed, version) =
         (SELECT sealed, version FROM byok_credentials WHERE workspace_id = ? AND provider = 'replica-a')
       WHERE workspace_id = ?`,
    )
      .bind(mine.workspaceId, theirs.workspaceId)
      .run()
    vi.spyOn(console, "error").mockImplementation(() => {})
    await expectJson(502, theirs.as.chat(model, "Hi", { provider: { only: ["replica-a"] } }))
    expect(requests).toHaveLength(2)
  })

  test("a changed or deleted key takes effect on the next call", async () => {
    const workspace = await newWorkspace()
    const { id } = await scoped(workspace, "replica-a")
    const model = newModel()
    const { upstreamCalls: requests } = mockProvider(() => completed())
    const call = () => expectJson(200, workspace.as.chat(model, "Hi", { provider: { only: ["replica-a"] } }))
    await call()
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { key: "own-renewed-0123456789" }))
    await call()
    await expectJson(200, workspace.manage.delete(`/byok/${id}`))
    await call()
    expect(requests.map(keyOf)).toEqual([KEY, "own-renewed-0123456789", "replica-a-provider-key-0123456789"])
  })

  test("a credential with declared ZDR allows the provider for calls that require it", async () => {
    const workspace = await newWorkspace()
    const model = newModel()
    const zdr = { provider: { zdr: true } }
    const { upstreamCalls: requests } = mockProvider(() => completed())
    await expectJson(404, workspace.as.chat(model, "Hi", zdr))
    await scoped(workspace, "replica-b", { declared_zdr: true })
    await expectJson(200, workspace.as.chat(model, "Hi", zdr))
    expect(requests.map(keyOf)).toEqual([KEY])
  })
})

describe("a credential with a declared region", () => {
  const sendTo = (workspace: Workspace, host: string, model: string) =>
    (exports as unknown as { default: Fetcher }).default.fetch(`http://${host}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
    })

  test.each([
    ["us", "us.localhost", 200],
    ["us", "eu.localhost", 404],
    ["europe", "us.localhost", 404],
    ["global", "us.localhost", 404],
    [null, "us.localhost", 404],
  ])("%j is used at %s with status %d, although its provider has no region", async (region, host, status) => {
    const workspace = await newWorkspace()
    const { upstreamCalls: requests } = mockProvider(() => completed())
    await scoped(workspace, "replica-a", { declared_region: region, is_byok_only: true })
    const model = newModel()
    const only = region === "us" && host === "eu.localhost"
    // replica-b is in europe with the gateway's key.
    if (only) await scoped(workspace, "replica-b", { declared_region: "us", is_byok_only: true })
    await expectJson(status, sendTo(workspace, host, model))
    expect(requests.map(keyOf)).toEqual(status === 200 ? [KEY] : [])
  })
})

describe("a credential that its provider rejects", () => {
  test.each([401, 402, 403])("with %d is skipped, and the next target is called", async (status) => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a")
    const { upstreamCalls: requests } = refusing(status, (key) => key === KEY)
    const answer = await workspace.as.chat(newModel(), "Hi", { provider: { only: ["replica-a"] } })
    await expectJson(200, answer.clone())
    expect(requests.map(keyOf)).toEqual([KEY, "replica-a-provider-key-0123456789"])
    expect(await receiptOf(workspace, answer)).toMatchObject({ total_cost: 0.00002, is_byok: false })
  })

  test("ends the call if it is required, with an error that names the credential and not its key", async () => {
    const workspace = await newWorkspace()
    await scoped(workspace, "replica-a", { is_required: true })
    const { upstreamCalls: requests } = refusing(401, (key) => key === KEY)
    const error = await errorOf(502, workspace.as.chat(newModel(), "Hi"))
    expect(requests.map(keyOf)).toEqual([KEY])
    expect(error.message).toContain("workspace's credential")
    expect(error.message).not.toContain(KEY)
    expect(error.metadata).toMatchObject({ provider_code: "401" })
  })
})

test("no failure puts the key into a log line, a response, a header or a row", async () => {
  const lines: string[] = []
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
  }
  const workspace = await newWorkspace()
  const { id } = await scoped(workspace, "replica-a", { is_byok_only: true })
  const leak = (status: number) => Response.json({ error: { message: `no: ${KEY}`, code: KEY } }, { status })
  const answers: Response[] = [await workspace.manage.get(`/byok/${id}`), await workspace.manage.get("/audit")]
  const model = newModel()
  for (const fault of [
    () => leak(400),
    () => leak(401),
    () => leak(429),
    () => leak(500),
    () => leak(200),
    () => Promise.reject(new Error(`connect failed with ${KEY}`)),
    () => sse([chunk({ content: "1234" }), `data: {"error":{"message":"${KEY}","code":"${KEY}"}}\n\n`, DONE]),
  ]) {
    const { stop } = mockProvider(fault)
    for (const stream of [true, false]) {
      answers.push(await workspace.as.chat(model, "Hi", { stream, provider: { only: ["replica-a"] } }))
    }
    stop()
  }
  const reported = await Promise.all(answers.map(async (one) => JSON.stringify([...one.headers]) + (await one.text())))
  await workspace.ledger.balance()
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  ).all<{ name: string }>()
  const rows = await Promise.all(tables.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()))
  for (const text of [lines.join("\n"), reported.join("\n"), JSON.stringify(rows)]) expect(text).not.toContain(KEY)
})
