import { expect, test } from "vitest"
import { simulate } from "./simulate.ts"

test("a busy isolate sends its ledger many calls with each request, and no separate holds", async () => {
  // One isolate with 300 calls a second, two in five of them long enough to be registered and renewed.
  const { perSecond, requests } = await simulate(300, 1)
  expect(perSecond.settlements).toBeGreaterThan(280)
  expect(requests).toBeLessThan(15)
  expect(perSecond.holds).toBeLessThan(3)
})
