import { runDurableObjectAlarm } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { eventually } from "../support/eventually.ts"
import { DONE, chunk, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newKey, newMember, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

let stop = () => {}
afterEach(() => stop())

const mockPlayed = (answer: Parameters<typeof mockProvider>[0]) => mockProvider(answer).stop

/** Waits until `look` finds a value. */
const found = <T>(look: () => Promise<T | undefined>) =>
  eventually(async () => {
    const value = await look()
    expect(value).toBeDefined()
    return value as T
  })

type Call = {
  duration_ms: number | null
  id: string
  model: string
  provider: string | null
  key: { hash: string; name: string | null }
  status: number
  outcome: string
  cost: number
  error: { code: string; message: string; reason?: string } | null
  session_id: string | null
  created_at: string
}
type List = { data: Call[]; has_more: boolean; next_cursor: string | null; truncated: boolean }
type CallDetail = Call & {
  trail: { provider: string; status: number | null; error: { code: string; message: string } | null }[]
  guardrails: { name: string; action: string; patterns: string[] }[]
  arithmetic: { lines: { kind: string; amount: string }[]; total: string; paid_by: string }
  held: { amount: string; limits: { kind: string; name: string; limit: number; interval: string | null }[] } | null
  times: Record<"received" | "sent" | "first_token" | "last_token" | "settled", string | null>
  session: Call[]
  content: { input: { messages: unknown[] }; output: { completion: string | null } } | null
  tokens_by_kind: Record<string, number>
}

const list = (as: TestClient, query = "") => expectJson<List>(200, as.get(`/calls${query}`))
const readCall = async (as: TestClient, id: string) =>
  (await expectJson<{ data: CallDetail }>(200, as.get(`/calls/${id}`))).data

type Stored = { at: number; model?: string; provider?: string; key?: string; status?: number; ending?: string }
type More = {
  requestedModel?: string
  cost?: number
  session?: string
  app?: string
  user?: string
  preset?: string
  workspaceId?: string
  /** Milliseconds until the call failed, without content. */
  failedAfter?: number
}

/** Stores calls as the ledger delivers them. */
async function store({ organizationId, workspaceId }: Workspace, calls: (Stored & More)[]): Promise<string[]> {
  const records = calls.map(({ at, model = "a/one", provider = "P", key = "k", status = 200, ...more }) => ({
    id: `gen-${newId()}`,
    organizationId,
    workspaceId: more.workspaceId ?? workspaceId,
    keyHash: key,
    createdAt: at - (more.failedAfter ?? 10),
    settledAt: at,
    requestId: `req-${at}`,
    apiType: "completions",
    requestedModel: more.requestedModel ?? model,
    streamed: false,
    model,
    provider,
    upstreamId: null,
    isByok: false,
    costNano: more.cost ?? 1_000,
    byokCostNano: 0,
    tokens: { prompt: 10, completion: 5, cached: 0, reasoning: 0 },
    tokensFrom: "upstream",
    finishReason: "stop",
    ending: more.ending ?? "complete",
    status,
    latencyMs: more.failedAfter === undefined ? 5 : null,
    generationMs: more.failedAfter === undefined ? 5 : null,
    serviceTier: null,
    attempts: [],
    sessionId: more.session ?? null,
    appTitle: more.app ?? null,
    appUrl: null,
    userAgent: null,
    ...(more.user !== undefined && { externalUser: more.user }),
    ...(more.preset !== undefined && { presetId: more.preset }),
  }))
  await insertGenerations(
    env.DB,
    records.map((record) => JSON.stringify(record)),
  )
  return records.map(({ id }) => id)
}

/** Waits until the calls that the ledger charged are in the database. */
async function delivered({ ledger, object }: Workspace): Promise<void> {
  await ledger.balance()
  await runDurableObjectAlarm(object)
}

describe("GET /calls", () => {
  test("lists calls with their cost, newest first", async () => {
    const workspace = await newWorkspace()
    for (const text of ["One", "Two"]) await (await workspace.as.chat("sim/echo", text)).text()
    await delivered(workspace)
    const { data, has_more: more } = await list(workspace.manage)
    expect(data.map(({ model, outcome, status }) => [model, outcome, status])).toEqual([
      ["sim/echo", "ok", 200],
      ["sim/echo", "ok", 200],
    ])
    expect(data[0]?.created_at.localeCompare(data[1]?.created_at ?? "")).toBeGreaterThanOrEqual(0)
    expect(data[0]?.cost).toBeGreaterThan(0)
    expect(more).toBe(false)
  })

  test("has the time until a call without content failed, also in the order by duration", async () => {
    const workspace = await newWorkspace()
    const now = Date.now()
    const waited = { status: 504, ending: "refused", failedAfter: 60_000 }
    const [answered, failed] = await store(workspace, [{ at: now - 1 }, { at: now - 2, ...waited }])
    const { data } = await list(workspace.manage, "?sort=-duration")
    expect(data.map(({ id, duration_ms: ms }) => [id, ms])).toEqual([
      [failed, 60_000],
      [answered, 10],
    ])
  })

  test("lists a rejected call with its status and reason", async () => {
    const workspace = await newWorkspace()
    const limited = await newKey(workspace, { limit: 0.000000001 })
    await expectJson(404, workspace.as.chat("nobody/nothing", "Hi"))
    await expectJson(400, workspace.as.chat("sim/echo", "Hi", { temperature: 9 }))
    await expectJson(402, limited.as.chat("sim/echo", "Hi"))
    const refused = await found(async () => {
      const { data } = await list(workspace.manage, "?status=refused")
      return data.length === 3 ? data : undefined
    })
    const byStatus = new Map(refused.map((call) => [call.status, call]))
    expect([...byStatus.keys()].toSorted()).toEqual([400, 402, 404])
    expect(byStatus.get(404)).toMatchObject({ model: "nobody/nothing", outcome: "refused", cost: 0, provider: null })
    expect(byStatus.get(402)?.error).toMatchObject({ code: "payment_required", reason: "key_limit" })
    expect(byStatus.get(402)?.key.hash).toBe(limited.hash)
    expect(byStatus.get(400)?.error?.message).toContain("temperature")
    expect(byStatus.get(400)?.model).toBe("sim/echo")
  })

  test("names the guardrail that blocked a call", async () => {
    const workspace = await newWorkspace()
    const rules = {
      name: "No addresses",
      content_filter_builtins: [{ slug: "email", action: "block" }],
    }
    const { as } = await guarded(workspace, rules)
    await expectJson(403, as.chat("sim/echo", "Write to ada@example.com"))
    const blocked = await found(async () => (await list(as)).data[0])
    expect(blocked).toMatchObject({ status: 403, outcome: "refused", error: { reason: "guardrail_blocked" } })
    expect(JSON.stringify(blocked)).not.toContain("ada@example.com")
    expect((await readCall(as, blocked.id)).error?.message).toContain('"No addresses"')
  })

  test("records a limited number of rejected calls a minute", async () => {
    const workspace = await newWorkspace()
    const refused = Array.from({ length: 80 }, () =>
      workspace.as.chat("nobody/nothing", "Hi").then((one) => one.text()),
    )
    await Promise.all(refused)
    const { data } = await found(async () => {
      const page = await list(workspace.manage, "?limit=200")
      return page.data.length >= 60 ? page : undefined
    })
    // At most twice the limit: the minute may change in between.
    expect(data.length).toBeLessThanOrEqual(80)
  })

  test("accepts each filter repeatedly and negated", async () => {
    const workspace = await newWorkspace()
    const now = Date.now()
    await store(workspace, [
      { at: now - 1, model: "a/one", status: 200, app: "Studio", session: "s1", user: "ada", preset: "p1" },
      { at: now - 2, model: "a/two", status: 429, ending: "refused", provider: "Q", session: "s1" },
      { at: now - 3, model: "b/one", requestedModel: "team/fast", status: 502, ending: "error", key: "other" },
      { at: now - 4, model: "b/one", status: 499, ending: "cancelled", workspaceId: "elsewhere" },
    ])
    const count = async (query: string) => (await list(workspace.manage, query)).data.length
    expect(await count("?model=a/one")).toBe(1)
    expect(await count("?model=a/one&model=b/one")).toBe(3)
    expect(await count("?model=!b/one")).toBe(2)
    expect(await count("?requested_model=team/fast")).toBe(1)
    expect(await count("?requested_model=!team/fast")).toBe(3)
    expect(await count("?provider=Q")).toBe(1)
    expect(await count("?status=429")).toBe(1)
    expect(await count("?status=4xx")).toBe(2)
    expect(await count("?status=failed")).toBe(2)
    expect(await count("?status=ok&status=cancelled")).toBe(2)
    expect(await count("?status=!ok&status=!429")).toBe(2)
    expect(await count("?key=other")).toBe(1)
    expect(await count("?key=!other")).toBe(3)
    expect(await count("?session_id=s1")).toBe(2)
    expect(await count("?session_id=!s1")).toBe(2)
    expect(await count("?user=ada")).toBe(1)
    expect(await count("?preset=p1")).toBe(1)
    expect(await count("?preset=!p1")).toBe(3)
    expect(await count("?app=Studio")).toBe(1)
    expect(await count("?app=")).toBe(3)
    expect(await count("?workspace=default")).toBe(3)
    expect(await count(`?workspace=!${workspace.workspaceId}`)).toBe(1)
    for (const unknown of ["no-such-workspace", "!no-such-workspace", (await newWorkspace()).workspaceId, ""]) {
      await expectJson(404, workspace.manage.get(`/calls?workspace=default&workspace=${unknown}`))
    }
    for (const status of ["refusd", "!", "42", "600", ""]) {
      await expectJson(400, workspace.manage.get(`/calls?status=ok&status=${status}`))
    }
    expect(await count("?q=STUDIO")).toBe(1)
    expect(await count("?q=b/on&status=5xx")).toBe(1)
    expect(await count(`?from=${new Date(now - 3).toISOString()}&to=${new Date(now - 1).toISOString()}`)).toBe(2)
  })

  test("filters by the member who owns the key, within the organization", async () => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    const ada = await newMember(workspace, `ada-${newId()}`)
    const bob = await newMember(workspace, `bob-${newId()}`)
    const [one, two, third] = [
      await newKey(workspace, { creator_user_id: ada }),
      await newKey(workspace, { creator_user_id: ada }),
      await newKey(workspace, { creator_user_id: bob }),
    ]
    const now = Date.now()
    await store(workspace, [
      { at: now - 1, key: one.hash },
      { at: now - 2, key: two.hash },
      { at: now - 3, key: third.hash },
      { at: now - 4, key: "without-a-creator" },
    ])
    await store(other, [{ at: now - 1, key: one.hash }])
    await expectJson(404, one.as.chat("nobody/nothing", "Hi"))
    await found(async () => ((await list(workspace.manage)).data.length === 5 ? true : undefined))
    const keysOf = async (query: string, as = workspace.manage) => {
      const { data } = await list(as, query)
      return data.map(({ key }) => key.hash).toSorted()
    }
    expect(await keysOf(`?creator_user_id=${ada}`)).toEqual([one.hash, one.hash, two.hash].toSorted())
    expect(await keysOf(`?creator_user_id=${ada}&status=refused`)).toEqual([one.hash])
    expect(await keysOf(`?creator_user_id=${ada}&creator_user_id=${bob}`)).toHaveLength(4)
    expect(await keysOf(`?creator_user_id=!${ada}`)).toEqual([third.hash, "without-a-creator"].toSorted())
    expect(await keysOf("?creator_user_id=")).toEqual(["without-a-creator"])
    expect(await keysOf(`?creator_user_id=${ada}`, third.as)).toEqual([])
  })

  test.each([
    "?limit=0",
    "?limit=201",
    "?sort=price",
    "?cursor=x",
    "?from=yesterday",
    "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
  ])("%s: returns 400 with the parameter and the rule", async (query) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(400, workspace.manage.get(`/calls${query}`))
    expect(error.message).toMatch(/^(limit|sort|cursor|from): /)
  })

  test("returns every call once over all pages, in every order and with any filter", async () => {
    const workspace = await newWorkspace()
    const now = Date.now()
    const made = fc.sample(
      fc.record({
        at: fc.integer({ min: now - 20, max: now - 1 }),
        cost: fc.nat(5),
        model: fc.constantFrom("a/x", "b/y"),
      }),
      { numRuns: 40, seed: 7 },
    )
    await store(workspace, made)
    const search = fc.record({
      sort: fc.constantFrom("-time", "cost", "-cost", "-tokens", "duration"),
      limit: fc.integer({ min: 1, max: 15 }),
      filter: fc.constantFrom("", "&model=a/x", "&model=!a/x", "&status=ok"),
    })
    await fc.assert(
      fc.asyncProperty(search, async ({ sort, limit, filter }) => {
        const seen: Call[] = []
        for (let cursor = "", more = true; more;) {
          const page = await list(workspace.manage, `?sort=${sort}&limit=${limit}${filter}${cursor}`)
          seen.push(...page.data)
          more = page.has_more
          cursor = `&cursor=${page.next_cursor}`
        }
        const all = await list(workspace.manage, `?sort=${sort}&limit=200${filter}`)
        expect(seen.map(({ id }) => id)).toEqual(all.data.map(({ id }) => id))
        expect(new Set(seen.map(({ id }) => id)).size).toBe(
          made.filter(({ model }) =>
            filter.startsWith("&model=") ? (model === "a/x") === !filter.includes("!") : true,
          ).length,
        )
        if (sort === "-cost") {
          expect(seen.map(({ cost }) => cost)).toEqual(seen.map(({ cost }) => cost).toSorted((a, b) => b - a))
        }
      }),
      { numRuns: runs(0.3) },
    )
  })

  test("uses an index for the most common lists", async () => {
    const plan = async (sql: string) => {
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).all<{ detail: string }>()
      return results.map(({ detail }) => detail).join("; ")
    }
    const order = "ORDER BY settled_at DESC, id DESC LIMIT 51"
    const from = "SELECT id FROM generations WHERE organization_id = 'o'"
    expect(await plan(`${from} AND settled_at < 9 ${order}`)).toMatch(
      /^SEARCH generations USING .*generations_settled[^;]*$/,
    )
    expect(await plan(`${from} AND key_hash = 'k' ${order}`)).toMatch(
      /^SEARCH generations USING .*generations_by_key[^;]*$/,
    )
    expect(await plan(`${from} AND record ->> 'sessionId' = 's' ${order}`)).toMatch(
      /^SEARCH generations USING .*generations_session[^;]*$/,
    )
  })
})

describe("visibility of calls", () => {
  test("a management key lists its organization's calls, a normal key only its calls", async () => {
    const [mine, other] = await Promise.all([newWorkspace(), newWorkspace()])
    const [one, two] = await Promise.all([newKey(mine), newKey(mine)])
    for (const { as } of [one, two]) await (await as.chat("sim/echo", "Hi")).text()
    await expectJson(404, one.as.chat("nobody/nothing", "Hi"))
    await delivered(mine)
    await found(async () => ((await list(mine.manage)).data.length === 3 ? true : undefined))
    const ofKey = await list(one.as)
    expect(ofKey.data.map(({ key }) => key.hash)).toEqual([one.hash, one.hash])
    expect((await list(one.as, `?key=${two.hash}`)).data).toEqual([])
    expect((await list(one.as, "?status=ok")).data).toHaveLength(1)
    const all = await list(mine.manage)
    for (const { id, key } of all.data) {
      await readCall(mine.manage, id)
      await expectJson(404, other.manage.get(`/calls/${id}`))
      await expectJson(404, other.as.get(`/calls/${id}`))
      await expectJson(key.hash === one.hash ? 200 : 404, one.as.get(`/calls/${id}`))
    }
    expect((await list(other.manage)).data).toEqual([])
    expect((await list(other.manage, "?q=echo")).data).toEqual([])
    expect((await list(other.manage, `?key=${one.hash}`)).data).toEqual([])
  })
})

async function guarded(workspace: Workspace, rules: Record<string, unknown>) {
  type Made = { data: { id: string } }
  const { data } = await expectJson<Made>(201, workspace.manage.post("/guardrails", rules))
  const key = await newKey(workspace)
  const assigned = { key_hashes: [key.hash] }
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, assigned))
  return key
}

function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, text) => {
    const [digits = "0", fraction = ""] = text.replace("-", "").split(".")
    const pico = BigInt(digits + fraction.padEnd(12, "0"))
    return text.startsWith("-") ? sum - pico : sum + pico
  }, 0n)
}

describe("GET /calls/{id}", () => {
  test("itemizes the cost and names the limits it was held against", async () => {
    const workspace = await newWorkspace()
    await expectJson(
      200,
      workspace.manage.put(`/workspaces/${workspace.workspaceId}/budgets/monthly`, { limit_usd: 50 }),
    )
    const { as } = await newKey(workspace, { name: "Capped", limit: 5, limit_reset: "daily" })
    stop = mockPlayed(() => sse([...good("Hello").slice(0, -2), usageChunk(123, 45), DONE]))
    const response = await as.chat("played/m80", "Hi", { stream: true, session_id: "s-1" })
    await response.text()
    const id = response.headers.get("x-generation-id") ?? ""
    const returned = await readCall(as, id)
    expect(returned).toMatchObject({ status: 200, outcome: "ok", session_id: "s-1" })
    expect(returned.tokens_by_kind).toMatchObject({ prompt: 123, completion: 45 })
    expect(returned.arithmetic.paid_by).toBe("balance")
    expect(returned.arithmetic.lines.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["prompt", "completion"]))
    expect(sumOf(returned.arithmetic.lines.map(({ amount }) => amount))).toBe(sumOf([returned.arithmetic.total]))
    expect(Number(returned.arithmetic.total)).toBeCloseTo(returned.cost, 12)
    expect(Number(returned.held?.amount)).toBeGreaterThan(returned.cost)
    expect(returned.held?.limits).toMatchObject([
      { kind: "key", name: "Capped", limit: 5, interval: "daily" },
      { kind: "budget", name: "Default", limit: 50, interval: "monthly" },
    ])
    const { received, sent, first_token: first, last_token: last, settled } = returned.times
    const times = [received, sent, first, last, settled].map((time) => Date.parse(time ?? ""))
    expect(times.toSorted((a, b) => a - b)).toEqual(times)
  })

  test("shows every attempt with its error, and the response to the client", async () => {
    const workspace = await newWorkspace()
    stop = mockPlayed(() => Response.json({ error: { message: "slow down" } }, { status: 429 }))
    const response = await workspace.as.chat("played/m80", "Hi")
    await expectJson(429, response)
    const returned = await readCall(workspace.as, response.headers.get("x-generation-id") ?? "")
    expect(returned).toMatchObject({ status: 429, outcome: "failed", error: { code: "rate_limited" } })
    expect(returned.trail.length).toBeGreaterThan(0)
    expect(returned.trail[0]).toMatchObject({ status: 429, error: { code: "rate_limited", message: "slow down" } })
    expect(returned.arithmetic).toMatchObject({ lines: [], total: "0", paid_by: "nobody" })
    // A call that was sent is recorded once, by its generation.
    await delivered(workspace)
    expect((await list(workspace.manage)).data.map(({ outcome }) => outcome)).toEqual(["failed"])
  })

  test("reports the ending of a stream that broke off", async () => {
    const workspace = await newWorkspace()
    stop = mockPlayed(() => sse([chunk({ content: "Half an" })]))
    const response = await workspace.as.chat("played/m80", "Hi", { stream: true })
    await response.text()
    const returned = await readCall(workspace.as, response.headers.get("x-generation-id") ?? "")
    expect(returned).toMatchObject({ outcome: "failed", ending: "cut", error: { code: "provider_failed" } })
  })

  test("returns the session's other calls and, if the workspace logs it, the content", async () => {
    const workspace = await newWorkspace()
    await expectJson(
      200,
      workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { is_observability_io_logging_enabled: true }),
    )
    const { as } = await newKey(workspace)
    const ids: string[] = []
    for (const text of ["First", "Second"]) {
      const response = await as.chat("sim/echo", text, { session_id: "talk" })
      await response.text()
      ids.push(response.headers.get("x-generation-id") ?? "")
    }
    await delivered(workspace)
    const returned = await found(async () => {
      const one = await readCall(as, ids[1] ?? "")
      return one.content ? one : undefined
    })
    expect(returned.session.map(({ id }) => id)).toEqual([ids[0]])
    expect(returned.content?.input.messages).toMatchObject([{ role: "user", content: "Second" }])
  })

  test("shows a guardrail that redacted, without the text that it found", async () => {
    const workspace = await newWorkspace()
    const rules = {
      name: "Hide addresses",
      content_filter_builtins: [{ slug: "email", action: "redact" }],
    }
    const { as } = await guarded(workspace, rules)
    const response = await as.chat("sim/echo", "Write to ada@example.com")
    await response.text()
    const returned = await readCall(as, response.headers.get("x-generation-id") ?? "")
    expect(returned.guardrails).toMatchObject([{ name: "Hide addresses", action: "redact", patterns: ["email"] }])
    await delivered(workspace)
    const listed = async (found: string) =>
      (await list(workspace.manage, `?guardrail=${found}`)).data.map(({ id }) => id)
    for (const found of ["redact", "email", "Hide%20addresses"])
      expect(await listed(found), found).toEqual([returned.id])
    expect(await listed("flag")).toEqual([])
    expect(JSON.stringify(returned)).not.toContain("ada@example.com")
  })

  test("adds up for calls that were charged before prices were recorded", async () => {
    const workspace = await newWorkspace()
    const [id = ""] = await store(workspace, [{ at: Date.now(), cost: 1_234 }])
    const returned = await readCall(workspace.manage, id)
    expect(returned.arithmetic).toEqual({
      lines: [{ kind: "unitemized", units: null, price: null, amount: "0.000001234" }],
      total: "0.000001234",
      paid_by: "balance",
    })
    expect(returned.held).toBeNull()
  })
})
