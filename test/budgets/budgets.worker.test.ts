import { describe, expect, test } from "vitest"
import { client, newKey, newWorkspace, openHolds, expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
type Answer = {
  data: { id: string; limit_usd: number; reset_interval: string | null }
  include_byok_in_budgets: boolean
}

const path = ({ workspaceId }: Workspace, interval: string) => `/workspaces/${workspaceId}/budgets/${interval}`
const set = (workspace: Workspace, interval: string, limit_usd: number) =>
  workspace.manage.put(path(workspace, interval), { limit_usd })
/** 10 prompt tokens and at most `max_tokens` of completion, at 1e-6 and 2e-6. */
const call = (workspace: Workspace, max_tokens: number) =>
  workspace.as.chat("sim/echo", "Say it again and again..", { max_tokens })

describe("the budgets of a workspace", () => {
  test("are set, read, listed and removed, by id or slug", async () => {
    const workspace = await newWorkspace()
    const made = await expectJson<Answer>(200, set(workspace, "monthly", 10))
    expect(made).toMatchObject({ data: { limit_usd: 10, reset_interval: "monthly" }, include_byok_in_budgets: false })
    const changed = await expectJson<Answer>(
      200,
      workspace.manage.put("/workspaces/default/budgets/monthly", { limit_usd: 20, include_byok_in_budgets: true }),
    )
    expect(changed).toMatchObject({ data: { id: made.data.id, limit_usd: 20 }, include_byok_in_budgets: true })
    await expectJson(200, set(workspace, "lifetime", 100))
    expect(await expectJson(200, workspace.manage.get(path(workspace, "lifetime")))).toMatchObject({
      data: { reset_interval: null },
    })
    const { data } = await expectJson<{ data: Answer["data"][] }>(
      200,
      workspace.manage.get(`/workspaces/default/budgets`),
    )
    expect(data.map(({ limit_usd: limit }) => limit)).toEqual([100, 20])
    for (let turn = 0; turn < 2; turn++) {
      expect(await expectJson(200, workspace.manage.delete(path(workspace, "monthly")))).toEqual({ deleted: true })
    }
    await expectJson(404, workspace.manage.get(path(workspace, "monthly")))
  })

  test("strictly decrease from lifetime to daily", async () => {
    const workspace = await newWorkspace()
    await expectJson(200, set(workspace, "monthly", 10))
    for (const [interval, limit] of [
      ["lifetime", 10],
      ["weekly", 10],
      ["daily", 11],
    ] as const) {
      const { error } = await expectJson<Failure>(400, set(workspace, interval, limit))
      expect(error.message).toContain("limit_usd: must be")
    }
    await expectJson(200, set(workspace, "daily", 2))
    await expectJson(400, set(workspace, "weekly", 2))
    await expectJson(200, set(workspace, "weekly", 5))
  })

  test.each([
    ["yearly", { limit_usd: 1 }, "interval"],
    ["daily", { limit_usd: 0 }, "limit_usd"],
    ["daily", { limit_usd: -1 }, "limit_usd"],
    ["daily", { limit_usd: "1" }, "limit_usd"],
    ["daily", {}, "limit_usd"],
    ["daily", { limit_usd: 1, limit: 2 }, "limit"],
  ])("reject invalid values: %s %j", async (interval, body, field) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.manage.put(path(workspace, interval), body))
    expect(error.message).toContain(field)
  })

  test("need a management key, and those of another organization are not found", async () => {
    const workspace = await newWorkspace()
    const other = await newWorkspace()
    await expectJson(401, client().get(path(workspace, "daily")))
    await expectJson(403, workspace.as.get(path(workspace, "daily")))
    await expectJson(404, other.manage.put(path(workspace, "daily"), { limit_usd: 1 }))
    await expectJson(404, other.manage.delete(path(workspace, "daily")))
  })
})

describe("a call under a budget", () => {
  test("is rejected with 403 once the budget is spent, works again once it is raised, and leaves no hold", async () => {
    const workspace = await newWorkspace()
    await expectJson(200, call(workspace, 20))
    // Earlier spend of the window counts: 10 + 2 * 6 micro-USD.
    await expectJson(200, set(workspace, "daily", 0.00003))
    const { error } = await expectJson<Failure>(403, call(workspace, 200))
    expect(error.message).toContain("daily budget")
    expect(error.metadata).toEqual({ reason: "workspace_budget" })
    await expectJson(200, set(workspace, "daily", 1))
    await expectJson(200, call(workspace, 200))
    expect(await openHolds(workspace)).toEqual([])
  })

  test("counts with every key of the workspace, and with no key of another", async () => {
    const workspace = await newWorkspace()
    const second = await newKey(workspace)
    await expectJson(200, set(workspace, "lifetime", 0.0014))
    await expectJson(200, workspace.as.chat("sim/echo", "x".repeat(400)))
    await expectJson(200, second.as.chat("sim/echo", "x".repeat(400)))
    const third = await second.as.chat("sim/echo", "x".repeat(400))
    expect(third.status).toBe(403)
    await expectJson(200, call(await newWorkspace(), 20))
    type Listed = { data: { limit_usd: number; spent_usd: number; held_usd: number; resets_at: string | null }[] }
    const { data } = await expectJson<Listed>(200, workspace.manage.get("/workspaces/default/budgets"))
    expect(data).toMatchObject([{ limit_usd: 0.0014, held_usd: 0, resets_at: null }])
    const { data: limits } = await expectJson<{ data: { kind: string; spent: number }[] }>(
      200,
      workspace.as.get("/key/limits"),
    )
    expect(data[0]?.spent_usd).toBe(limits.find(({ kind }) => kind === "budget")?.spent)
    expect(data[0]?.spent_usd).toBeGreaterThan(0)
  })

  test("never exceeds it, with any number of concurrent calls", async () => {
    const workspace = await newWorkspace()
    await expectJson(200, set(workspace, "weekly", 0.001))
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => workspace.as.chat("sim/echo", "x".repeat(80), { max_tokens: 16 })),
    )
    const served = answers.filter(({ status }) => status === 200).length
    expect(served).toBeGreaterThan(0)
    expect(answers.every(({ status }) => status === 200 || status === 403)).toBe(true)
    await Promise.all(answers.map((answer) => answer.text()))
    const { spentNano } = await workspace.ledger.balance()
    expect(spentNano).toBeLessThanOrEqual(1_000_000)
    expect(await openHolds(workspace)).toEqual([])
  })
})
