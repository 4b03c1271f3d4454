import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { runSchedule } from "../../src/app/schedule.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { eventually } from "../support/eventually.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { newKey, newWorkspace, openHolds, operatorClient, expectJson, type Workspace } from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

type Drift = { scope: string; window: string; charged_usd: number; recorded_usd: number; repaired: boolean }
type Report = { organization_id: string; restored_generations: number; drifts: Drift[] }

async function reconcile({ organizationId }: Workspace, more: Record<string, unknown> = {}): Promise<Report> {
  const { data } = await expectJson<{ data: Report[] }>(
    200,
    operatorClient.post("/reconciliations", { organization_id: organizationId, ...more }),
  )
  const [report] = data
  if (!report) throw new Error("There is no report.")
  return report
}

async function used(calls = 3): Promise<Workspace> {
  const workspace = await newWorkspace()
  for (let at = 0; at < calls; at += 1) await expectJson(200, workspace.as.chat("sim/echo", "What it costs"))
  return workspace
}

const spentOf = async ({ ledger }: Workspace) => (await ledger.balance()).spentNano

/** A change that only a fault would cause. */
async function shift({ object, ledger }: Workspace, scope: string, window: string, nano: number): Promise<void> {
  await ledger.balance()
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec(
      `UPDATE counters SET value = json_set(value, '$.${window}.spent', (value ->> '$.${window}.spent') + ?) WHERE scope = ?`,
      nano,
      scope,
    )
  })
  await evictDurableObject(object)
}

describe("reconciliation", () => {
  useShortHeartbeats()

  test("finds no drift in correct counters, including unsettled calls", async () => {
    const workspace = await used()
    const { as } = await newKey(workspace, { limit: 1 })
    await expectJson(200, as.chat("sim/echo", "Under another key"))
    expect(await reconcile(workspace)).toMatchObject({ restored_generations: 0, drifts: [] })
    await expectJson(200, as.chat("sim/echo", "And again"))
    expect(await reconcile(workspace)).toMatchObject({ restored_generations: 0, drifts: [] })
  })

  test("raises a counter that has lost a charge", async () => {
    const workspace = await used()
    const spent = await spentOf(workspace)
    await shift(workspace, "account", "total", -spent)
    await shift(workspace, "account", "monthly", -1)
    expect(await spentOf(workspace)).toBe(0)
    const { drifts } = await reconcile(workspace)
    expect(drifts.map(({ scope, window, repaired }) => [scope, window, repaired])).toEqual([
      ["account", "total", true],
      ["account", "monthly", true],
    ])
    expect(await spentOf(workspace)).toBe(spent)
    expect((await reconcile(workspace)).drifts).toEqual([])
  })

  test("restores the windows of limits after a clock was years ahead, and counts its calls in the total only", async () => {
    const workspace = await used()
    const { as } = await newKey(workspace, { limit: 1, limit_reset: "daily", requests_per_minute: 2 })
    const call = () => expectJson(200, as.chat("sim/echo", "What it costs"))
    await call()
    await workspace.ledger.balance()
    vi.useFakeTimers({ now: Date.now() + 10 * 366 * DAY_MS, toFake: ["Date"] })
    await call()
    await workspace.ledger.balance()
    vi.useRealTimers()
    await evictDurableObject(workspace.object)
    await call()
    const spent = await spentOf(workspace)
    const { drifts } = await reconcile(workspace)
    expect(drifts.map(({ window, repaired }) => [window, repaired])).toEqual(
      expect.arrayContaining(["daily", "weekly", "monthly"].map((window) => [window, true])),
    )
    expect(drifts.filter(({ window }) => window === "total")).toEqual([])
    expect((await reconcile(workspace)).drifts).toEqual([])
    expect(await spentOf(workspace)).toBe(spent)
    const { data } = await expectJson<{ data: { usage: number; usage_daily: number } }>(200, as.get("/key"))
    expect(data.usage).toBeCloseTo((data.usage_daily / 2) * 3, 12)
  })

  describe("of guardrail and provider budgets", () => {
    /** A workspace whose calls count in a guardrail of their key and in a provider budget. */
    async function budgeted() {
      const workspace = await newWorkspace()
      const guardrail = { name: "Budget", limit_usd: 5, reset_interval: "monthly" }
      const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", guardrail))
      const { as, hash } = await newKey(workspace)
      await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
      await expectJson(200, workspace.manage.put("/provider-budgets/embedded/monthly", { limit_usd: 5 }))
      const call = () => expectJson(200, as.chat("sim/echo", "What it costs"))
      for (let at = 0; at < 3; at += 1) await call()
      return { workspace, call, scopes: [`guardrail:${data.id}:key:${hash}`, "provider:embedded"] }
    }

    const countersOf = ({ object }: Workspace, scope: string) =>
      runInDurableObject(object, (_, { storage }) => {
        const [row] = storage.sql.exec<{ value: string }>("SELECT value FROM counters WHERE scope = ?", scope).toArray()
        return (JSON.parse(row?.value ?? "{}") as { total?: { spent: number } }).total?.spent ?? 0
      })

    test("finds no drift in correct counters", async () => {
      const { workspace, call, scopes } = await budgeted()
      expect((await reconcile(workspace)).drifts).toEqual([])
      for (const scope of scopes) expect(await countersOf(workspace, scope)).toBeGreaterThan(0)
      await call()
      expect((await reconcile(workspace)).drifts).toEqual([])
    })

    test("raises counters that lost a charge, and reports those that are too high", async () => {
      const { workspace, scopes } = await budgeted()
      const [ofGuardrail = "", ofProvider = ""] = scopes
      await workspace.ledger.balance()
      const before = await Promise.all(scopes.map((scope) => countersOf(workspace, scope)))
      await shift(workspace, ofGuardrail, "total", -10)
      await shift(workspace, ofProvider, "monthly", -20)
      const lost = await reconcile(workspace)
      expect(lost.drifts.map(({ scope, window, repaired }) => [scope, window, repaired]).toSorted()).toEqual([
        [ofGuardrail, "total", true],
        [ofProvider, "monthly", true],
      ])
      expect(await Promise.all(scopes.map((scope) => countersOf(workspace, scope)))).toEqual(before)
      await shift(workspace, ofProvider, "total", 30)
      expect((await reconcile(workspace)).drifts).toMatchObject([{ scope: ofProvider, repaired: false }])
      expect((await reconcile(workspace, { lower: true })).drifts).toMatchObject([
        { scope: ofProvider, repaired: true },
      ])
      expect((await reconcile(workspace)).drifts).toEqual([])
    })

    test("counts an unsettled call like the ledger", async () => {
      const { workspace } = await budgeted()
      for (const slug of ["replica-a", "replica-b"]) {
        await expectJson(200, workspace.manage.put(`/provider-budgets/${slug}/monthly`, { limit_usd: 5 }))
      }
      mockProvider(() => new Promise(() => {}))
      const unanswered = workspace.as.chat("acme/chat-38", "Hi", { stream: true })
      await eventually(async () => expect(await openHolds(workspace)).toHaveLength(1))
      await runInDurableObject(workspace.object, (_, { storage }) => {
        storage.sql.exec("UPDATE holds SET expires_at = 0, estimate = 1000")
      })
      await evictDurableObject(workspace.object)
      await runDurableObjectAlarm(workspace.object)
      expect(await countersOf(workspace, "provider:replica-a")).toBeGreaterThan(0)
      expect((await reconcile(workspace)).drifts).toEqual([])
      await (await unanswered).body?.cancel()
    })

    test("keeps amounts that the ledger counted before records had scopes", async () => {
      const { workspace, call } = await budgeted()
      await reconcile(workspace)
      await env.DB.prepare(
        "UPDATE generations SET record = json_remove(record, '$.countedIn') WHERE organization_id = ?",
      )
        .bind(workspace.organizationId)
        .run()
      await runInDurableObject(workspace.object, (_, { storage }) => {
        storage.sql.exec("DROP TABLE opening")
        storage.sql.exec("UPDATE outbox SET record = json_remove(record, '$.countedIn')")
      })
      await evictDurableObject(workspace.object)
      expect((await reconcile(workspace)).drifts).toEqual([])
      await call()
      expect((await reconcile(workspace)).drifts).toEqual([])
      await shift(workspace, "provider:embedded", "total", -1)
      expect((await reconcile(workspace)).drifts).toMatchObject([{ scope: "provider:embedded", repaired: true }])
    })
  })

  test("reports a counter above its generations, and lowers it only with lower: true", async () => {
    const workspace = await used()
    const spent = await spentOf(workspace)
    await shift(workspace, "account", "total", 500)
    expect((await reconcile(workspace)).drifts).toMatchObject([{ scope: "account", window: "total", repaired: false }])
    expect(await spentOf(workspace)).toBe(spent + 500)
    expect((await reconcile(workspace, { lower: true })).drifts).toMatchObject([{ repaired: true }])
    expect(await spentOf(workspace)).toBe(spent)
    await expectJson(400, operatorClient.post("/reconciliations", { lower: true }))
  })

  test("restores generations that the database lost, also those of the last minutes, until it has found them", async () => {
    // At noon: the calls become an hour older, and must stay in the day in which they are counted.
    const tomorrow = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS
    vi.useFakeTimers({ now: tomorrow + DAY_MS / 2, toFake: ["Date"] })
    const workspace = await used(4)
    await reconcile(workspace)
    const list = () =>
      env.DB.prepare("SELECT id FROM generations WHERE organization_id = ? ORDER BY id")
        .bind(workspace.organizationId)
        .all()
    const { results: before } = await list()
    expect(before).toHaveLength(4)
    const lose = () =>
      env.DB.prepare("DELETE FROM generations WHERE organization_id = ?").bind(workspace.organizationId).run()
    for (const isOld of [false, true]) {
      await lose()
      // Old enough that no settlement can be repeated.
      const ageMs = isOld ? 3_600_000 : 0
      await runInDurableObject(workspace.object, (_, { storage }) => {
        const query = "UPDATE outbox SET record = json_set(record, '$.settledAt', (record ->> 'settledAt') - ?)"
        storage.sql.exec(query, ageMs)
      })
      expect(await reconcile(workspace)).toMatchObject({ restored_generations: 4, drifts: [] })
      expect((await list()).results).toEqual(before)
    }
    await lose()
    expect(await reconcile(workspace)).toMatchObject({ restored_generations: 0 })
  })

  test("finds no drift with concurrent calls", async () => {
    const workspace = await used()
    const calls = Array.from({ length: 30 }, () => expectJson(200, workspace.as.chat("sim/echo", "Meanwhile")))
    const reports = await Promise.all(Array.from({ length: 3 }, () => reconcile(workspace)))
    await Promise.all(calls)
    expect(reports.flatMap(({ drifts }) => drifts)).toEqual([])
    expect((await reconcile(workspace)).drifts).toEqual([])
  })

  test("runs on schedule, and its reports are visible only to the organization", async () => {
    const workspace = await used()
    await shift(workspace, "account", "total", 700)
    expect(await expectJson(200, workspace.manage.get("/reconciliations"))).toEqual({ data: [] })
    await env.DB.prepare("DELETE FROM reconciliations").run()
    await env.DB.prepare("INSERT INTO reconciliations SELECT id, ?, '{}' FROM organizations WHERE id <> ?")
      .bind(Date.now(), workspace.organizationId)
      .run()
    await runSchedule("0 4 * * *", env, Date.now())
    const { data } = await expectJson<{ data: Report[] }>(200, workspace.manage.get("/reconciliations"))
    expect(data).toMatchObject([{ organization_id: workspace.organizationId, drifts: [{ scope: "account" }] }])
    expect(await expectJson(200, (await newWorkspace()).manage.get("/reconciliations"))).toEqual({ data: [] })
    // Includes the organizations of all other tests.
  })

  test("can be started only by the operator", async () => {
    const workspace = await newWorkspace()
    await expectJson(403, workspace.manage.post("/reconciliations", {}))
    await expectJson(403, workspace.as.get("/reconciliations"))
    await expectJson(404, operatorClient.post("/reconciliations", { organization_id: crypto.randomUUID() }))
  })
})
