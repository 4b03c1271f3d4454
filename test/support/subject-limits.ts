import { runInDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { expect, vi } from "vitest"
import { DAY_MS } from "../../src/support/time/time.ts"
import { expectJson, operatorClient, type Workspace } from "./world.ts"

/** Calls of one subject under a guardrail with a budget for each, and what the ledger counted for it, in USD. */
export type Subjects = {
  call: (subject: string, prompt: string) => Promise<Response>
  spentBy: (subject: string) => Promise<number>
}

/** Concurrent calls of random subjects: none spends more than `limitUsd`, and each is counted exactly. */
export function expectLimitForEach(subject: fc.Arbitrary<string>, limitUsd: number, open: () => Promise<Subjects>) {
  const calls = fc.array(fc.record({ subject, length: fc.integer({ min: 1, max: 800 }) }), {
    minLength: 4,
    maxLength: 14,
  })
  const property = fc.asyncProperty(calls, async (planned) => {
    const { call, spentBy } = await open()
    const costs = new Map<string, number>()
    const statuses = await Promise.all(
      planned.map(async ({ subject: one, length }) => {
        const answer = await call(one, "y".repeat(length))
        const { usage } = await answer.json<{ usage?: { cost: number } }>()
        costs.set(one, (costs.get(one) ?? 0) + (usage?.cost ?? 0))
        return answer.status
      }),
    )
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([])
    for (const [one, cost] of costs) {
      expect(cost).toBeLessThanOrEqual(limitUsd)
      expect(await spentBy(one)).toBeCloseTo(cost, 9)
    }
  })
  return fc.assert(property, { numRuns: 5 })
}

/**
 * The counter of the one subject of a workspace whose scope contains `part` is not reconciled or alerted, and is
 * removed when its windows have ended. Uses fake timers.
 */
export async function expectCounterUntilWindowsEnd({ organizationId, object }: Workspace, part: string): Promise<void> {
  const reconcile = () =>
    expectJson<{ data: { drifts: unknown[] }[] }>(
      200,
      operatorClient.post("/reconciliations", { organization_id: organizationId }),
    )
  const rows = () =>
    runInDurableObject(object, (_, { storage }) => ({
      counters: storage.sql.exec("SELECT scope FROM counters WHERE scope GLOB ?", `*:${part}:*`).toArray().length,
      alerts: storage.sql.exec("SELECT mark FROM alerts WHERE mark GLOB ?", `*:${part}:*`).toArray().length,
      all: storage.sql.exec("SELECT scope FROM counters").toArray().length,
    }))
  expect((await reconcile()).data[0]?.drifts).toEqual([])
  const before = await rows()
  expect(before).toMatchObject({ counters: 1, alerts: 0 })
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 40 * DAY_MS })
  expect((await reconcile()).data[0]?.drifts).toEqual([])
  expect(await rows()).toMatchObject({ counters: 0, all: before.all - 1 })
}
