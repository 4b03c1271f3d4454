import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { dayOf } from "../../src/support/time/day.ts"
import { readScopeSums, type ScopeSums } from "../../src/usage/scope-store.ts"
import { pruneGenerations, readKeySums, sumDays } from "../../src/usage/store.ts"
import { runs } from "../support/runs.ts"

const NOW = Date.UTC(2026, 5, 17, 12)
const today = NOW - (NOW % DAY_MS)

function generation(organizationId: string, settledAt: number, costNano: number, more: Record<string, unknown> = {}) {
  return {
    id: `gen-${newId()}`,
    organizationId,
    workspaceId: "w",
    keyHash: "k",
    createdAt: settledAt - 1_000,
    settledAt,
    model: "a/one",
    provider: "P",
    apiType: "completions",
    upstreamId: null,
    costNano,
    byokCostNano: 0,
    tokens: { prompt: 2, completion: 1 },
    ending: "complete",
    ...more,
  }
}

const byScope = (a: ScopeSums, b: ScopeSums) => (a.scope < b.scope ? -1 : 1)

const insert = (generations: object[]) =>
  insertGenerations(
    env.DB,
    generations.map((one) => JSON.stringify(one)),
  )

async function daysOf(organizationId: string) {
  const { results } = await env.DB.prepare(
    "SELECT day, sum(requests) AS requests, sum(cost_nano) AS cost FROM usage_days WHERE organization_id = ? GROUP BY day ORDER BY day",
  )
    .bind(organizationId)
    .all<{ day: string; requests: number; cost: number }>()
  return results
}

async function keptOf(organizationId: string) {
  const row = await env.DB.prepare("SELECT count(*) AS kept FROM generations WHERE organization_id = ?")
    .bind(organizationId)
    .first<{ kept: number }>()
  return row?.kept
}

describe("usage by day", () => {
  test("late and repeated generations are counted once", async () => {
    const event = fc.record({
      daysAgo: fc.integer({ min: 0, max: 4 }),
      nano: fc.integer({ min: 0, max: 1_000 }),
      deliveries: fc.integer({ min: 1, max: 3 }),
      sumsAfter: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (arrivals) => {
        const organizationId = newId()
        for (const { daysAgo, nano, deliveries, sumsAfter } of arrivals) {
          const one = generation(organizationId, today - daysAgo * DAY_MS + 5_000, nano)
          for (let at = 0; at < deliveries; at += 1) await insert([one])
          if (sumsAfter) await sumDays(env.DB, NOW, organizationId)
        }
        await sumDays(env.DB, NOW, organizationId)
        const over = arrivals.filter(({ daysAgo }) => daysAgo > 0)
        const days = await daysOf(organizationId)
        expect(days.reduce((sum, day) => sum + day.cost, 0)).toBe(over.reduce((sum, one) => sum + one.nano, 0))
        expect(days.reduce((sum, day) => sum + day.requests, 0)).toBe(over.length)
        const [sums] = await readKeySums(env.DB, organizationId, NOW)
        expect(sums?.total_spent ?? 0).toBe(arrivals.reduce((sum, one) => sum + one.nano, 0))
        const ofToday = arrivals.filter(({ daysAgo }) => daysAgo === 0)
        expect(sums?.daily_spent ?? 0).toBe(ofToday.reduce((sum, one) => sum + one.nano, 0))
      }),
      { numRuns: runs(0.4) },
    )
  })

  test("the sums of scopes equal their records, also after these are pruned", async () => {
    const organizationId = newId()
    const old = today - 60 * DAY_MS
    const scoped = (at: number, nano: number, more: object) => generation(organizationId, at, nano, { ...more })
    await insert([
      scoped(old, 5, { countedIn: ["provider:a", "guardrail:g:key:k"] }),
      scoped(old, 7, { countedIn: [], atProviders: { a: 3, b: 7 } }),
      scoped(old, 9, { atProviders: { a: 9 } }),
      scoped(today - DAY_MS, 11, { countedIn: ["provider:a"] }),
      scoped(today, 0, { byokCostNano: 13, isByok: true, countedIn: [], atProviders: { b: 13 } }),
    ])
    const expected = [
      { scope: "guardrail:g:key:k", total_spent: 5, total_byok: 0, monthly_spent: 0, daily_byok: 0 },
      { scope: "provider:a", total_spent: 19, total_byok: 0, monthly_spent: 11, daily_byok: 0 },
      { scope: "provider:b", total_spent: 7, total_byok: 13, monthly_spent: 0, daily_byok: 13 },
    ]
    const sums = async () => (await readScopeSums(env.DB, organizationId, NOW)).toSorted(byScope)
    await sumDays(env.DB, NOW, organizationId)
    expect(await sums()).toMatchObject(expected)
    await pruneGenerations(env.DB, NOW, 35)
    expect(await keptOf(organizationId)).toBe(2)
    await insert([scoped(old, 1, { countedIn: ["provider:a"] })])
    await sumDays(env.DB, NOW, organizationId)
    expect(await sums()).toMatchObject(expected)
  })

  test("a day and the total are unchanged after its generations are pruned", async () => {
    const organizationId = newId()
    const old = today - 60 * DAY_MS
    await insert([generation(organizationId, old, 5), generation(organizationId, old + 1, 7)])
    await insert([generation(organizationId, today, 11)])
    await pruneGenerations(env.DB, NOW, 35)
    expect(await keptOf(organizationId)).toBe(3)
    await sumDays(env.DB, NOW, organizationId)
    await pruneGenerations(env.DB, NOW, 35)
    expect(await keptOf(organizationId)).toBe(1)
    // A repeated record finds its day already summed.
    await insert([generation(organizationId, old, 5)])
    await sumDays(env.DB, NOW, organizationId)
    expect(await daysOf(organizationId)).toEqual([{ day: dayOf(old), requests: 2, cost: 12 }])
    const [sums] = await readKeySums(env.DB, organizationId, NOW)
    expect(sums?.total_spent).toBe(23)
  })

  test("a rejected call is counted separately, and its cost is included", async () => {
    const organizationId = newId()
    const refused = { ending: "refused", tokens: {} }
    await insert([generation(organizationId, today - 1, 3), generation(organizationId, today - 1, 2, refused)])
    await sumDays(env.DB, NOW, organizationId)
    const row = await env.DB.prepare("SELECT requests, refused, cost_nano FROM usage_days WHERE organization_id = ?")
      .bind(organizationId)
      .first()
    expect(row).toEqual({ requests: 1, refused: 1, cost_nano: 5 })
  })
})
