import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { runs } from "../support/runs.ts"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"

type Row = Record<string, string | number | null>
type Answer = { data: { data: Row[]; metadata: { row_count: number; truncated: boolean } } }

const now = Date.now()
const today = now - (now % DAY_MS)

async function addCalls({ organizationId, workspaceId }: Workspace, calls: Record<string, unknown>[]) {
  const records = calls.map((call) => ({
    id: `gen-${newId()}`,
    organizationId,
    workspaceId,
    keyHash: "k",
    createdAt: today - 5_000,
    settledAt: today - 4_000,
    model: "a/one",
    provider: "P",
    apiType: "completions",
    appTitle: null,
    appUrl: null,
    upstreamId: null,
    costNano: 1_000_000,
    byokCostNano: 0,
    tokens: { prompt: 10, completion: 5, cached: 4, reasoning: 2 },
    latencyMs: 100,
    generationMs: 1_000,
    ending: "complete",
    ...call,
  }))
  await insertGenerations(
    env.DB,
    records.map((record) => JSON.stringify(record)),
  )
}

async function query(workspace: Workspace, question: Record<string, unknown>): Promise<Row[]> {
  const { data } = await expectJson<Answer>(200, workspace.manage.post("/analytics/query", question))
  expect(data.metadata.row_count).toBe(data.data.length)
  return data.data
}

describe("POST /analytics/query", () => {
  test("sums every metric of GET /analytics/meta over past days and today", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [{}, { settledAt: now }, { ending: "refused", costNano: 0, tokens: {}, latencyMs: null }])
    const { data: meta } = await expectJson<{ data: { metrics: { name: string }[] } }>(
      200,
      workspace.manage.get("/analytics/meta"),
    )
    const [row] = await query(workspace, { metrics: meta.metrics.map(({ name }) => name) })
    expect(row).toEqual({
      requests: 2,
      failed_requests: 1,
      error_rate: 1 / 3,
      usage: 0.002,
      byok_usage: 0,
      usage_per_request: 0.001,
      prompt_tokens: 20,
      completion_tokens: 10,
      reasoning_tokens: 4,
      cached_tokens: 8,
      total_tokens: 30,
      cache_hit_rate: 0.4,
      latency: 100,
      generation_time: 1_000,
      throughput: 10_000 / 3_000,
    })
  })

  test("groups by dimensions, sorts by size, filters and limits", async () => {
    const workspace = await newWorkspace()
    const { hash } = await newKey(workspace)
    await addCalls(workspace, [{ model: "a/two" }, { model: "a/two", keyHash: hash }, {}, { appTitle: "An app" }])
    const metrics = ["requests"]
    expect(await query(workspace, { metrics, dimensions: ["model"] })).toEqual([
      { model: "a/one", requests: 2 },
      { model: "a/two", requests: 2 },
    ])
    const ofKey = [{ field: "api_key_hash", operator: "in", value: [hash] }]
    expect(await query(workspace, { metrics, dimensions: ["model"], filters: ofKey })).toEqual([
      { model: "a/two", requests: 1 },
    ])
    const noApp = [{ field: "app", operator: "neq", value: "An app", include_unset: true }]
    expect(await query(workspace, { metrics, dimensions: ["app"], filters: noApp })).toEqual([
      { app: null, requests: 3 },
    ])
    const many = [{ field: "requests", operator: "gte", value: 3 }]
    expect(await query(workspace, { metrics, dimensions: ["app"], filters: many })).toEqual([
      { app: null, requests: 3 },
    ])
    const { data } = await expectJson<Answer>(
      200,
      workspace.manage.post("/analytics/query", { metrics, dimensions: ["model"], limit: 1 }),
    )
    expect(data.metadata).toMatchObject({ row_count: 1, truncated: true })
  })

  test.each([
    ["requests", "gte", "many"],
    ["requests", "lt", ""],
    ["requests", "gt", [1, 2]],
    ["model", "gt", ["a/one", "a/two"]],
  ])("rejects a filter of %s by %s %j, which has no order", async (field, operator, value) => {
    const filters = [{ field, operator, value }]
    const answer = (await newWorkspace()).manage.post("/analytics/query", { metrics: ["requests"], filters })
    const { error } = await expectJson<{ error: { message: string } }>(400, answer)
    expect(error.message).toContain("filters[0].value")
  })

  test("orders rows by a metric that they do not show, before the limit", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [{}, { model: "a/two", costNano: 3_000_000 }, { model: "a/three", costNano: 2_000_000 }])
    const question = { metrics: ["requests"], dimensions: ["model"], limit: 2 }
    const modelsBy = async (direction: string) => {
      const order = { field: "usage", direction }
      return (await query(workspace, { ...question, order_by: order })).map(({ model }) => model)
    }
    expect(await modelsBy("desc")).toEqual(["a/two", "a/three"])
    expect(await modelsBy("asc")).toEqual(["a/one", "a/three"])
  })

  test.each(["date", "app"])("rejects order_by %s, which rows do not have", async (field) => {
    const question = { metrics: ["requests"], dimensions: ["model"], order_by: { field, direction: "asc" } }
    const answer = (await newWorkspace()).manage.post("/analytics/query", question)
    const { error } = await expectJson<{ error: { message: string } }>(400, answer)
    expect(error.message).toContain("order_by.field")
  })

  test("orders texts of a dimension, and a number of a metric in quotes", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [{}, { model: "a/two" }])
    const question = { metrics: ["requests"], dimensions: ["model"] }
    const after = [{ field: "model", operator: "gt", value: "a/one" }]
    expect(await query(workspace, { ...question, filters: after })).toEqual([{ model: "a/two", requests: 1 }])
    const many = [{ field: "requests", operator: "gte", value: "2" }]
    expect(await query(workspace, { ...question, filters: many })).toEqual([])
  })

  test("compares the arms of an alias over past days and today, within the retention of calls", async () => {
    const workspace = await newWorkspace()
    const alias = { requestedModel: "team/fast" }
    const two = { ...alias, model: "a/two", costNano: 3_000_000 }
    await addCalls(workspace, [alias, { ...alias, settledAt: now }, two, { requestedModel: "a/one" }, {}])
    const dimensions = ["requested_model", "model"]
    const ofAlias = [{ field: "requested_model", operator: "eq", value: "team/fast" }]
    const metrics = ["requests", "usage"]
    expect(await query(workspace, { metrics, dimensions, filters: ofAlias })).toEqual([
      { requested_model: "team/fast", model: "a/one", requests: 2, usage: 0.002 },
      { requested_model: "team/fast", model: "a/two", requests: 1, usage: 0.003 },
    ])
    expect(await query(workspace, { metrics: ["requests"], dimensions: ["requested_model"] })).toEqual([
      { requested_model: "team/fast", requests: 3 },
      { requested_model: "a/one", requests: 2 },
    ])
    const start = new Date(now - 100 * DAY_MS).toISOString()
    const question = { metrics, dimensions, time_range: { start, end: new Date(now).toISOString() } }
    expect(await expectJson(400, workspace.manage.post("/analytics/query", question))).toMatchObject({
      error: { message: "time_range: by requested_model, the last 90 days at most." },
    })
  })

  test("compares end users", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [
      { externalUser: "ann" },
      { externalUser: "ann", settledAt: now },
      { externalUser: "bob" },
      {},
    ])
    const question = { metrics: ["requests"], dimensions: ["external_user"] }
    const rows = await query(workspace, question)
    expect(rows).toHaveLength(3)
    expect(rows).toContainEqual({ external_user: "ann", requests: 2 })
    expect(rows).toContainEqual({ external_user: null, requests: 1 })
    const ofBob = [{ field: "external_user", operator: "eq", value: "bob" }]
    expect(await query(workspace, { ...question, filters: ofBob })).toEqual([{ external_user: "bob", requests: 1 }])
  })

  test.each([
    ["minute", (at: number) => at - (at % 60_000)],
    ["hour", (at: number) => at - (at % 3_600_000)],
    ["day", (at: number) => at - (at % DAY_MS)],
    ["month", (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth(), 1)],
  ])("groups by %s", async (granularity, start) => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [{ settledAt: now - 1_000 }])
    const rows = await query(workspace, { metrics: ["requests"], granularity })
    expect(rows).toEqual([{ date: new Date(start(now - 1_000)).toISOString(), requests: 1 }])
  })

  test("returns only the largest groups with group_limit", async () => {
    const workspace = await newWorkspace()
    await addCalls(workspace, [{ model: "a/big" }, { model: "a/big", settledAt: now }, { model: "a/small" }])
    const question = { metrics: ["requests"], dimensions: ["model"], granularity: "day", group_limit: 1 }
    expect((await query(workspace, question)).map(({ model }) => model)).toEqual(["a/big", "a/big"])
  })

  test("counts exactly the calls in the range, for any start and end", async () => {
    const workspace = await newWorkspace()
    const first = today - 3 * DAY_MS
    const times = Array.from({ length: 40 }, (_, index) => first + Math.floor(((now - first) / 40) * index))
    await addCalls(
      workspace,
      times.map((settledAt) => ({ settledAt, createdAt: settledAt })),
    )
    const instant = fc.oneof(fc.integer({ min: first, max: now }), fc.constantFrom(first, today - DAY_MS, today, now))
    await fc.assert(
      fc.asyncProperty(instant, instant, async (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b) + 1]
        const range = { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
        const [row] = await query(workspace, { metrics: ["requests"], time_range: range })
        expect(row?.["requests"] ?? 0).toBe(times.filter((at) => at >= from && at < to).length)
      }),
      { numRuns: runs(0.2) },
    )
  })

  test("counts the complete day for a part of a day whose calls are no longer stored", async () => {
    const workspace = await newWorkspace()
    const day = today - 100 * DAY_MS
    await addCalls(
      workspace,
      [1, 23].map((hour) => ({ settledAt: day + hour * 3_600_000 })),
    )
    const range = {
      start: new Date(day + 20 * 3_600_000).toISOString(),
      end: new Date(day + 22 * 3_600_000).toISOString(),
    }
    expect(await query(workspace, { metrics: ["requests"], time_range: range })).toEqual([{ requests: 2 }])
  })

  test("excludes calls of another organization", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    await addCalls(theirs, [{}])
    expect(await query(mine, { metrics: ["requests"] })).toEqual([])
  })

  test.each([
    ["an unknown metric", { metrics: ["happiness"] }, "metrics[0]"],
    ["no metric", { metrics: [] }, "metrics"],
    ["an unknown dimension", { metrics: ["usage"], dimensions: ["moon"] }, "dimensions[0]"],
    ["an unknown field", { metrics: ["usage"], having: 1 }, "having"],
    ["a classifier", { metrics: ["usage"], classifier_dimensions: { classifier_id: "x" } }, "classifier"],
    [
      "a range that ends before it begins",
      { metrics: ["usage"], time_range: { start: "2026-02-01T00:00:00Z", end: "2026-01-01T00:00:00Z" } },
      "time_range",
    ],
    [
      "a year by minute",
      {
        metrics: ["usage"],
        granularity: "minute",
        time_range: { start: "2025-02-01T00:00:00Z", end: "2026-01-01T00:00:00Z" },
      },
      "time_range",
    ],
  ])("rejects %s", async (_, question, field) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      workspace.manage.post("/analytics/query", question),
    )
    expect(error.message).toContain(field)
  })
})
