import * as fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { endUserScope, guardrailSubject } from "../../src/ledger/scopes.ts"
import { windowEnd, windowStart } from "../../src/money/windows.ts"
import { DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, openHolds, operatorClient, type TestClient } from "../support/world.ts"

let stop = () => {}
afterEach(() => stop())

type Limit = {
  kind: string
  id: string
  name: string | null
  subject: string | null
  limit: number
  spent: number
  held: number
  left: number
  interval: string | null
  resets_at: string | null
  includes_byok: boolean
  binds: boolean
}
type Estimate = {
  hold: number
  least: number
  expected: number
  targets: { model: string; provider: string; hold: number }[]
  limits: Limit[]
  fits: boolean
  excludes: string[]
}

const limitsOf = async (as: TestClient, path = "/key/limits") =>
  (await expectJson<{ data: Limit[] }>(200, as.get(path))).data
const estimate = async (as: TestClient, model: string, more: Record<string, unknown> = {}) => {
  const body = { model, messages: [{ role: "user", content: "Hello" }], ...more }
  return (await expectJson<{ data: Estimate }>(200, as.post("/estimate", body))).data
}
/** Nano-USD. */
const nano = (usd: number) => Math.round(usd * 1e9)

describe("limits in force", () => {
  test("of a key: balance, key, budgets and guardrails with spent and remaining amounts to the nano-dollar", async () => {
    const workspace = await newWorkspace(100)
    await expectJson(
      200,
      workspace.manage.put(`/workspaces/${workspace.workspaceId}/budgets/monthly`, { limit_usd: 7 }),
    )
    const key = await newKey(workspace, { name: "Capped", limit: 5, limit_reset: "daily" })
    type Made = { data: { id: string } }
    const rules = { name: "Careful", limit_usd: 9, reset_interval: "weekly" }
    const { data } = await expectJson<Made>(201, workspace.manage.post("/guardrails", rules))
    const assigned = { key_hashes: [key.hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, assigned))
    stop = mockProvider(() => sse([...good("Hello").slice(0, -2), usageChunk(1_000, 500), DONE])).stop
    const response = await key.as.chat("played/m80", "Hi", { stream: true })
    await response.text()
    const { data: call } = await expectJson<{ data: { cost: number } }>(
      200,
      key.as.get(`/calls/${response.headers.get("x-generation-id")}`),
    )
    const limits = await limitsOf(key.as)
    expect(limits.map(({ kind, name, limit, interval }) => [kind, name, limit, interval])).toEqual([
      ["balance", "Test", 100, null],
      ["key", "Capped", 5, "daily"],
      ["budget", "Default", 7, "monthly"],
      ["guardrail", "Careful", 9, "weekly"],
    ])
    for (const { spent, limit, held, left } of limits) {
      expect(nano(spent)).toBe(nano(call.cost))
      expect(nano(left)).toBe(nano(limit) - nano(spent) - nano(held))
    }
    expect(limits.map(({ binds }) => binds)).toEqual([false, true, false, false])
    expect(limits.map(({ subject }) => subject)).toEqual([null, null, null, "key"])
    const [, daily] = limits
    expect(Date.parse(daily?.resets_at ?? "") % 86_400_000).toBe(0)
    expect(Date.parse(daily?.resets_at ?? "")).toBeGreaterThan(Date.now())
    // A management key gets the same list.
    expect(await limitsOf(workspace.manage, `/keys/${key.hash}/limits`)).toEqual(limits)
  })

  test("are budgets of GET /key: of guardrails, the workspace and the key, with the one that stops the key first", async () => {
    const workspace = await newWorkspace(100)
    const { data: budget } = await expectJson<{ data: { id: string } }>(
      200,
      workspace.manage.put(`/workspaces/${workspace.workspaceId}/budgets/monthly`, { limit_usd: 7 }),
    )
    const key = await newKey(workspace, { limit: 5, limit_reset: "daily" })
    const rules = { name: "Careful", limit_usd: 9, reset_interval: "monthly" }
    const { data: guardrail } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", rules),
    )
    const assigned = { key_hashes: [key.hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${guardrail.id}/assignments/keys`, assigned))
    await expectJson(200, key.as.chat("sim/echo", "Hi"))
    type Budget = { scope: string; limit_usd: number; spend_usd: number; remaining_usd: number }
    type Current = { data: { usage: number; limit_remaining: number; budgets: Budget[]; effective_budget: Budget } }
    const { data } = await expectJson<Current>(200, key.as.get("/key"))
    const none = { guardrail_id: null, budget_id: null, include_byok: false }
    const [daily, monthly] = [expect.stringMatching(/T00:00:00/), expect.stringMatching(/-01T00:00:00/)] as string[]
    expect(data.budgets).toMatchObject([
      {
        ...none,
        scope: "api_key",
        guardrail_id: guardrail.id,
        limit_usd: 9,
        reset_interval: "monthly",
        resets_at: monthly,
      },
      {
        ...none,
        scope: "workspace",
        budget_id: budget.id,
        limit_usd: 7,
        reset_interval: "monthly",
        resets_at: monthly,
      },
      { ...none, scope: "key_limit", limit_usd: 5, reset_interval: "daily", resets_at: daily },
    ])
    for (const { limit_usd: limit, spend_usd: spent, remaining_usd: remaining } of data.budgets) {
      expect(spent).toBe(data.usage)
      expect(nano(remaining)).toBe(nano(limit) - nano(spent))
    }
    expect(data.effective_budget).toEqual(data.budgets[2])
    expect(data.effective_budget.remaining_usd).toBe(data.limit_remaining)
  })

  test("are no budgets of a key without any", async () => {
    const { as } = await newWorkspace(100)
    expect(await expectJson(200, as.get("/key"))).toMatchObject({ data: { budgets: [], effective_budget: null } })
  })

  test("of a guardrail name what its budget counts", () => {
    expect(guardrailSubject("guardrail:g:key:k")).toBe("key")
    expect(guardrailSubject("guardrail:g:user:u")).toBe("member")
    expect(guardrailSubject(endUserScope("g", "ada"))).toBe("end_user")
    expect(guardrailSubject("workspace:w")).toBeNull()
  })

  test("of a minted key include the limits of the minting key", async () => {
    const workspace = await newWorkspace()
    const minter = await newKey(workspace, { name: "Minter", kind: "provisioning", limit: 20 })
    type Made = { key: string; data: { hash: string } }
    const child = await expectJson<Made>(201, minter.as.post("/keys", { name: "Child", limit: 3 }))
    const limits = await limitsOf(workspace.manage, `/keys/${child.data.hash}/limits`)
    expect(limits.map(({ kind, name, limit }) => [kind, name, limit])).toEqual([
      ["balance", "Test", 100],
      ["key", "Child", 3],
      ["key", "Minter", 20],
    ])
  })

  test("of a disabled key are returned, those of another organization's key are not", async () => {
    const [mine, other] = await Promise.all([newWorkspace(), newWorkspace()])
    const { hash } = await newKey(mine, { limit: 1 })
    await expectJson(200, mine.manage.patch(`/keys/${hash}`, { disabled: true }))
    expect((await limitsOf(mine.manage, `/keys/${hash}/limits`)).map(({ kind }) => kind)).toEqual(["balance", "key"])
    await expectJson(404, other.manage.get(`/keys/${hash}/limits`))
    await expectJson(403, mine.as.get(`/keys/${hash}/limits`))
    await expectJson(404, operatorClient.get(`/keys/${hash}/limits`))
  })

  test("a window ends where the next one starts", () => {
    const day = 86_400_000
    const at = fc.integer({ min: 10 * 365 * day, max: 100 * 365 * day })
    fc.assert(
      fc.property(at, fc.constantFrom("daily", "weekly", "monthly" as const), (now, interval) => {
        const end = windowEnd(interval, now)
        expect(windowStart(interval, end)).toBe(end)
        expect(windowStart(interval, end - 1)).toBe(windowStart(interval, now))
      }),
    )
  })
})

describe("POST /estimate", () => {
  test("returns the amount that the call then holds, and sends, holds and charges nothing", async () => {
    const workspace = await newWorkspace()
    const upstream = mockProvider(() => sse(good("Hello")))
    stop = upstream.stop
    const body = { max_tokens: 50, stream: true }
    const estimated = await estimate(workspace.as, "played/m80", body)
    expect(upstream.upstreamCalls).toEqual([])
    expect(await openHolds(workspace)).toEqual([])
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 0, heldNano: 0 })
    expect(estimated).toMatchObject({ fits: true, excludes: [] })
    expect(estimated.targets[0]).toMatchObject({ model: "played/m80" })
    expect(estimated.expected).toBeLessThanOrEqual(estimated.hold)
    const response = await workspace.as.chat("played/m80", "Hello", body)
    await response.text()
    const { data } = await expectJson<{ data: { held: { amount: string } } }>(
      200,
      workspace.as.get(`/calls/${response.headers.get("x-generation-id")}`),
    )
    expect(nano(Number(data.held.amount))).toBe(nano(estimated.hold))
  })

  test("names the limit that the call would exceed", async () => {
    const workspace = await newWorkspace()
    const limited = await newKey(workspace, { name: "Poor", limit: 0.000000001 })
    const estimated = await estimate(limited.as, "sim/echo")
    expect(estimated.fits).toBe(false)
    expect(estimated.limits.find(({ binds }) => binds)).toMatchObject({ kind: "key", name: "Poor" })
    await expectJson(402, limited.as.chat("sim/echo", "Hello"))
  })

  test("fails with the status of the call", async () => {
    const { as } = await newWorkspace()
    const body = (model: string) => ({ model, messages: [{ role: "user", content: "Hi" }] })
    await expectJson(404, as.post("/estimate", body("nobody/nothing")))
    await expectJson(400, as.post("/estimate", { model: "sim/echo", messages: [] }))
  })

  test("runs no plugin and no server tool and reports them as excluded", async () => {
    const { as } = await newWorkspace()
    const upstream = mockProvider(() => Response.json({}))
    stop = upstream.stop
    const plugins = await estimate(as, "sim/echo:online", { plugins: [{ id: "web" }] })
    expect(plugins.excludes).toEqual(["plugins"])
    const tools = await estimate(as, "sim/echo", { tools: [{ type: "openrouter:web_search" }] })
    expect(tools.excludes).toEqual(["server_tools"])
    expect((await estimate(as, "sim/echo:nitro")).targets.map(({ model }) => model)).toEqual(["sim/echo"])
    expect(upstream.upstreamCalls).toEqual([])
  })
})
