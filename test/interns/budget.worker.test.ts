import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { internChat } from "../support/intern-chat.ts"
import { good } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import {
  type TestClient,
  client,
  expectJson,
  newKey,
  newMember,
  newWorkspace,
  operatorClient,
  type Workspace,
} from "../support/world.ts"

/** The cost of a call of played/flat in nano-USD. */
const CENT = 10_000_000
const DAY_MS = 24 * 3_600_000
const spend = (as: TestClient) => as.chat("played/flat", "Hi", { play: good("Hello there") })

type Budget = {
  limit?: number | null
  limit_reset?: string | null
  limit_remaining?: number | null
  daily_limit?: number | null
  daily_limit_remaining?: number | null
  usage?: number
  usage_daily?: number
}
type Intern = Budget & { id: string; status: string }

const make = (as: TestClient, input: Record<string, unknown>) =>
  expectJson<Intern>(201, as.post("/interns", { name: "ada", ...input }))
const read = (as: TestClient, id: string) => expectJson<Intern>(200, as.get(`/interns/${id}`))

async function ownKey(workspace: Workspace, id: string): Promise<TestClient> {
  return client((await openInternKey(env, workspace, id)).key)
}

async function revokeKeyOf(workspace: Workspace, id: string): Promise<void> {
  const hash = await env.DB.prepare("SELECT hash FROM api_keys WHERE intern_id = ? AND deleted_at IS NULL")
    .bind(id)
    .first<string>("hash")
  await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
}

async function refusal(status: number, answer: Promise<Response>) {
  return (await expectJson<{ error: { message: string; metadata: { reason: string } } }>(status, answer)).error
}

describe("the budget of an intern", () => {
  test("has a total or periodic limit and a daily limit, and reports usage and remainders", async () => {
    const workspace = await newWorkspace()
    const made = await make(workspace.as, { limit: 0.05, daily_limit: 0.02 })
    expect(made).toMatchObject({
      limit: 0.05,
      limit_reset: null,
      limit_remaining: 0.05,
      daily_limit: 0.02,
      daily_limit_remaining: 0.02,
      usage: 0,
      usage_daily: 0,
    })
    const internKey = await ownKey(workspace, made.id)
    expect((await spend(internKey)).status).toBe(200)
    expect(await read(workspace.as, made.id)).toMatchObject({
      limit_remaining: 0.04,
      daily_limit_remaining: 0.01,
      usage: 0.01,
      usage_daily: 0.01,
    })
    const { data } = await expectJson<{ data: Intern[] }>(200, workspace.as.get("/interns"))
    expect(data[0]).toMatchObject({ usage: 0.01, limit: 0.05 })
    const ownKeyFields = await expectJson<{ data: Budget }>(200, internKey.get("/key"))
    expect(ownKeyFields.data).toMatchObject({ limit: 0.05, limit_remaining: 0.01 })
  })

  test("without limits reports usage and null remainders", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, {})
    await spend(await ownKey(workspace, id))
    expect(await read(workspace.as, id)).toMatchObject({
      limit: null,
      limit_reset: null,
      limit_remaining: null,
      daily_limit: null,
      daily_limit_remaining: null,
      usage: 0.01,
    })
  })

  test("changes immediately and in part, and null removes a limit", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { limit: 0, limit_reset: "monthly", daily_limit: 1 })
    const internKey = await ownKey(workspace, id)
    expect((await spend(internKey)).status).toBe(402)
    expect(await expectJson(200, workspace.as.patch(`/interns/${id}`, { limit: 0.5 }))).toMatchObject({
      limit: 0.5,
      limit_reset: "monthly",
      daily_limit: 1,
    })
    expect((await spend(internKey)).status).toBe(200)
    const none = { limit: null, limit_reset: null, daily_limit: null }
    expect(await expectJson(200, workspace.as.patch(`/interns/${id}`, none))).toMatchObject(none)
    const log = await expectJson<{ data: { action: string; changed_fields: string[]; changes: unknown }[] }>(
      200,
      workspace.manage.get("/audit"),
    )
    const change = log.data.find(({ action }) => action === "intern.update")
    expect(change?.changed_fields).toEqual(["limit", "limit_reset", "daily_limit"])
  })

  test.each([
    [{ limit: -1 }, "limit"],
    [{ limit: "1" }, "limit"],
    [{ limit: 0.123456789123 }, "limit"],
    [{ limit_reset: "yearly" }, "limit_reset"],
    [{ daily_limit: 1e9 }, "daily_limit"],
  ])("%j is rejected with 400, and the error names %s", async (input, field) => {
    const { as } = await newWorkspace()
    const { message, metadata } = await refusal(400, as.post("/interns", { name: "ada", ...input }))
    expect(metadata.reason).toBe("invalid_body")
    expect(message).toContain(`${field}:`)
    const { id } = await make(as, {})
    expect((await refusal(400, as.patch(`/interns/${id}`, input))).message).toContain(`${field}:`)
  })

  test("never exceeds the limit of the key that created the intern", async () => {
    const workspace = await newWorkspace()
    const maker = await newKey(workspace, { limit: 0.02 })
    const { id } = await make(maker.as, { limit: 1, daily_limit: 1 })
    const internKey = await ownKey(workspace, id)
    const statuses: number[] = []
    for (let call = 0; call < 3; call++) statuses.push((await spend(internKey)).status)
    expect(statuses).toEqual([200, 200, 402])
    expect((await spend(maker.as)).status).toBe(402)
  })

  test("keeps its usage when the intern gets a new key", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { limit: 0.03, daily_limit: 0.5 })
    const former = await ownKey(workspace, id)
    for (let call = 0; call < 2; call++) expect((await spend(former)).status).toBe(200)
    await revokeKeyOf(workspace, id)
    await expectJson(202, workspace.manage.post(`/interns/${id}/provision`, undefined))
    expect(await read(workspace.manage, id)).toMatchObject({
      limit: 0.03,
      limit_remaining: 0.01,
      daily_limit: 0.5,
      usage: 0.02,
    })
    const internKey = await ownKey(workspace, id)
    expect((await spend(former)).status).toBe(401)
    expect((await spend(internKey)).status).toBe(200)
    expect((await spend(internKey)).status).toBe(402)
  })

  test("is changed only by the creating key, keys of its user and management keys", async () => {
    const workspace = await newWorkspace()
    const [ann, bob] = [await newMember(workspace, "ann"), await newMember(workspace, "bob")]
    const maker = await newKey(workspace, { creator_user_id: ann })
    const second = await newKey(workspace, { creator_user_id: ann })
    const other = await newKey(workspace, { creator_user_id: bob })
    const { id } = await make(maker.as, { daily_limit: 0.01 })
    for (const change of [{ limit: 5 }, { limit_reset: "daily" }, { daily_limit: null }]) {
      expect((await refusal(403, other.as.patch(`/interns/${id}`, change))).metadata.reason).toBe("forbidden")
      await refusal(403, (await ownKey(workspace, id)).patch(`/interns/${id}`, change))
    }
    for (const { as } of [maker, second, { as: workspace.manage }]) {
      expect(await expectJson(200, as.patch(`/interns/${id}`, { limit: 5 }))).toMatchObject({ limit: 5 })
    }
    const seen = await expectJson<Intern>(200, other.as.patch(`/interns/${id}`, { description: "Ours" }))
    expect(Object.keys(seen).filter((name) => /limit|usage/.test(name))).toEqual([])
    expect(Object.keys(await read(other.as, id)).filter((name) => /limit|usage/.test(name))).toEqual([])
    expect(await read(await ownKey(workspace, id), id)).toMatchObject({ limit: 5, usage: 0 })
  })

  describe("with a fake clock", () => {
    beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 0, 6, 12) }))
    afterEach(() => vi.useRealTimers())

    test("ends a turn over the limit with 402, and allows turns after the reset", async () => {
      const workspace = await newWorkspace()
      const made = await make(workspace.as, { model: "sim/echo", provision: true, daily_limit: 0 })
      const chat = internChat(workspace.key, made.id)
      const refused = await (await chat.send("Hello")).all()
      expect(refused.finish).toBe("error")
      expect(refused.error).toMatchObject({ code: 402, metadata: { reason: "turn_failed", retryable: false } })
      expect(refused.error?.message).toContain("this intern's limit")
      expect(refused.error?.message).toContain("wait for its daily reset")
      await expectJson(200, workspace.as.patch(`/interns/${made.id}`, { daily_limit: 0.01 }))
      await spend(await ownKey(workspace, made.id))
      expect((await (await chat.send("Hello")).all()).error?.code).toBe(402)
      vi.setSystemTime(Date.now() + DAY_MS)
      expect((await (await chat.send("Hello again")).all()).text).toBe("Hello again")
    })

    type Step =
      | { is: "spend"; calls: number }
      | { is: "limit"; cents: number | null }
      | { is: "daily"; cents: number | null }
      | { is: "tomorrow" }
      | { is: "new key" }
    const cents = fc.option(fc.nat(8), { nil: null })
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 5, arbitrary: fc.record({ is: fc.constant("spend" as const), calls: fc.integer({ min: 1, max: 5 }) }) },
      { weight: 2, arbitrary: fc.record({ is: fc.constant("limit" as const), cents }) },
      { weight: 2, arbitrary: fc.record({ is: fc.constant("daily" as const), cents }) },
      { weight: 1, arbitrary: fc.constant({ is: "tomorrow" as const }) },
      { weight: 1, arbitrary: fc.constant({ is: "new key" as const }) },
    )

    test("is exact in any order of calls, changes, days and new keys", async () => {
      await fc.assert(
        fc.asyncProperty(cents, cents, fc.array(step, { minLength: 1, maxLength: 12 }), async (all, day, steps) => {
          const usd = (amount: number | null) => (amount === null ? null : amount / 100)
          const workspace = await newWorkspace()
          const { id } = await make(workspace.manage, { limit: usd(all), daily_limit: usd(day) })
          const model = { all, day, total: 0, today: 0 }
          for (const one of steps) {
            if (one.is === "spend") {
              const internKey = await ownKey(workspace, id)
              const answers = await Promise.all(Array.from({ length: one.calls }, () => spend(internKey)))
              for (const answer of answers) await answer.text()
              const served = answers.filter(({ status }) => status === 200).length
              expect(answers.every(({ status }) => status === 200 || status === 402)).toBe(true)
              const room = Math.min(
                model.all === null ? Infinity : Math.max(0, model.all - model.total),
                model.day === null ? Infinity : Math.max(0, model.day - model.today),
              )
              expect(served).toBeLessThanOrEqual(room)
              // A single call gets all that is left; concurrent calls hold more than they finally cost.
              if (one.calls === 1) expect(served).toBe(room >= 1 ? 1 : 0)
              model.total += served
              model.today += served
            } else if (one.is === "limit" || one.is === "daily") {
              const change = one.is === "limit" ? { limit: usd(one.cents) } : { daily_limit: usd(one.cents) }
              await expectJson(200, workspace.manage.patch(`/interns/${id}`, change))
              if (one.is === "limit") model.all = one.cents
              else model.day = one.cents
            } else if (one.is === "tomorrow") {
              vi.setSystemTime(Date.now() + DAY_MS)
              model.today = 0
            } else {
              await revokeKeyOf(workspace, id)
              await expectJson(202, workspace.manage.post(`/interns/${id}/provision`, undefined))
            }
            const left = (limit: number | null, spent: number) => (limit === null ? null : Math.max(0, limit - spent))
            const shown = await read(workspace.manage, id)
            const inCents = (value: number | null | undefined) => (value == null ? value : Math.round(value * 100))
            expect({
              usage: inCents(shown.usage),
              day: inCents(shown.usage_daily),
              left: inCents(shown.limit_remaining),
              leftToday: inCents(shown.daily_limit_remaining),
            }).toEqual({
              usage: model.total,
              day: model.today,
              left: left(model.all, model.total),
              leftToday: left(model.day, model.today),
            })
          }
          const balance = await workspace.ledger.balance()
          expect(balance.spentNano).toBe(model.total * CENT)
          const body = { organization_id: workspace.organizationId }
          const { data } = await expectJson<{ data: { drifts: unknown[] }[] }>(
            200,
            operatorClient.post("/reconciliations", body),
          )
          expect(data[0]?.drifts).toEqual([])
        }),
        { numRuns: runs(0.6) },
      )
    })
  })
})
