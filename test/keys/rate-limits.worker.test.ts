import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { client, expectJson, newKey, newMember, newWorkspace, readStream, type TestClient } from "../support/world.ts"

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
type Rates = Record<"requests_per_minute" | "tokens_per_minute" | "concurrent_requests", number | null>

/** The clock of the windows: a minute passes only when a test advances it. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - (Date.now() % 60_000) + 15_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

const call = (as: TestClient, more = {}) => as.chat("sim/echo", "Hello there.", { max_tokens: 20, ...more })

async function refused(answer: Promise<Response>) {
  const response = await answer
  const { error } = await expectJson<Failure>(429, response)
  return { error, headers: response.headers }
}

describe("requests per minute", () => {
  test("of a key return 429 beyond the limit, until the minute ends", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { requests_per_minute: 3 })
    for (let turn = 0; turn < 3; turn++) await expectJson(200, call(as))
    const { error, headers } = await refused(call(as))
    expect(error.message).toBe(
      "This key may start 3 requests per minute, and has started 3. Retry in 45 seconds, or raise the limit.",
    )
    expect(error.metadata).toEqual({ reason: "key_rate_limit", retryable: true })
    expect(headers.get("retry-after")).toBe("45")
    expect(headers.get("x-ratelimit-limit")).toBe("3")
    expect(headers.get("x-ratelimit-remaining")).toBe("0")
    expect(headers.get("x-ratelimit-reset")).toBe(String(Date.now() + 45_000))
    vi.setSystemTime(Date.now() + 45_000)
    await expectJson(200, call(as))
  })

  test("are counted exactly for concurrent requests", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { requests_per_minute: 300 })
    const statuses: number[] = []
    for (let round = 0; round < 8; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call(as)))
      for (const answer of answers) {
        await answer.text()
        statuses.push(answer.status)
      }
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(300)
    // The last requests can leave at most a share of the limit in a lease.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(290)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
  })

  test("of a workspace count all of its keys, and those of a guardrail each key separately", async () => {
    const workspace = await newWorkspace()
    const [first, second] = [await newKey(workspace), await newKey(workspace)]
    await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { requests_per_minute: 2 }))
    await expectJson(200, call(first.as))
    await expectJson(200, call(second.as))
    const { error } = await refused(call(first.as))
    expect(error.metadata?.["reason"]).toBe("workspace_rate_limit")
    expect(error.message).toContain("The workspace may start 2 requests per minute")
    await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { requests_per_minute: null }))
    const guardrail = { name: "Slow", requests_per_minute: 1 }
    const { data } = await expectJson<{ data: { id: string } & Rates }>(
      201,
      workspace.manage.post("/guardrails", guardrail),
    )
    expect(data).toMatchObject({ requests_per_minute: 1, tokens_per_minute: null, concurrent_requests: null })
    const hashes = { key_hashes: [first.hash, second.hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, hashes))
    await expectJson(200, call(first.as))
    const refusal = await refused(call(first.as))
    expect(refusal.error.message).toContain('Under the guardrail "Slow", this key may start 1 request per minute')
    expect(refusal.error.metadata?.["reason"]).toBe("guardrail_rate_limit")
    await expectJson(200, call(second.as))
  })

  test("of a member's guardrail count all keys of the member", async () => {
    const workspace = await newWorkspace()
    const user = await newMember(workspace, `user-${crypto.randomUUID()}`)
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "Member", requests_per_minute: 1 }),
    )
    await expectJson(
      200,
      workspace.manage.post(`/guardrails/${data.id}/assignments/members`, { member_user_ids: [user] }),
    )
    const [first, second] = [
      await newKey(workspace, { creator_user_id: user }),
      await newKey(workspace, { creator_user_id: user }),
    ]
    await expectJson(200, call(first.as))
    expect((await refused(call(second.as))).error.message).toContain("this member may start 1 request per minute")
  })

  test("of a key apply to the keys that it created", async () => {
    const workspace = await newWorkspace()
    const parent = await newKey(workspace, { kind: "provisioning", requests_per_minute: 1 })
    const { key } = await expectJson<{ key: string }>(201, parent.as.post("/keys", { name: "child" }))
    await expectJson(200, call(client(key)))
    expect((await refused(call(client(key)))).error.message).toMatch(
      /^The key \S+, which created this key, may start 1/,
    )
  })

  test("do not count requests rejected with 402", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { requests_per_minute: 1, limit: 0 })
    for (let turn = 0; turn < 3; turn++) await expectJson(402, call(as))
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { limit: 1 }))
    await expectJson(200, call(as))
  })

  test("count requests to free models", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { requests_per_minute: 1 })
    await expectJson(200, as.chat("sim/echo:free", "Hello."))
    await refused(as.chat("sim/echo:free", "Hello."))
  })
})

describe("tokens per minute", () => {
  test("count the tokens that calls used", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { tokens_per_minute: 500 })
    type Usage = { usage: { total_tokens: number } }
    let used = 0
    let last: Response
    for (;;) {
      last = await call(as)
      if (last.status !== 200) break
      const { usage }: Usage = await last.json()
      used += usage.total_tokens
    }
    const { error, headers } = await refused(Promise.resolve(last))
    expect(Number(headers.get("x-ratelimit-remaining"))).toBe(500 - used)
    expect(error.message).toContain(`This key may use 500 tokens per minute, of which ${500 - used} are left.`)
    vi.setSystemTime(Date.now() + 60_000)
    await expectJson(200, call(as))
  })

  test("below the need of a single request return 429 without Retry-After", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { tokens_per_minute: 40 })
    const { error, headers } = await refused(as.chat("sim/echo", "word ".repeat(200)))
    expect(error.message).toContain("It can never fit: send a shorter prompt, or raise the limit.")
    expect(error.metadata).toEqual({ reason: "key_rate_limit", retryable: false })
    expect(headers.has("retry-after")).toBe(false)
  })
})

describe("concurrent requests", () => {
  test("return 429 beyond the limit until another request ends", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { concurrent_requests: 1 })
    const running = await as.chat("sim/echo", "A long story about a river.", { stream: true })
    const { error, headers } = await refused(call(as))
    expect(error.message).toBe(
      "This key may run 1 request at the same time, and 1 is running. Retry in 1 second, or raise the limit.",
    )
    expect(headers.get("retry-after")).toBe("1")
    expect(headers.get("x-ratelimit-reset")).toBe(String(Date.now() + 1_000))
    expect((await readStream(running)).done).toBe(true)
    for (let turn = 0; turn < 5; turn++) await expectJson(200, call(as))
  })
})

describe("rate limits", () => {
  test("are returned where they are set, changed and removed", async () => {
    const workspace = await newWorkspace()
    const rates: Rates = { requests_per_minute: 10, tokens_per_minute: 1_000, concurrent_requests: 2 }
    const { as, hash } = await newKey(workspace, rates)
    expect(await expectJson(200, as.get("/key"))).toMatchObject({ data: rates })
    const changed = await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { tokens_per_minute: null }))
    expect(changed).toMatchObject({ data: { ...rates, tokens_per_minute: null } })
    const path = `/workspaces/${workspace.workspaceId}`
    expect(await expectJson(200, workspace.manage.patch(path, rates))).toMatchObject({ data: rates })
    expect(await expectJson(200, workspace.manage.get(path))).toMatchObject({ data: rates })
  })

  test.each([0, -1, 1.5, "ten", 1e12])("accept only whole numbers from 1: %s", async (value) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(
      400,
      workspace.manage.post("/keys", { name: "k", requests_per_minute: value }),
    )
    expect(error.message).toContain("requests_per_minute: must be a whole number from 1 to 1000000000")
  })
})
