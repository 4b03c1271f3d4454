import { afterEach, describe, expect, test, vi } from "vitest"
import { type UpstreamRequest, mockProvider } from "../support/mock-provider.ts"
import { expectJson, newWorkspace, operatorClient, type TestClient, type Workspace } from "../support/world.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** An isolate keeps endpoint health across tests: each test uses a new model. */
let models = 0
const newModel = () => `pooled/k${models++}`

const NAMES = ["one", "two", "three"] as const
const nameOf = ({ headers }: UpstreamRequest) =>
  /pooled-(\w+)-provider/.exec(headers.get("authorization") ?? "")?.[1] ?? "none"
const hello = (headers: Record<string, string> = {}) =>
  Response.json({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] }, { headers })
const refusal = (status: number, message: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { message } }, { status, headers })
const send = (as: TestClient, model: string, session = "s") => as.chat(model, "Hi", { session_id: session })

type Failure = { error: { code: number; message: string } }
type Story = { data: { trail: { provider: string; status: number | null; key_number: number | null }[] } }

describe("a provider with several keys", () => {
  test("uses one key for a session, and all keys across sessions", async () => {
    const { as } = await newWorkspace()
    const model = newModel()
    const { upstreamCalls } = mockProvider(() => hello())
    for (let call = 0; call < 3; call++) await expectJson(200, send(as, model, "one"))
    expect(new Set(upstreamCalls.map(nameOf)).size).toBe(1)
    for (let session = 0; session < 40; session++) await expectJson(200, send(as, model, `s${session}`))
    expect(new Set(upstreamCalls.map(nameOf))).toEqual(new Set(NAMES))
  })

  test.each([
    [429, "Rate limit reached"],
    [401, "Incorrect API key provided: pooled-one-provider-key-0123456789"],
    [403, "Your account is disabled"],
    [400, "You exceeded your current quota, check your billing details"],
  ])("tries the next key after %i %s, and skips the first for a while", async (status, message) => {
    const workspace = await newWorkspace()
    const model = newModel()
    const [refused] = NAMES
    const { upstreamCalls } = mockProvider((call) => (nameOf(call) === refused ? refusal(status, message) : hello()))
    for (let session = 0; session < 12; session++) await expectJson(200, send(workspace.as, model, `s${session}`))
    expect(upstreamCalls.map(nameOf).filter((name) => name === refused)).toHaveLength(1)
  })

  test("records the number of the key in the call's trail, and never the key", async () => {
    const workspace = await newWorkspace()
    const model = newModel()
    mockProvider((call) => (nameOf(call) === "three" ? hello() : refusal(429, "slow down")))
    const answer = await send(workspace.as, model)
    const { id } = await expectJson<{ id: string }>(200, Promise.resolve(answer))
    const { data } = await storyOf(workspace, id)
    expect(data.trail.at(-1)).toMatchObject({ provider: "pooled", status: 200, key_number: 3 })
    expect(data.trail.slice(0, -1).every(({ status }) => status === 429)).toBe(true)
    expect(JSON.stringify(data)).not.toContain("provider-key")
  })

  test("returns the last error without any key when all keys are rejected", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockProvider((call) =>
      refusal(429, `Rate limit of ${call.headers.get("authorization")} reached`, { "retry-after": "7" }),
    )
    const answer = await send(as, newModel())
    expect(answer.headers.get("retry-after")).toBe("7")
    const { error } = await expectJson<Failure>(429, Promise.resolve(answer))
    expect(upstreamCalls.map(nameOf).toSorted()).toEqual([...NAMES].toSorted())
    expect(error.message).not.toContain("provider-key")
  })

  test.each([500, 503, 529])("is not retried with another key after %i, which is not about the key", async (status) => {
    const { as } = await newWorkspace()
    const model = newModel()
    const { upstreamCalls } = mockProvider(() => refusal(status, "trouble"))
    expect((await send(as, model)).status).toBeGreaterThanOrEqual(500)
    expect(upstreamCalls).toHaveLength(1)
  })

  test("does not start with a key without quota until its quota resets", async () => {
    const { as } = await newWorkspace()
    const model = newModel()
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 0, 6, 12) })
    const spent = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s" }
    const { upstreamCalls } = mockProvider(() => hello(upstreamCalls.length === 1 ? spent : {}))
    for (let call = 0; call < 3; call++) await expectJson(200, send(as, model))
    const [first, ...others] = upstreamCalls.map(nameOf)
    expect(others).not.toContain(first)
    expect(new Set(others).size).toBe(1)
    vi.setSystemTime(Date.now() + 31_000)
    await expectJson(200, send(as, model))
    expect(upstreamCalls.map(nameOf).at(-1)).toBe(first)
  })
})

describe("BYOK credentials of one provider", () => {
  const keys = ["own-canary-alpha-0123456789", "own-canary-bravo-0123456789"]
  const add = (workspace: Workspace, key: string, more: Record<string, unknown> = {}) =>
    expectJson<{ data: { id: string; sort_order: number } }>(
      201,
      workspace.manage.post("/byok", { provider: "pooled", key, ...more }),
    )
  const keyOf = ({ headers }: UpstreamRequest) => headers.get("authorization")?.replace("Bearer ", "")

  test("share the calls at equal sort_order; otherwise the lower one is first", async () => {
    const workspace = await newWorkspace()
    const made = []
    for (const key of keys) made.push((await add(workspace, key, { sort_order: 5 })).data)
    expect(made.map(({ sort_order: order }) => order)).toEqual([5, 5])
    const { upstreamCalls } = mockProvider(() => hello())
    const model = newModel()
    for (let session = 0; session < 20; session++) await expectJson(200, send(workspace.as, model, `s${session}`))
    expect(new Set(upstreamCalls.map(keyOf))).toEqual(new Set(keys))
    await expectJson(200, workspace.manage.patch(`/byok/${made[1]?.id}`, { sort_order: 6 }))
    upstreamCalls.length = 0
    for (let session = 0; session < 20; session++) await expectJson(200, send(workspace.as, model, `s${session}`))
    expect(new Set(upstreamCalls.map(keyOf))).toEqual(new Set([keys[0]]))
  })
})

describe("a provider that the operator disables", () => {
  const turn = (provider: string, disabled: boolean) =>
    expectJson<{ data: { disabled_providers: string[] } }>(
      200,
      operatorClient.patch("/catalogue/providers", { provider, disabled }),
    )

  test("gets no call with the gateway's keys or a workspace's until it is enabled again", async () => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/byok", { provider: "pooled", key: "own-canary-0123456789" }))
    const model = newModel()
    const { upstreamCalls } = mockProvider(() => hello())
    try {
      expect((await turn("pooled", true)).data.disabled_providers).toContain("pooled")
      const { error } = await expectJson<Failure>(404, send(workspace.as, model))
      expect(error.message).toContain("stopped")
      expect(error.message).toContain("pooled")
      expect(upstreamCalls).toHaveLength(0)
      const { disabled_providers: listed } = await expectJson<{ disabled_providers: string[] }>(
        200,
        operatorClient.get("/catalogue"),
      )
      expect(listed).toContain("pooled")
      const { data: shown } = await expectJson<{ data: { slug: string; disabled: boolean }[] }>(
        200,
        workspace.as.get("/providers"),
      )
      expect(shown.filter(({ disabled }) => disabled).map(({ slug }) => slug)).toEqual(["pooled"])
    } finally {
      await turn("pooled", false)
    }
    await expectJson(200, send(workspace.as, model))
  })

  test("providers list a batch_price_percent if they have batches", async () => {
    const workspace = await newWorkspace()
    const { data } = await expectJson<{ data: { slug: string; batch_price_percent?: number }[] }>(
      200,
      workspace.as.get("/providers"),
    )
    const shares = new Map(data.map(({ slug, batch_price_percent: share }) => [slug, share]))
    expect([shares.get("batching"), shares.get("pooled")]).toEqual([50, undefined])
  })

  test("is replaced by the other providers of a model", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockProvider(() => hello())
    try {
      await turn("replica-a", true)
      await expectJson(200, as.chat("acme/chat-99", "Hi", { provider: { order: ["replica-a"] } }))
      expect(upstreamCalls.map(({ url }) => new URL(url).hostname)).not.toContain("replica-a.test")
    } finally {
      await turn("replica-a", false)
    }
  })

  test("must exist, and only the operator can disable it", async () => {
    const { as, manage } = await newWorkspace()
    const body = { provider: "nobody", disabled: true }
    const { error } = await expectJson<Failure>(400, operatorClient.patch("/catalogue/providers", body))
    expect(error.message).toContain("nobody")
    for (const client of [as, manage]) {
      await expectJson(403, client.patch("/catalogue/providers", { provider: "pooled", disabled: true }))
    }
  })
})

const storyOf = (workspace: Workspace, id: string) => expectJson<Story>(200, workspace.as.get(`/calls/${id}`))
