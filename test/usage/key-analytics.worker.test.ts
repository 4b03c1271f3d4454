import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

const DAY_MS = 86_400_000
type Call = { keyHash: string; daysAgo: number; cost: number }

async function store({ organizationId, workspaceId }: Workspace, calls: readonly Call[]): Promise<void> {
  const today = Date.now() - (Date.now() % DAY_MS)
  const records = calls.map(({ keyHash, daysAgo, cost }) => ({
    id: `gen-${newId()}`,
    organizationId,
    workspaceId,
    keyHash,
    createdAt: today - daysAgo * DAY_MS,
    model: "a/one",
    provider: "P",
    upstreamId: null,
    costNano: cost,
    byokCostNano: 0,
    tokens: { prompt: 1, completion: 1 },
    ending: "complete",
  }))
  await insertGenerations(
    env.DB,
    records.map((record) => JSON.stringify(record)),
  )
}

type Answer = { data: { data: { requests: number; usage: number; api_key_hash?: string }[] } }

const query = async (as: TestClient, path: string, body: Record<string, unknown>) =>
  (await expectJson<Answer>(200, as.post(path, body))).data.data

test("a key's analytics and activity include only its calls, for any filter", async () => {
  const call = fc.record({ key: fc.nat(2), daysAgo: fc.integer({ min: 0, max: 5 }), cost: fc.nat(1_000_000) })
  const workspace = await newWorkspace()
  const other = await newWorkspace()
  const keys = await Promise.all([newKey(workspace), newKey(workspace), newKey(other)])
  const made = fc.sample(call, { numRuns: 60, seed: 3 })
  const of = (at: number) => made.filter(({ key }) => key === at)
  const toCall = ({ key, ...rest }: (typeof made)[number]) => ({ ...rest, keyHash: keys[key]?.hash ?? "" })
  await store(workspace, [...of(0), ...of(1)].map(toCall))
  await store(other, of(2).map(toCall))
  const totals = { metrics: ["requests", "usage"] }
  for (const [at, { as, hash }] of keys.entries()) {
    const expected = of(at)
    const usage = expected.reduce((sum, { cost }) => sum + cost, 0)
    for (const granularity of [undefined, "hour"]) {
      const rows = await query(as, "/key/analytics/query", { ...totals, ...(granularity && { granularity }) })
      expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(expected.length)
      expect(Math.round(rows.reduce((sum, row) => sum + row.usage, 0) * 1e9)).toBe(usage)
    }
    const byKey = await query(as, "/key/analytics/query", { ...totals, dimensions: ["api_key_hash"] })
    expect(byKey.map((row) => row.api_key_hash)).toEqual([hash])
    const foreign = keys[(at + 1) % 3]?.hash
    const filters = [{ field: "api_key_hash", operator: "eq", value: foreign }]
    expect(await query(as, "/key/analytics/query", { ...totals, filters })).toEqual([])
    type Activity = { data: { requests: number }[] }
    const activity = await expectJson<Activity>(200, as.get(`/key/activity?api_key_hash=${foreign}`))
    const past = expected.filter(({ daysAgo }) => daysAgo > 0)
    expect(activity.data.reduce((sum, row) => sum + row.requests, 0)).toBe(past.length)
    await expectJson(403, as.post("/analytics/query", totals))
    await expectJson(403, as.get("/activity"))
    await expectJson(200, as.get("/key/analytics/meta"))
  }
  const all = await query(workspace.manage, "/analytics/query", totals)
  expect(all[0]?.requests).toBe(of(0).length + of(1).length)
})
