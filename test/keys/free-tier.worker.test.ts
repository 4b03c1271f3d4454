import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { call, newSetup } from "../mcp/server.ts"
import { mockReceivers, newReceiver } from "../observability/receiver.ts"
import { openSession } from "../support/realtime.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newKey, newWorkspace } from "../support/world.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

const price = fc.integer({ min: 0, max: 2_000_000_000 }).map((nano) => nano / 1e9)

describe("a key of the free tier, which can use only what costs nothing,", () => {
  test("calls tools of an MCP server without a price", async () => {
    await fc.assert(
      fc.asyncProperty(price, async (usd) => {
        const { as, workspace, receiver } = await newSetup(
          undefined,
          { price_per_call_usd: usd },
          { kind: "free_tier" },
        )
        const { error } = await call(as, "query", {})
        expect(error?.data?.code).toBe(usd === 0 ? undefined : 402)
        expect(receiver.got.some(({ body }) => body.includes("tools/call"))).toBe(usd === 0)
        expect((await workspace.ledger.balance()).spentNano).toBe(0)
      }),
      { numRuns: runs(0.3), examples: [[0], [1e-9]] },
    )
  })

  test("sends requests without a price to services that name it", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { kind: "free_tier" })
    const receiver = newReceiver(() => Response.json({ ok: true }))
    const service = { slug: "search", name: "Search", base_url: receiver.url.replace(/\/+$/, "") }
    const rules = [{ path: "/paid", price_usd: 0.01 }, { path: "/free" }]
    await expectJson(201, workspace.manage.post("/passthrough-services", { ...service, rules }))
    await expectJson(403, as.get("/passthrough/search/free"))
    const named = { allowed_api_key_hashes: [hash] }
    await expectJson(200, workspace.manage.patch("/passthrough-services/search", named))
    await expectJson(200, as.get("/passthrough/search/free"))
    const { error } = await expectJson<{ error: { message: string } }>(402, as.get("/passthrough/search/paid"))
    expect(error.message).toContain("free tier")
    expect(receiver.got).toHaveLength(1)
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
  })

  test("has no realtime session with a model that has a price", async () => {
    const workspace = await newWorkspace()
    const { key } = await newKey(workspace, { kind: "free_tier" })
    await expect(openSession(key, "played/live")).rejects.toThrow(/free tier/)
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
  })
})
