import { runDurableObjectAlarm } from "cloudflare:test"
import * as fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { providerScope } from "../../src/ledger/provider-limits.ts"
import { objectsOf } from "../../src/support/text/json.ts"
import { alertsOf, record } from "../alerts/alerts.ts"
import { newTestDraft } from "../support/draft.ts"
import { type UpstreamRequest, mockProvider } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newKey, newWorkspace, openHolds, type Workspace } from "../support/world.ts"
import { newReplicaModel } from "../support/replicas.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
type Budget = {
  provider: string
  limit_usd: number
  reset_interval: string | null
  spent_usd: number
  held_usd: number
}
type Answer = {
  choices: { message: { content: string } }[]
  service_metadata?: { endpoints: { available: { provider: string }[] }; pipeline: Record<string, unknown>[] }
}

let stop = () => {}
afterEach(() => stop())

const replicaOf = ({ url }: UpstreamRequest) => new URL(url).hostname.replace(".test", "")

/** Each replica responds with its name and reports this usage. */
function mockReplicas(usage = { prompt_tokens: 10, completion_tokens: 10 }) {
  const provider = mockProvider((upstreamCalls) =>
    Response.json({ choices: [{ message: { content: replicaOf(upstreamCalls) }, finish_reason: "stop" }], usage }),
  )
  ;({ stop } = provider)
  return provider
}

const set = (workspace: Workspace, provider: string, limit_usd: number, more = {}, interval = "monthly") =>
  expectJson<{ data: Budget }>(
    200,
    workspace.manage.put(`/provider-budgets/${provider}/${interval}`, { limit_usd, ...more }),
  )
const budgetsOf = async ({ manage }: Workspace) =>
  (await expectJson<{ data: Budget[] }>(200, manage.get("/provider-budgets"))).data
const callReplicas = (workspace: Pick<Workspace, "as">, model: string, order = ["replica-a", "replica-b"], more = {}) =>
  workspace.as.chat(
    model,
    "Hi",
    { max_tokens: 20, provider: { order, only: order }, ...more },
    { "x-service-metadata": "enabled" },
  )
const textOf = async (answer: Promise<Response>) => (await expectJson<Answer>(200, answer)).choices[0]?.message.content

describe("budgets of providers", () => {
  test("are set, changed, listed with their use, and removed, with an audit entry each", async () => {
    const workspace = await newWorkspace()
    expect((await set(workspace, "replica-a", 100)).data).toMatchObject({
      provider: "replica-a",
      spent_usd: 0,
      held_usd: 0,
    })
    await set(workspace, "replica-a", 10, {}, "daily")
    const changed = await set(workspace, "replica-a", 200, { include_byok: true })
    expect(changed.data).toMatchObject({ limit_usd: 200, include_byok: true, reset_interval: "monthly" })
    expect((await set(workspace, "replica-a", 300)).data).toMatchObject({ include_byok: true })
    expect(await budgetsOf(workspace)).toMatchObject([
      { provider: "replica-a", reset_interval: "monthly", limit_usd: 300 },
      { provider: "replica-a", reset_interval: "daily", limit_usd: 10 },
    ])
    expect(await budgetsOf(await newWorkspace())).toEqual([])
    for (let turn = 0; turn < 2; turn++) {
      await expectJson(200, workspace.manage.delete("/provider-budgets/replica-a/daily"))
    }
    expect(await budgetsOf(workspace)).toHaveLength(1)
    const { data } = await expectJson<{ data: { action: string; resource_id: string }[] }>(
      200,
      workspace.manage.get("/audit?resource_type=provider_budget"),
    )
    expect(data.map(({ action, resource_id: id }) => `${action} ${id}`)).toEqual([
      "provider_budget.delete replica-a/daily",
      "provider_budget.set replica-a/monthly",
      "provider_budget.set replica-a/monthly",
      "provider_budget.set replica-a/daily",
      "provider_budget.set replica-a/monthly",
    ])
  })

  test.each([
    ["replica-a/yearly", { limit_usd: 1 }, "interval"],
    ["replica-a/monthly", { limit_usd: 0 }, "limit_usd"],
    ["replica-a/monthly", {}, "limit_usd"],
    ["replica-a/monthly", { limit_usd: 1, include_byok: "yes" }, "include_byok"],
    ["replica-a/daily", { limit_usd: 7 }, "limit_usd: must be less than the weekly budget"],
  ])("reject invalid values: %s %j", async (path, body, message) => {
    const workspace = await newWorkspace()
    await set(workspace, "replica-a", 7, {}, "weekly")
    const { error } = await expectJson<Failure>(400, workspace.manage.put(`/provider-budgets/${path}`, body))
    expect(error.message).toContain(message)
  })

  test("are rejected with 404 for an unknown provider", async () => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<Failure>(404, manage.put("/provider-budgets/nobody/monthly", { limit_usd: 1 }))
    expect(error.message).toMatch(/^There is no provider nobody\. This gateway reaches .*replica-a/)
  })

  test("need a management key to read and to set", async () => {
    const workspace = await newWorkspace()
    await expectJson(403, workspace.as.get("/provider-budgets"))
    await expectJson(403, workspace.as.put("/provider-budgets/replica-a/daily", { limit_usd: 1 }))
    await expectJson(403, workspace.as.delete("/provider-budgets/replica-a/daily"))
  })
})

describe("a call", () => {
  test("uses another provider when the budget of the first is spent, and its metadata has the reason", async () => {
    const workspace = await newWorkspace()
    const model = newReplicaModel()
    mockReplicas()
    await set(workspace, "replica-a", 0.000_001)
    const answer = await expectJson<Answer>(200, callReplicas(workspace, model))
    expect(answer.choices[0]?.message.content).toBe("replica-b")
    expect(answer.service_metadata?.endpoints.available).toMatchObject([{ provider: "replica-b" }])
    expect(answer.service_metadata?.pipeline).toEqual([
      {
        type: "plugin",
        name: "provider-budget",
        summary: "replica-a skipped, 0.000001 USD are left of its monthly budget",
        data: { reason: "provider_budget", providers: ["replica-a"] },
      },
    ])
  })

  test("is rejected without another provider, with the provider, its limit and its reset", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mockReplicas()
    await set(workspace, "replica-a", 0.000_001)
    const { error } = await expectJson<Failure>(403, callReplicas(workspace, newReplicaModel(), ["replica-a"]))
    expect(error.metadata).toEqual({ reason: "provider_budget" })
    expect(error.message).toMatch(
      /^This request needs up to \S+ USD, and 0\.000001 USD are left under the organization's monthly budget of 0\.000001 USD for replica-a, running requests included\. It resets at \d{4}-\d\d-01T00:00:00\.000Z\. Raise the budget, or call a model that another provider offers, or send fewer max_tokens\.$/,
    )
    expect(upstreamCalls).toEqual([])
    expect(await openHolds(workspace)).toEqual([])
  })

  test("counts at the provider that served it, also before it has a budget, and reconciles", async () => {
    const workspace = await newWorkspace()
    const model = newReplicaModel()
    mockReplicas()
    expect(await textOf(callReplicas(workspace, model))).toBe("replica-a")
    await set(workspace, "replica-a", 5)
    await set(workspace, "replica-b", 5)
    expect(await textOf(callReplicas(await newKey(workspace), model, ["replica-b", "replica-a"]))).toBe("replica-b")
    const { spentNano } = await workspace.ledger.balance()
    const [a, b] = await budgetsOf(workspace)
    expect(a?.spent_usd).toBeGreaterThan(0)
    expect(a?.spent_usd).toBe(b?.spent_usd)
    expect(Math.round(((a?.spent_usd ?? 0) + (b?.spent_usd ?? 0)) * 1e9)).toBe(spentNano)
    expect((await workspace.ledger.reconcile(workspace.organizationId, false)).drifts).toEqual([])
  })

  test("gets its output limited by the rest of its provider's budget", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mockReplicas()
    await set(workspace, "replica-a", 0.002)
    await expectJson(200, callReplicas(workspace, newReplicaModel(), ["replica-a"], { max_tokens: 500_000 }))
    expect(upstreamCalls[0]?.body["max_tokens"]).toBeLessThan(10_000)
  })

  test("with a BYOK credential counts only if the budget includes BYOK", async () => {
    const workspace = await newWorkspace()
    mockReplicas()
    await expectJson(
      201,
      workspace.manage.post("/byok", { provider: "replica-a", key: "own-key-0123456789", name: "own" }),
    )
    await set(workspace, "replica-a", 0.000_001)
    expect(await textOf(callReplicas(await newKey(workspace), newReplicaModel(), ["replica-a"]))).toBe("replica-a")
    await set(workspace, "replica-a", 0.000_001, { include_byok: true })
    const refused = await expectJson<Failure>(
      403,
      callReplicas(await newKey(workspace), newReplicaModel(), ["replica-a"]),
    )
    expect(refused.error.metadata).toEqual({ reason: "provider_budget" })
    const [budget] = await budgetsOf(workspace)
    expect(budget?.spent_usd).toBeGreaterThan(0)
  })

  test("over the budget of its provider gets the cheaper model of its key", async () => {
    const workspace = await newWorkspace()
    mockReplicas()
    await set(workspace, "replica-a", 0.000_001)
    const key = await newKey(workspace, { over_budget_models: ["sim/echo:free"] })
    expect(
      await expectJson(
        200,
        callReplicas(key, newReplicaModel(), ["replica-a"], { provider: { only: ["replica-a", "embedded"] } }),
      ),
    ).toMatchObject({
      model: "sim/echo:free",
    })
  })

  test("that reaches a threshold of the budget sends an alert, and so does the first that is skipped", async () => {
    const workspace = await newWorkspace()
    mockReplicas({ prompt_tokens: 500, completion_tokens: 20 })
    const model = newReplicaModel()
    await set(workspace, "replica-a", 0.001_3)
    for (const replica of ["replica-a", "replica-a", "replica-b", "replica-b"])
      expect(await textOf(callReplicas(workspace, model))).toBe(replica)
    await record(workspace)
    const alerts = (await alertsOf(workspace)).filter(({ data }) => data["scope"] === "provider")
    const about = { scope: "provider", id: "replica-a", name: "replica-a", interval: "monthly", limit_usd: 0.001_3 }
    expect(alerts.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
      { kind: "limit_refused", workspace_id: null, data: about },
      {
        kind: "limit_threshold",
        workspace_id: null,
        message: 'Provider "replica-a" reached 80 % of its monthly budget: 0.00108 of 0.0013 USD are spent.',
        data: { ...about, threshold: 80 },
      },
    ])
  })

  test("shows the budgets of its provider in the limits it was held against", async () => {
    const workspace = await newWorkspace()
    mockReplicas()
    await set(workspace, "replica-a", 5)
    const response = await callReplicas(workspace, newReplicaModel())
    const id = response.headers.get("x-generation-id") ?? ""
    await response.text()
    const { data } = await expectJson<{ data: { held: { limits: unknown[] } } }>(
      200,
      workspace.manage.get(`/calls/${id}`),
    )
    expect(data.held.limits).toEqual([
      { kind: "provider", id: "replica-a", name: "replica-a", limit: 5, interval: "monthly" },
    ])
  })
})

describe("the ledger", () => {
  const limitOf = (provider: string, limitNano: number) => {
    return { scope: providerScope(provider), limitNano, interval: "daily" as const, includeByok: false }
  }
  const heldAt = async (workspace: Workspace, provider: string) => {
    const [, standing] = await workspace.ledger.limitStatuses([limitOf(provider, 0)])
    return standing
  }

  test("charges an unsettled call to each provider that may have served it, at most the amount held there", async () => {
    const workspace = await newWorkspace()
    const { organizationId, workspaceId } = workspace
    const draft = newTestDraft({
      id: `gen-${crypto.randomUUID()}`,
      organizationId,
      workspaceId,
      keyHash: "a".repeat(64),
    })
    const verdict = await workspace.ledger.hold({
      draft,
      wanted: { leastNano: 100, mostNano: 900 },
      chargesAccount: true,
      limits: [],
      providers: {
        limited: [
          {
            provider: "replica-a",
            isByok: false,
            limits: [limitOf("replica-a", 200)],
            wanted: { leastNano: 100, mostNano: 900 },
          },
          {
            provider: "replica-b",
            isByok: false,
            limits: [limitOf("replica-b", 50)],
            wanted: { leastNano: 100, mostNano: 900 },
          },
        ],
        others: { leastNano: 50, mostNano: 700 },
      },
      estimateNano: 500,
      ttlMs: 1,
    })
    expect(verdict).toMatchObject({ ok: true, grantedNano: 700 })
    expect(await heldAt(workspace, "replica-a")).toMatchObject({ heldNano: 200 })
    expect(await heldAt(workspace, "replica-b")).toMatchObject({ heldNano: 0 })
    await scheduler.wait(5)
    await runDurableObjectAlarm(workspace.object)
    expect(await workspace.ledger.balance()).toMatchObject({ spentNano: 500, heldNano: 0 })
    expect(await heldAt(workspace, "replica-a")).toMatchObject({ spentNano: 200, heldNano: 0 })
    expect(await heldAt(workspace, "replica-b")).toMatchObject({ spentNano: 0, heldNano: 0 })
  })
})

test("no provider exceeds its budget, for any number and cost of concurrent calls", async () => {
  const call = fc.record({
    first: fc.constantFrom("replica-a", "replica-b", "replica-c"),
    max: fc.integer({ min: 1, max: 400 }),
    prompt: fc.integer({ min: 0, max: 900 }),
    completion: fc.integer({ min: 0, max: 900 }),
  })
  const budget = fc.integer({ min: 1, max: 6_000_000 })
  await fc.assert(
    fc.asyncProperty(
      budget,
      budget,
      fc.array(fc.array(call, { minLength: 1, maxLength: 8 }), { maxLength: 5 }),
      async (a, b, rounds) => {
        const workspace = await newWorkspace()
        await set(workspace, "replica-a", a / 1e9, {}, "daily")
        await set(workspace, "replica-b", b / 1e9)
        const provider = mockProvider(({ body }) => {
          const { prompt, completion } = JSON.parse(objectsOf(body["messages"])[0]?.["content"] as string) as Record<
            string,
            number
          >
          const usage = { prompt_tokens: prompt, completion_tokens: completion }
          return Response.json({ choices: [{ message: { content: "x" }, finish_reason: "stop" }], usage })
        })
        const model = newReplicaModel()
        try {
          for (const round of rounds) {
            const answers = round.map(async ({ first, max, prompt, completion }) => {
              const order = [first, ...["replica-a", "replica-b", "replica-c"].filter((replica) => replica !== first)]
              const content = JSON.stringify({ prompt, completion })
              const more = { max_tokens: max, messages: [{ role: "user", content }] }
              const response = await callReplicas(workspace, model, order, more)
              await response.text()
              expect(response.status).toBe(200)
            })
            await Promise.all(answers)
            for (const { limit_usd: limit, spent_usd: spent, held_usd: held } of await budgetsOf(workspace)) {
              expect(Math.round((spent + held) * 1e9)).toBeLessThanOrEqual(Math.round(limit * 1e9))
            }
          }
        } finally {
          provider.stop()
        }
      },
    ),
    { numRuns: runs(0.2) },
  )
})
