import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { explain } from "../../src/http/schema.ts"
import { batchPricing } from "../../src/money/batch-price.ts"
import { costOf, maxCost, NO_TOKENS } from "../../src/money/money.ts"
import { highestPrices, isFree, plainCall, PriceList, pricedTier, pricesOf } from "../../src/money/price-list.ts"

const BASE = { prompt: "0.000001", completion: "0.000002", input_cache_read: "0.0000001" }
const call = (at = "2026-11-25T12:00:00Z", serviceTier: string | null = null) => ({
  startedAt: Date.parse(at),
  serviceTier,
})

describe("prices of a call", () => {
  const LONG = { min_prompt_tokens: 200_000, prompt: "0.000002", completion: "0.000003" }

  test("an override applies above its number of prompt tokens, not at it", () => {
    const list = { ...BASE, overrides: [LONG] }
    expect(pricesOf(list, 200_000, call())).toEqual(BASE)
    expect(pricesOf(list, 200_001, call())).toEqual({ ...BASE, prompt: "0.000002", completion: "0.000003" })
  })

  test("the last override that applies and has a price decides it; other prices stay", () => {
    const list = { ...BASE, overrides: [LONG, { min_prompt_tokens: 500_000, prompt: "0.000004" }] }
    expect(pricesOf(list, 600_000, call())).toEqual({ ...BASE, prompt: "0.000004", completion: "0.000003" })
  })

  test("a tier has its prices only if the call has it", () => {
    const list = { ...BASE, overrides: [{ service_tier: "flex" as const, prompt: "0.0000005" }] }
    expect(pricesOf(list, 1, call(undefined, "flex")).prompt).toBe("0.0000005")
    for (const tier of [null, "default", "priority"]) expect(pricesOf(list, 1, call(undefined, tier))).toEqual(BASE)
  })

  test.each([
    [{ utc_start: 1_630, utc_end: 30 }, "2026-11-25T16:29:59Z", false],
    [{ utc_start: 1_630, utc_end: 30 }, "2026-11-25T16:30:00Z", true],
    [{ utc_start: 1_630, utc_end: 30 }, "2026-11-26T00:29:59Z", true],
    [{ utc_start: 1_630, utc_end: 30 }, "2026-11-26T00:30:00Z", false],
    [{ utc_start: 0, utc_end: 900 }, "2026-11-25T08:59:59Z", true],
    [{ utc_start: 0, utc_end: 900 }, "2026-11-25T09:00:00Z", false],
    [{ utc_days: ["wednesday" as const] }, "2026-11-25T23:59:59Z", true],
    [{ utc_days: ["wednesday" as const] }, "2026-11-26T00:00:00Z", false],
    [{ utc_days: ["wednesday" as const], utc_start: 100, utc_end: 200 }, "2026-11-25T00:30:00Z", false],
  ])("%j at %s: %s", (conditions, at, isApplied) => {
    const list = { ...BASE, overrides: [{ ...conditions, prompt: "0" }] }
    expect(pricesOf(list, 1, call(at)).prompt === "0").toBe(isApplied)
  })

  test("the request's tiers with a price are those of providers: fast is priority", () => {
    expect(["fast", "priority", "flex", "scale", "auto", "default", null].map(pricedTier)).toEqual([
      "priority",
      "priority",
      "flex",
      "scale",
      null,
      null,
      null,
    ])
  })
})

describe("the upper bound", () => {
  const price = fc.nat(99_999).map((micro) => (micro / 1e9).toFixed(12))
  const tier = fc.constantFrom("flex" as const, "priority" as const, "scale" as const)
  const override = fc
    .record(
      {
        min_prompt_tokens: fc.nat(1_000),
        service_tier: tier,
        prompt: price,
        completion: price,
        input_cache_read: price,
        input_cache_write: price,
        internal_reasoning: price,
        audio: price,
      },
      { requiredKeys: [] },
    )
    .map((one) => one as NonNullable<PriceList["overrides"]>[number])
  const list = fc.record(
    {
      prompt: price,
      completion: price,
      input_cache_read: price,
      internal_reasoning: price,
      overrides: fc.array(override, { maxLength: 4 }),
    },
    { requiredKeys: ["prompt", "completion"] },
  )
  const count = fc.nat(1_000)
  const tokens = fc.record({ prompt: count, completion: count, cached: count, cacheWrite: count, reasoning: count })

  test("covers each call up to its tokens, with the requested tier and without it", () => {
    fc.assert(
      fc.property(list, tokens, count, count, fc.option(tier), (prices, used, more, further, requested) => {
        const held = call(undefined, requested)
        const bound = used.prompt + more
        const most = maxCost(bound, used.completion + further, highestPrices(prices, bound, held))
        for (const granted of [requested, null]) {
          const charged = pricesOf(prices, used.prompt, { ...held, serviceTier: granted })
          expect(costOf({ ...NO_TOKENS, ...used }, charged)).toBeLessThanOrEqual(most)
        }
      }),
    )
  })
})

test("a model is free only if its overrides are", () => {
  const free = { prompt: "0", completion: "0" }
  expect(isFree(free)).toBe(true)
  expect(isFree({ ...free, overrides: [{ min_prompt_tokens: 1, prompt: "0.1" }] })).toBe(false)
  expect(isFree({ ...free, overrides: [{ min_prompt_tokens: 1, prompt: "0" }] })).toBe(true)
})

test("a batch reduces the prices of overrides, too", () => {
  const list = { ...BASE, overrides: [{ min_prompt_tokens: 5, prompt: "0.000003" }] }
  expect(batchPricing(list, 50)).toEqual({
    prompt: "0.0000005",
    completion: "0.000001",
    input_cache_read: "0.00000005",
    overrides: [{ min_prompt_tokens: 5, prompt: "0.0000015" }],
  })
})

describe("a price list is rejected with the field and the rule", () => {
  const errorFor = (overrides: unknown) => {
    const parsed = PriceList.safeParse({ ...BASE, overrides })
    return parsed.success ? "" : explain(parsed.error)
  }

  test.each([
    [{}, "overrides: must be an array of price overrides."],
    [
      [{ prompt: "0.1" }],
      "overrides[0]: needs a condition: min_prompt_tokens, service_tier, utc_start, utc_end, utc_days.",
    ],
    [
      [{ min_prompt_tokens: 1 }],
      "overrides[0]: needs a price: prompt, completion, input_cache_read, input_cache_write, input_cache_write_1h, internal_reasoning, audio, input_audio_cache, audio_output.",
    ],
    [[{ min_prompt_tokens: -1, prompt: "0" }], "overrides[0].min_prompt_tokens: must be an integer of at least 0."],
    [[{ service_tier: "auto", prompt: "0" }], "overrides[0].service_tier: accepts flex, priority, scale."],
    [[{ utc_start: 100, prompt: "0" }], "overrides[0]: needs utc_start and utc_end together, and different."],
    [
      [{ utc_start: 160, utc_end: 200, prompt: "0" }],
      "overrides[0].utc_start: must be a time of day in UTC as a number HHMM, from 0 to 2359.",
    ],
    [[{ min_prompt_tokens: 1, prompt: "0", image: "0" }], "overrides[0]: has a field that is not known: image."],
  ])("%j", (overrides, message) => {
    expect(errorFor(overrides)).toBe(message)
  })

  test("accepts conditions together", () => {
    const override = { min_prompt_tokens: 9, service_tier: "flex", utc_start: 0, utc_end: 1_200, utc_days: ["monday"] }
    expect(errorFor([{ ...override, prompt: "0.1" }])).toBe("")
    expect(pricesOf(PriceList.parse({ ...BASE, overrides: [] }), 1, plainCall())).toEqual(BASE)
  })
})
