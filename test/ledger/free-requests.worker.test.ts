import { runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import {
  currentFree,
  dailyLimit,
  type FreeLimits,
  NO_FREE_REQUESTS,
  countFreeRequest,
} from "../../src/ledger/free-requests.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { newKey, newWorkspace, openHolds, expectJson, readStream, type Workspace } from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
type Key = { data: { free_model_daily_requests: { limit: number; used: number; remaining: number } } }

const LIMITS: FreeLimits = { perMinute: 3, perDay: 5, perDayPaid: 9, paidFromNano: 10 }
const NOON = Date.UTC(2026, 10, 21, 12, 0, 30)
const MINUTE = 60_000

function take(count: typeof NO_FREE_REQUESTS, now: number, credited = 0) {
  return countFreeRequest(count, LIMITS, credited, now)
}

describe("requests on free models", () => {
  test("have a limit per minute and per UTC day", () => {
    let count = NO_FREE_REQUESTS
    const made: string[] = []
    for (const now of [NOON, NOON, NOON, NOON, NOON + MINUTE, NOON + MINUTE, NOON + MINUTE]) {
      const taken = take(count, now)
      made.push("count" in taken ? "ok" : taken.rejection.window)
      if ("count" in taken) ({ count } = taken)
    }
    expect(made).toEqual(["ok", "ok", "ok", "minute", "ok", "ok", "day"])
    expect(take(count, NOON)).toEqual({ rejection: { limit: 5, window: "day", resetAt: Date.UTC(2026, 10, 22) } })
    expect("count" in take(count, Date.UTC(2026, 10, 22))).toBe(true)
  })

  test("have a higher daily limit after a purchase of credit", () => {
    expect([dailyLimit(LIMITS, 9), dailyLimit(LIMITS, 10)]).toEqual([5, 9])
  })

  test("keep their counts when the clock steps back", () => {
    const taken = take(NO_FREE_REQUESTS, NOON)
    const count = "count" in taken ? taken.count : NO_FREE_REQUESTS
    expect(currentFree(count, NOON - 10 * MINUTE)).toMatchObject({ minute: 1, day: 1 })
  })

  test("start over when a clock that was a year ahead is right again", () => {
    const taken = take(NO_FREE_REQUESTS, NOON + 365 * 24 * 60 * MINUTE)
    const count = "count" in taken ? taken.count : NO_FREE_REQUESTS
    expect(currentFree(count, NOON)).toMatchObject({ minute: 0, day: 0, dayStart: Date.UTC(2026, 10, 21) })
  })
})

describe("the free requests of an account", () => {
  test("return 429 when the minute is used up by all keys, without a hold; paid models still work", async () => {
    const workspace = await newWorkspace()
    const second = await newKey(workspace)
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => (index % 2 ? second.as : workspace.as).chat("sim/echo:free", "Hi")),
    )
    const statuses = answers.map(({ status }) => status)
    // A minute may end in between, which allows as many again.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20)
    const refused = answers.find(({ status }) => status === 429)
    if (refused) {
      expect(refused.headers.get("x-ratelimit-limit")).toBe("20")
      expect(refused.headers.get("x-ratelimit-remaining")).toBe("0")
      expect(Number(refused.headers.get("x-ratelimit-reset"))).toBeGreaterThan(Date.now() - MINUTE)
      const { error } = await expectJson<Failure>(429, refused)
      expect(error.metadata).toEqual({ reason: "free_model_limit", retryable: true })
    }
    const served = answers.find(({ status }) => status === 200)
    expect([...(served?.headers.keys() ?? [])].filter((name) => name.startsWith("x-ratelimit"))).toEqual([])
    const { data } = await expectJson<Key>(200, workspace.as.get("/key"))
    const used = statuses.filter((status) => status === 200).length
    expect(data.free_model_daily_requests).toEqual({ limit: 1_000, used, remaining: 1_000 - used })
    await expectJson(200, workspace.as.chat("sim/echo", "Hi"))
    expect(await openHolds(workspace)).toEqual([])
  })

  test("have the lower daily limit without purchased credit", async () => {
    const workspace = await newWorkspace(1)
    const { data } = await expectJson<Key>(200, workspace.as.get("/key"))
    expect(data.free_model_daily_requests).toEqual({ limit: 50, used: 0, remaining: 50 })
  })

  const usedBy = async ({ as }: Workspace) =>
    (await expectJson<Key>(200, as.get("/key"))).data.free_model_daily_requests.used

  test("count a call that falls back to a free model, once, and none that a paid model serves", async () => {
    const workspace = await newWorkspace()
    const send = (models: string[], more = {}) =>
      workspace.as.post("/chat/completions", { models, messages: [{ role: "user", content: "Hi" }], ...more })
    await expectJson(200, send(["sim/echo", "sim/echo:free"]))
    expect(await usedBy(workspace)).toBe(0)
    expect(await expectJson(200, send(["sim/status-503", "sim/echo:free"]))).toMatchObject({ model: "sim/echo:free" })
    expect(await usedBy(workspace)).toBe(1)
    await readStream(send(["sim/status-503", "sim/echo:free"], { stream: true }))
    expect(await usedBy(workspace)).toBe(2)
    await expectJson(200, send(["sim/echo:free", "sim/echo"]))
    expect(await usedBy(workspace)).toBe(3)
    await expectJson(200, send(["Sim/Echo:FREE"]))
    expect(await usedBy(workspace)).toBe(4)
  })

  test("count a call whose BYOK credential is rejected, since the gateway's key serves it", async () => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/byok", { provider: "pooled", key: "own-key-0123456789" }))
    mockProvider(({ headers }) =>
      headers.get("authorization")?.includes("own-key")
        ? Response.json({ error: { message: "no such key" } }, { status: 401 })
        : Response.json({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] }),
    )
    const { as } = await newKey(workspace)
    await expectJson(200, as.chat("pooled/gift:free", "Hi"))
    expect(await usedBy(workspace)).toBe(1)
  })

  test("skip free fallbacks beyond the limit, and return 429 if no other model serves the call", async () => {
    const workspace = await newWorkspace()
    const dayStart = Math.ceil(Date.now() / 86_400_000) * 86_400_000
    const count = { minute: 0, minuteStart: 0, day: 1_000, dayStart }
    await runInDurableObject(workspace.object, (_, { storage }) => {
      storage.sql.exec("INSERT OR REPLACE INTO counters VALUES ('free', ?)", JSON.stringify(count))
    })
    const send = (...models: string[]) =>
      workspace.as.post("/chat/completions", { models, messages: [{ role: "user", content: "Hi" }] })
    const refused = await send("sim/status-503", "sim/echo:free")
    expect(refused.headers.get("x-ratelimit-limit")).toBe("1000")
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0")
    expect(Number(refused.headers.get("x-ratelimit-reset"))).toBe(dayStart + 86_400_000)
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    const { error } = await expectJson<Failure>(429, refused)
    expect(error.metadata).toEqual({ reason: "free_model_limit", retryable: true })
    for (const models of [
      ["sim/status-503", "sim/echo:free", "sim/echo"],
      ["sim/echo:free", "sim/echo"],
    ])
      expect(await expectJson(200, send(...models))).toMatchObject({ model: "sim/echo", usage: { is_byok: false } })
    await expectJson(429, send("sim/echo:free"))
    expect(await openHolds(workspace)).toEqual([])
  })
})
