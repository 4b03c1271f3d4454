import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { invalidateKey } from "../../src/access/key-cache.ts"
import { limitOf } from "../../src/keys/key.ts"
import { good } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"

/** The cost of a call of played/flat for any text. */
const CENT = 0.01
const HOUR = 3_600_000
const inAnHour = () => new Date(Date.now() + HOUR).toISOString()

type Record = {
  data: { limit: number | null; limit_remaining: number; limit_increase: { amount: number; expires_at: string } | null }
}

const increase = (amount: number, expires_at = inAnHour()) => ({ limit_increase: { amount, expires_at } })

async function callWith(key: string): Promise<number> {
  const response = await client(key).chat("played/flat", "Hi", { play: good("Hello there") })
  await response.text()
  return response.status
}

async function limitedKey(workspace: Workspace, input: object = { limit: CENT }) {
  const { key, hash } = await newKey(workspace, { ...input })
  const change = (body: object) => workspace.manage.patch(`/keys/${hash}`, body)
  return { key, hash, change }
}

describe("a temporary increase of a key's limit", () => {
  test("lets calls pass until it is spent", async () => {
    const { key, change } = await limitedKey(await newWorkspace())
    expect(await callWith(key)).toBe(200)
    expect(await callWith(key)).toBe(402)
    const expires_at = inAnHour()
    const { data } = await expectJson<Record>(200, change(increase(CENT, expires_at)))
    expect(data).toMatchObject({
      limit: CENT,
      limit_remaining: CENT,
      limit_increase: { amount: CENT, expires_at },
    })
    expect(await callWith(key)).toBe(200)
    expect(await callWith(key)).toBe(402)
    const current = await expectJson<Record>(200, client(key).get("/key"))
    expect(current.data).toMatchObject({ limit: CENT, limit_remaining: 0, limit_increase: { amount: CENT } })
  })

  test("ends when it is removed, and with the limit", async () => {
    const { key, change } = await limitedKey(await newWorkspace())
    expect(await callWith(key)).toBe(200)
    await expectJson(200, change(increase(1)))
    const { data } = await expectJson<Record>(200, change({ limit_increase: null }))
    expect(data).toMatchObject({ limit_remaining: 0, limit_increase: null })
    expect(await callWith(key)).toBe(402)
    await expectJson(200, change(increase(1)))
    await expectJson(200, change({ limit: null }))
    const again = await expectJson<Record>(200, change({ limit: CENT }))
    expect(again.data).toMatchObject({ limit_remaining: 0, limit_increase: null })
  })

  test("never stays without a limit, whatever other changes are sent at the same time", async () => {
    const workspace = await newWorkspace()
    const changes = fc.constantFrom({ limit: null }, { limit: 1 }, { name: "x" }, increase(1), { limit_increase: null })
    const requests = fc.array(changes, { minLength: 2, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(requests, async (bodies) => {
        const { key, change } = await limitedKey(workspace)
        for (const { status } of await Promise.all(bodies.map(change))) expect([200, 400]).toContain(status)
        const { data } = await expectJson<Record>(200, client(key).get("/key"))
        if (data.limit === null) expect(data.limit_increase).toBeNull()
      }),
      { numRuns: runs(0.4), examples: [[[increase(1), { limit: null }]], [[{ limit: null }, increase(1)]]] },
    )
  })

  test("of an intern's key ends with the limit of the intern", async () => {
    const { as, manage } = await newWorkspace()
    const { id } = await expectJson<{ id: string }>(201, as.post("/interns", { name: "ada", limit: 1 }))
    type Keys = { data: { hash: string; name: string }[] }
    const { data: keys } = await expectJson<Keys>(200, manage.get("/keys?q=ada"))
    const path = `/keys/${keys[0]?.hash}`
    expect((await expectJson<Record>(200, manage.patch(path, increase(1)))).data.limit_increase).not.toBeNull()
    await expectJson(200, as.patch(`/interns/${id}`, { limit: null }))
    expect((await expectJson<Record>(200, manage.get(path))).data).toMatchObject({ limit: null, limit_increase: null })
  })

  test("applies to the keys that the key created", async () => {
    const workspace = await newWorkspace()
    const maker = await limitedKey(workspace, { limit: CENT, kind: "provisioning" })
    const made = await expectJson<{ key: string }>(201, client(maker.key).post("/keys", { name: "child", limit: CENT }))
    expect(await callWith(made.key)).toBe(200)
    const another = await expectJson<{ key: string }>(201, client(maker.key).post("/keys", { name: "b", limit: CENT }))
    expect(await callWith(another.key)).toBe(402)
    await expectJson(200, maker.change(increase(CENT)))
    invalidateKey(maker.hash)
    expect(await callWith(another.key)).toBe(200)
  })

  test("is no longer in effect after its end", async () => {
    const { key, hash, change } = await limitedKey(await newWorkspace())
    expect(await callWith(key)).toBe(200)
    await expectJson(200, change(increase(1)))
    const ended = JSON.stringify({ nano: 1_000_000_000, until: Date.now() - 1 })
    await env.DB.prepare("UPDATE api_keys SET limit_increase = ? WHERE hash = ?").bind(ended, hash).run()
    invalidateKey(hash)
    expect(await callWith(key)).toBe(402)
    expect((await expectJson<Record>(200, client(key).get("/key"))).data).toMatchObject({ limit_increase: null })
  })

  test.each([
    ["of a key without a limit", { limit: null }, increase(1), 400, /this key has no limit/],
    ["that has ended", {}, increase(1, "2020-01-01T00:00:00Z"), 400, /must be in the future/],
    ["that ends in years", {}, increase(1, "2190-01-01T00:00:00Z"), 400, /at most 366 days/],
    ["of nothing", {}, increase(0), 400, /amount: must be more than 0/],
    ["without an end", {}, { limit_increase: { amount: 1 } }, 400, /expires_at/],
  ])("%s is rejected", async (_, input, body, status, message) => {
    const { change } = await limitedKey(await newWorkspace(), { limit: 1, ...input })
    const { error } = await expectJson<{ error: { message: string } }>(status, change(body))
    expect(error.message).toMatch(message)
  })

  test("is rejected for a principal with a limit, which could raise it by keys that it created", async () => {
    const workspace = await newWorkspace()
    const maker = await newKey(workspace, { kind: "provisioning", limit: 5 })
    const made = await expectJson<{ data: { hash: string } }>(201, maker.as.post("/keys", { name: "child", limit: 1 }))
    const rejected = maker.as.patch(`/keys/${made.data.hash}`, increase(10))
    const { error } = await expectJson<{ error: { message: string } }>(403, rejected)
    expect(error.message).toBe("limit_increase: only a key without a limit may increase limits.")
    await expectJson(200, workspace.manage.patch(`/keys/${made.data.hash}`, increase(10)))
  })

  test("adds to the limit before its end, and nothing after it, whatever the limit", () => {
    const amount = fc.integer({ min: 0, max: 10 ** 15 })
    const reset = fc.constantFrom(null, "daily" as const, "weekly" as const, "monthly" as const)
    const now = fc.integer({ min: 0, max: 4 * 10 ** 12 })
    fc.assert(
      fc.property(amount, amount, reset, now, now, (limitNano, nano, limitReset, until, at) => {
        const key = {
          keyHash: "k",
          counterHash: null,
          limitNano,
          limitReset,
          limitIncrease: { nano, until },
          includeByokInLimit: false,
          dailyLimitNano: null,
          spentBeforeNano: 0,
        }
        expect(limitOf(key, at)?.limitNano).toBe(at < until ? limitNano + nano : limitNano)
      }),
      { numRuns: runs(4) },
    )
  })
})
