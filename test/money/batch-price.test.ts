import * as fc from "fast-check"
import { expect, test } from "vitest"
import { batchPricing } from "../../src/money/batch-price.ts"
import { priceToPico } from "../../src/money/money.ts"
import { Pricing } from "../../src/money/pricing.ts"

test("batch pricing applies the percentage to every price", () => {
  const pricing = { prompt: "0.0000025", completion: "0.00001", request: "0.01", input_cache_read: "0.000000000001" }
  expect(batchPricing(pricing, 50)).toEqual({
    prompt: "0.00000125",
    completion: "0.000005",
    request: "0.005",
    input_cache_read: "0.000000000001",
  })
})

test("a batch price is valid, exact to the pico-dollar and rounded up", () => {
  const price = fc.stringMatching(/^\d{1,6}\.\d{1,12}$/)
  fc.assert(
    fc.property(price, fc.integer({ min: 1, max: 100 }), (prompt, percent) => {
      const reduced = batchPricing({ prompt, completion: "0" }, percent)
      expect(Pricing.safeParse(reduced).success).toBe(true)
      const [exact, rounded] = [priceToPico(prompt) * BigInt(percent), priceToPico(reduced.prompt) * 100n]
      expect(rounded >= exact && rounded < exact + 100n).toBe(true)
      expect(reduced.completion).toBe("0")
    }),
  )
})
