import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { runSchedule } from "../../src/app/schedule.ts"
import { newId } from "../../src/support/ids.ts"
import { client, newWorkspace, expectJson } from "../support/world.ts"

type Cell = { app_slug: string; model_permaslug: string; turn_range: string; median_session_cost_usd: number }
type Answer = { data: Cell[]; meta: { version: string; window_days: number; window_end_date: string } }

const NOW = Date.UTC(2026, 10, 23, 3)
const DAY_MS = 86_400_000

/** Sessions of an app, each with `calls` calls of `each` micro-USD. */
async function storeSessions(
  app: string,
  model: string,
  sessions: { calls: number; each: number; at?: number; ending?: string }[],
) {
  const { organizationId, workspaceId } = await newWorkspace()
  const records = sessions.flatMap(({ calls, each, at = NOW - DAY_MS, ending = "complete" }) => {
    const sessionId = newId()
    return Array.from({ length: calls }, () => ({
      id: `gen-${newId()}`,
      organizationId,
      workspaceId,
      keyHash: "k",
      createdAt: at,
      model,
      upstreamId: null,
      costNano: each * 1_000,
      byokCostNano: 0,
      sessionId,
      appTitle: app,
      ending,
    }))
  })
  await insertGenerations(
    env.DB,
    records.map((record) => JSON.stringify(record)),
  )
}

describe("GET /datasets/session-cost", () => {
  test("returns the median cost by app, model and turns, for cells that are large enough", async () => {
    await storeSessions(
      "My Editor",
      "a/one",
      [10, 20, 30, 40, 1_000].map((each) => ({ calls: 1, each })),
    )
    await storeSessions(
      "My Editor",
      "a/one",
      [1, 2, 3, 4, 5, 6].map((each) => ({ calls: 4, each })),
    )
    await storeSessions(
      "My Editor",
      "a/few",
      [1, 2, 3, 4].map((each) => ({ calls: 1, each })),
    )
    await storeSessions(
      "My Editor",
      "a/old",
      [1, 2, 3, 4, 5].map((each) => ({ calls: 1, each, at: NOW - 40 * DAY_MS })),
    )
    await storeSessions(
      "My Editor",
      "a/cut",
      [1, 2, 3, 4, 5].map((each) => ({ calls: 1, each, ending: "cut" })),
    )
    await runSchedule("0 3 * * 1", env, NOW)

    const { as } = await newWorkspace()
    const { data, meta } = await expectJson<Answer>(200, as.get("/datasets/session-cost?app_slug=my-editor"))
    expect(data).toEqual([
      {
        app_name: "My Editor",
        app_slug: "my-editor",
        model_permaslug: "a/one",
        turn_range: "1-turn",
        median_session_cost_usd: 0.00003,
      },
      expect.objectContaining({ turn_range: "2-9-turns", median_session_cost_usd: 0.000014 }) as Cell,
    ])
    expect(meta).toMatchObject({ version: "v1", window_days: 28, window_end_date: "2026-11-22" })
    const filtered = await expectJson<Answer>(
      200,
      as.get("/datasets/session-cost?model=a/one&turn_range=2-9-turns&limit=1"),
    )
    expect(filtered.data).toHaveLength(1)
    expect((await expectJson<Answer>(200, as.get("/datasets/session-cost?offset=5000"))).data).toEqual([])
  })

  test("returns the window before the first run", async () => {
    await env.DB.prepare("DELETE FROM dataset_snapshots").run()
    const { as } = await newWorkspace()
    const { meta } = await expectJson<Answer>(200, as.get("/datasets/session-cost"))
    expect(meta.window_days).toBe(28)
    expect(meta.window_end_date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })

  test.each(["limit=0", "limit=501", "limit=x", "offset=-1", "offset=5001", "turn_range=many"])(
    "rejects %s with its name",
    async (query) => {
      const { as } = await newWorkspace()
      const { error } = await expectJson<{ error: { message: string } }>(400, as.get(`/datasets/session-cost?${query}`))
      expect(error.message).toContain(query.split("=")[0])
    },
  )

  test("needs a key", async () => {
    await expectJson(401, client().get("/datasets/session-cost"))
  })
})
