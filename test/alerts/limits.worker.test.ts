import { evictDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { keyScope, type Limit } from "../../src/ledger/limits.ts"
import { expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"
import { runs } from "../support/runs.ts"
import { alertsOf, record, spend } from "./alerts.ts"

const USD = 1_000_000_000

async function keyWithLimit(workspace: Workspace, limitNano: number) {
  const { hash } = await newKey(workspace, { name: "ci" })
  const limit: Limit = { scope: keyScope(hash), limitNano, interval: "daily", includeByok: false }
  return { hash, limit }
}

const thresholds = async (workspace: Workspace) => {
  await record(workspace)
  return (await alertsOf(workspace)).filter(({ data }) => data["scope"] === "key").map(({ data }) => data["threshold"])
}

test("the charge that crosses a threshold sends one alert with the key, the limit and the spent amount", async () => {
  const workspace = await newWorkspace(1_000)
  const { hash, limit } = await keyWithLimit(workspace, 10 * USD)
  await spend(workspace, 4.9 * USD, [limit])
  expect(await thresholds(workspace)).toEqual([])
  await spend(workspace, 0.2 * USD, [limit])
  await spend(workspace, 0.2 * USD, [limit])
  await record(workspace)
  const alerts = await alertsOf(workspace)
  expect(alerts).toEqual([
    {
      id: expect.any(String),
      kind: "limit_threshold",
      workspace_id: workspace.workspaceId,
      message: 'Key "ci" of workspace "Default" reached 50 % of its daily limit: 5.1 of 10 USD are spent.',
      data: {
        scope: "key",
        id: hash,
        name: "ci",
        interval: "daily",
        window_start: new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString(),
        limit_usd: 10,
        spent_usd: 5.1,
        threshold: 50,
      },
      created_at: expect.any(String),
      deliveries: [],
    },
  ])
})

test("a charge that crosses several thresholds sends one alert, for the highest", async () => {
  const workspace = await newWorkspace(1_000)
  const { limit } = await keyWithLimit(workspace, 10 * USD)
  await spend(workspace, 9 * USD, [limit])
  await spend(workspace, 0.5 * USD, [limit])
  expect(await thresholds(workspace)).toEqual([80])
  await spend(workspace, 0.5 * USD, [limit])
  expect(await thresholds(workspace)).toEqual([100, 80])
})

test("a raised limit has its thresholds alerted again", async () => {
  const workspace = await newWorkspace(1_000)
  const { limit } = await keyWithLimit(workspace, 10 * USD)
  await spend(workspace, 6 * USD, [limit])
  await spend(workspace, 1 * USD, [{ ...limit, limitNano: 100 * USD }])
  await spend(workspace, 50 * USD, [{ ...limit, limitNano: 100 * USD }])
  expect(await thresholds(workspace)).toEqual([50, 50])
})

test("the first call that a limit rejects sends one alert with the amount that the call needed", async () => {
  const workspace = await newWorkspace(1_000)
  const { limit } = await keyWithLimit(workspace, 10 * USD)
  await spend(workspace, 4 * USD, [limit])
  expect(await spend(workspace, 7 * USD, [limit])).toBe(false)
  expect(await spend(workspace, 8 * USD, [limit])).toBe(false)
  await record(workspace)
  const refused = await alertsOf(workspace, "?kind=limit_refused")
  expect(refused.map(({ message }) => message)).toEqual([
    'Key "ci" of workspace "Default" rejected a call: it needed at least 7 USD, and 4 of 10 USD of its daily limit are spent.',
  ])
  expect(refused[0]?.data).toMatchObject({ needed_usd: 7, spent_usd: 4, limit_usd: 10 })
})

test("the balance is measured from the last credit, and its alerts belong to the organization", async () => {
  const workspace = await newWorkspace(100)
  await spend(workspace, 40 * USD, [])
  await workspace.ledger.credit("top-up", 40 * USD)
  await spend(workspace, 49 * USD, [])
  await record(workspace)
  expect(await alertsOf(workspace)).toEqual([])
  await spend(workspace, 2 * USD, [])
  await workspace.ledger.credit("top-up", 40 * USD)
  await record(workspace)
  const [alert, ...others] = await alertsOf(workspace)
  expect(others).toEqual([])
  expect(alert).toMatchObject({
    workspace_id: null,
    message: "The balance reached 50 % of what the last credit left: 51 of 100 USD are spent.",
    data: { scope: "balance", id: null, threshold: 50, limit_usd: 100, spent_usd: 51 },
  })
})

test("custom thresholds apply from the next charge on, and an empty list turns threshold alerts off", async () => {
  const workspace = await newWorkspace(1_000)
  const { limit } = await keyWithLimit(workspace, 10 * USD)
  const set = (body: object) => expectJson(200, workspace.manage.patch("/alerts/settings", body))
  expect(await set({ thresholds: [90, 20, 90] })).toEqual({
    data: { thresholds: [20, 90], provider_outages: true, failing_destinations: true, unusual_spend: true },
  })
  await spend(workspace, 2 * USD, [limit])
  await evictDurableObject(workspace.object)
  await spend(workspace, 4 * USD, [limit])
  expect(await thresholds(workspace)).toEqual([20])
  await set({ thresholds: [] })
  await spend(workspace, 4 * USD, [limit])
  expect(await thresholds(workspace)).toEqual([20])
  expect(await expectJson(200, workspace.manage.get("/alerts/settings"))).toMatchObject({ data: { thresholds: [] } })
})

test("concurrent changes of settings are all kept, and the ledger has the stored thresholds", async () => {
  const workspace = await newWorkspace(1_000)
  const changes = [
    { thresholds: [20] },
    { provider_outages: false },
    { thresholds: [30] },
    { failing_destinations: false },
    { thresholds: [40] },
    { unusual_spend: false },
  ]
  await Promise.all(changes.map((change) => expectJson(200, workspace.manage.patch("/alerts/settings", change))))
  type Stored = { data: { thresholds: number[] } }
  const { data } = await expectJson<Stored>(200, workspace.manage.get("/alerts/settings"))
  expect(data).toMatchObject({ provider_outages: false, failing_destinations: false, unusual_spend: false })
  expect([[20], [30], [40]]).toContainEqual(data.thresholds)
  const { limit } = await keyWithLimit(workspace, 10 * USD)
  await spend(workspace, 5 * USD, [limit])
  expect(await thresholds(workspace)).toEqual(data.thresholds)
})

test("a call over HTTP that a key's limit rejects sends an alert", async () => {
  const workspace = await newWorkspace(1_000)
  const { as } = await newKey(workspace, { name: "spent", limit: 0.000_000_001 })
  await expectJson(402, as.chat("sim/echo", "hello"))
  await record(workspace)
  expect((await alertsOf(workspace)).map(({ kind, data }) => [kind, data["name"]])).toEqual([
    ["limit_refused", "spent"],
  ])
})

test("each threshold is alerted once, by the charge that reaches it, for any charges and ledger restarts", async () => {
  const charge = fc.record({ nano: fc.integer({ min: 1, max: 400 }), restarts: fc.boolean(), records: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 }),
      fc.array(charge, { minLength: 1, maxLength: 8 }),
      async (limitNano, percents, charges) => {
        const workspace = await newWorkspace(1)
        await expectJson(200, workspace.manage.patch("/alerts/settings", { thresholds: percents }))
        const { limit } = await keyWithLimit(workspace, limitNano)
        let spent = 0
        const due: number[] = []
        for (const { nano, restarts, records } of charges) {
          const before = Math.max(0, ...percents.filter((percent) => spent * 100 >= limitNano * percent))
          if (!(await spend(workspace, nano, [limit]))) continue
          spent += nano
          const after = Math.max(0, ...percents.filter((percent) => spent * 100 >= limitNano * percent))
          if (after > before) due.push(after)
          if (restarts) await evictDurableObject(workspace.object)
          if (records) await record(workspace)
        }
        await record(workspace)
        const alerts = await alertsOf(workspace, "?kind=limit_threshold")
        const alerted = alerts.filter(({ data }) => data["scope"] === "key").map(({ data }) => data["threshold"])
        expect(alerted.toSorted()).toEqual(due.toSorted())
      },
    ),
    { numRuns: runs(0.1) },
  )
})
