import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { hashKey } from "../../src/access/key.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { eventually } from "../support/eventually.ts"
import { good, mockProvider, sse } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newWorkspace, operatorClient } from "../support/world.ts"

/** The cost of a call of played/flat for any text. */
const CENT = 0.01

const limits = fc.record({
  limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
  limit_reset: fc.constantFrom(null, "daily", "weekly", "monthly"),
  daily_limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
})
const budget = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null })
const step = fc.oneof({ weight: 3, arbitrary: fc.constant("call" as const) }, fc.constantFrom("deleted", "disabled"))

test("however often an intern's key is replaced, its limits and the budgets of its guardrails are spent once", async () => {
  const workspace = await newWorkspace()
  const cases = fc.asyncProperty(
    limits,
    budget,
    fc.array(step, { minLength: 4, maxLength: 14 }),
    async (rules, budgetCents, steps) => {
      const usd = (cents: number | null) => (cents === null ? null : cents * CENT)
      const name = `a${crypto.randomUUID().slice(0, 8)}`
      const terms = { limit: usd(rules.limit), limit_reset: rules.limit_reset, daily_limit: usd(rules.daily_limit) }
      const { id } = await expectJson<{ id: string }>(
        201,
        workspace.manage.post("/interns", { name, model: "played/flat", ...terms }),
      )
      const path = `/interns/${id}`
      const guardrail = { name, limit_usd: usd(budgetCents), reset_interval: budgetCents === null ? null : "daily" }
      const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", guardrail))
      const keyOf = async () => (await openInternKey(env, workspace, id)).key
      const hash = hashKey(await keyOf())
      const keys = `/guardrails/${data.id}/assignments/keys`
      await expectJson(200, workspace.manage.post(keys, { key_hashes: [hash] }))
      const caps = [rules.limit, rules.daily_limit, budgetCents].filter((cap) => cap !== null)
      let served = 0
      for (const one of steps) {
        if (one === "call") {
          const response = await client(await keyOf()).chat("played/flat", "Hi", { play: good("Hello there") })
          await response.text()
          expect(response.status === 200).toBe(caps.every((cap) => served < cap))
          if (response.status === 200) served += 1
        } else {
          const before = `/keys/${hashKey(await keyOf())}`
          if (one === "deleted") await expectJson(200, workspace.manage.delete(before))
          else await expectJson(200, workspace.manage.patch(before, { disabled: true }))
          await expectJson(202, workspace.manage.post(`${path}/provision`, {}))
        }
      }
      const intern = await expectJson<{ usage: number; usage_daily: number }>(200, workspace.manage.get(path))
      expect(intern).toMatchObject({ usage: usd(served), usage_daily: usd(served) })
      const current = await keyOf()
      const left = caps.length === 0 || rules.limit === null ? null : usd(rules.limit - served)
      const record = await expectJson<{ data: object }>(200, workspace.manage.get(`/keys/${hashKey(current)}`))
      expect(record.data).toMatchObject({ limit_remaining: left === null ? null : expect.closeTo(left, 9) })
      const inForce = await expectJson<{ data: { kind: string; id: string }[] }>(
        200,
        client(current).get("/key/limits"),
      )
      const ids = inForce.data.flatMap((limit) => (limit.kind === "key" ? [limit.id] : []))
      for (const one of ids) expect(one).toBe(hashKey(current))
    },
  )
  await fc.assert(cases, { numRuns: runs(0.3) })
  const { data } = await expectJson<{ data: { drifts: unknown[] }[] }>(
    200,
    operatorClient.post("/reconciliations", { organization_id: workspace.organizationId }),
  )
  expect(data[0]?.drifts).toEqual([])
})

test("a call of the replaced key that ends after the replacement counts under the limit of the new key", async () => {
  const workspace = await newWorkspace()
  const intern = { name: "ada", model: "played/flat", limit: CENT, limit_reset: "daily" }
  const { id } = await expectJson<{ id: string }>(201, workspace.manage.post("/interns", intern))
  const keyOf = async () => (await openInternKey(env, workspace, id)).key
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const { stop, upstreamCalls } = mockProvider(async () => {
    if (upstreamCalls.length === 1) await promise
    return sse(good("Hello there"))
  })
  onTestFinished(stop)
  const former = await keyOf()
  const running = client(former).chat("played/flat", "Hi", { stream: true })
  await eventually(() => expect(upstreamCalls).toHaveLength(1))
  await expectJson(200, workspace.manage.delete(`/keys/${hashKey(former)}`))
  await expectJson(202, workspace.manage.post(`/interns/${id}/provision`, {}))
  // The amount that the running call holds is not left for the new key.
  await expectJson(402, client(await keyOf()).chat("played/flat", "Hi"))
  resolve(undefined)
  const response = await running
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("[DONE]")])
  await eventually(async () => {
    const record = await expectJson<object>(200, workspace.manage.get(`/interns/${id}`))
    expect(record).toMatchObject({ usage: CENT, usage_daily: CENT, limit_remaining: 0 })
  })
  await expectJson(402, client(await keyOf()).chat("played/flat", "Hi"))
})
