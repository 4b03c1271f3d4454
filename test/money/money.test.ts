import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  affordableCompletion,
  maxCost,
  costOf,
  NO_TOKENS,
  nanoToUsd,
  priceToPico,
  usdToNano,
} from "../../src/money/money.ts"

const price = fc.integer({ min: 0, max: 100_000_000 }).map((pico) => `0.${String(pico).padStart(12, "0")}`)
const pricing = fc.record(
  {
    prompt: price,
    completion: price,
    input_cache_read: price,
    input_cache_write: price,
    input_cache_write_1h: price,
    internal_reasoning: price,
    request: price,
  },
  { requiredKeys: ["prompt", "completion"] },
)
const count = fc.integer({ min: 0, max: 5_000_000 })
const tokens = fc
  .record({ prompt: count, completion: count, cached: count, cacheWrite: count, cacheWrite1h: count, reasoning: count })
  .map((drawn) => ({ ...NO_TOKENS, ...drawn }))

describe("money", () => {
  test("a price is exact to the last digit", () => {
    expect(priceToPico("0.0000025")).toBe(2_500_000n)
    expect(priceToPico("0.000000000001")).toBe(1n)
    expect(priceToPico("12")).toBe(12_000_000_000_000n)
  })

  test("many small charges equal one large charge", () => {
    const one = costOf({ ...NO_TOKENS, prompt: 1 }, { prompt: "0.1", completion: "0" })
    expect(one * 3).toBe(300_000_000)
    expect(nanoToUsd(usdToNano(0.1) + usdToNano(0.2))).toBe(0.3)
  })

  test("USD is unchanged after conversion to nano-USD and back", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9_000_000_000_000_000 }),
        (nano) => usdToNano(nanoToUsd(nano)) === nano || nano > 4_503_599_627_370_496,
      ),
    )
  })

  test("cached, written and reasoning tokens are charged as parts of the total", () => {
    fc.assert(
      fc.property(tokens, price, (drawn, same) => {
        const flat = { prompt: same, completion: same }
        const written = { input_cache_write: same, input_cache_write_1h: same }
        const parts = { ...flat, ...written, input_cache_read: same, internal_reasoning: same }
        expect(costOf(drawn, parts)).toBe(costOf(drawn, flat))
      }),
    )
  })

  test("images and audio are charged at their prices", () => {
    const prices = { prompt: "0.000001", completion: "0", image: "0.001", audio: "0.00001" }
    const drawn = { ...NO_TOKENS, prompt: 100, audio: 40, images: 3 }
    expect(costOf(drawn, prices)).toBe(60 * 1_000 + 40 * 10_000 + 3 * 1_000_000)
    expect(maxCost(100, 0, prices, { images: 3 })).toBeGreaterThanOrEqual(costOf(drawn, prices))
  })

  test("no split of the tokens costs more than the bound", () => {
    fc.assert(
      fc.property(tokens, pricing, (drawn, prices) => {
        expect(costOf(drawn, prices)).toBeLessThanOrEqual(maxCost(drawn.prompt, drawn.completion, prices))
      }),
    )
  })

  test("an affordable completion never costs more than the amount", () => {
    fc.assert(
      fc.property(pricing, fc.integer({ min: 0, max: 10_000_000_000 }), (prices, nano) => {
        const most = affordableCompletion(nano, { ...prices, request: "0" })
        if (Number.isFinite(most)) expect(maxCost(0, most, { ...prices, request: "0" })).toBeLessThanOrEqual(nano)
      }),
    )
  })
})
