import * as fc from "fast-check"
import { expect, test } from "vitest"
import { EndpointHealth } from "../../src/routing/health.ts"

const KEPT = 100
const completion = fc.option(fc.integer({ min: 0, max: 100_000 }))

test("the expected completion of an endpoint is the mean of its last hundred samples with a completion", () => {
  fc.assert(
    fc.property(fc.array(completion, { maxLength: 250 }), (completions) => {
      const health = new EndpointHealth()
      for (const [at, tokens] of completions.entries()) {
        health.measured("e", { at, latencyMs: null, tokensPerSecond: null, completion: tokens, isGood: true })
      }
      const known = completions.slice(-KEPT).flatMap((tokens) => tokens ?? [])
      const mean = known.length === 0 ? undefined : Math.ceil(known.reduce((sum, one) => sum + one, 0) / known.length)
      expect(health.expectedCompletion("e")).toBe(mean)
    }),
  )
})
