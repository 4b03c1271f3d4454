import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { mockReceivers, type Received } from "../observability/receiver.ts"
import { runs } from "../support/runs.ts"
import { openHolds } from "../support/world.ts"
import { call, events, messageOf, newSetup, result, text } from "./server.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

const OUTCOMES = ["result", "failed-tool", "streamed", "error", "status", "cut", "wrong-id", "denied"] as const
type Outcome = (typeof OUTCOMES)[number]
const CHARGED: readonly Outcome[] = ["result", "failed-tool", "streamed"]

/** Responds as the arguments of the call request. */
function scripted(received: Received): Response {
  const { id, params } = messageOf(received)
  switch (params?.arguments?.["outcome"] as Outcome) {
    case "failed-tool":
      return Response.json(result(id, { ...text("no"), isError: true }))
    case "streamed":
      return events({ jsonrpc: "2.0", method: "notifications/progress", params: {} }, result(id, text("yes")))
    case "error":
      return Response.json({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } })
    case "status":
      return new Response("no", { status: 503 })
    case "cut":
      return events({ jsonrpc: "2.0", method: "notifications/progress", params: {} }, "data: {")
    case "wrong-id":
      return Response.json(result("other", {}))
    default:
      return Response.json(result(id, text("yes")))
  }
}

const nano = fc.integer({ min: 0, max: 3_000_000_000 })

test("tool calls cost the sum of the prices of completed calls, and never exceed the limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ tool: fc.constantFrom("a", "b", "c"), outcome: fc.constantFrom(...OUTCOMES) }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.record({ a: nano, b: nano }),
      nano,
      fc.integer({ min: 0, max: 8_000_000_000 }),
      async (calls, prices, priceNano, limitNano) => {
        const server = {
          price_per_call_usd: priceNano / 1e9,
          tool_prices_usd: { a: prices.a / 1e9, b: prices.b / 1e9 },
        }
        const key = { mcp_tools: ["search/a", "search/b", "search/c"], limit: limitNano / 1e9 }
        const { as, workspace, hash } = await newSetup(scripted, server, key)
        let spent = 0
        for (const { tool, outcome } of calls) {
          const price = { ...prices, c: priceNano }[tool] ?? 0
          const { error } = await call(as, outcome === "denied" ? "d" : tool, { outcome })
          const fits = spent + price <= limitNano
          if (CHARGED.includes(outcome) && fits) spent += price
          expect(error === undefined).toBe(CHARGED.includes(outcome) && fits)
          if (!fits && outcome !== "denied") expect(error?.data?.code).toBe(402)
          // Settled amounts apply to the next call.
          expect((await workspace.ledger.balance()).spentNano).toBe(spent)
        }
        const [counters] = await workspace.ledger.usage([hash])
        expect(counters?.total.spent).toBe(spent)
        expect(await openHolds(workspace)).toEqual([])
      },
    ),
    { numRuns: runs(1) },
  )
})

test("concurrent calls stay within the limit of the key", async () => {
  const { as, workspace } = await newSetup(scripted, { price_per_call_usd: 0.3 }, { limit: 1 })
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(as, "a", { outcome: "result" })))
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(3)
  expect((await workspace.ledger.balance()).spentNano).toBe(900_000_000)
})
