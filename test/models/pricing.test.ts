import { describe, expect, test } from "vitest"
import {
  basePricing,
  highestPricing,
  larger,
  shift,
  thresholdsOf,
  toPriceList,
} from "../../src/dev/build/seed-prices.ts"
import { Price, Pricing } from "../../src/money/pricing.ts"

describe("a price", () => {
  test.each(["0", "0.0000025", "15", "999999.999999999999"])("accepts %s", (text) => {
    expect(Price.parse(text)).toBe(text)
  })

  test.each([
    ["a number", 0.0000025],
    ["an exponent", "2.5e-6"],
    ["negative", "-1"],
    ["empty", ""],
    ["without a digit before the point", ".5"],
    ["without a digit after the point", "1."],
    ["finer than twelve decimals", "0.0000000000001"],
    ["one million dollars", "1000000"],
    ["followed by something", "0.1 USD"],
    ["on two lines", "0.1\n"],
  ])("rejects a value that is %s", (_, value) => {
    expect(Price.safeParse(value).error?.issues[0]?.message).toContain("decimal string")
  })
})

test("pricing requires both token prices and rejects unknown names", () => {
  expect(Pricing.safeParse({ prompt: "0" }).success).toBe(false)
  const unknown = Pricing.safeParse({ prompt: "0", completion: "0", per_minute: "1" })
  expect(unknown.error?.issues[0]?.message).toBe("has a price that is not known: per_minute")
})

describe("prices from a list", () => {
  test.each([
    [3.25, 6, "0.00000325"],
    [0.1, 6, "0.0000001"],
    [12, 3, "0.012"],
    [5e-7, 6, "0.000000000001"],
    [1e21, 21, "1"],
    [0.30000000000000004, 6, "0.0000003"],
    [0, 6, "0"],
  ])("%d over ten to the power of %d is %s, without floating-point errors", (value, power, expected) => {
    expect(shift(value, power)).toBe(expected)
  })

  test("the larger of two prices is found by value, not by length", () => {
    expect(larger("0.00001", "0.000009")).toBe("0.00001")
    expect(larger("10", "9.5")).toBe("10")
  })

  test("tiers of prompt length become overrides", () => {
    const tiers = [
      { start: 500_000, price: 8 },
      { start: 200_000, price: 4 },
    ]
    const listed = { input_mtok: { base: 2, tiers }, output_mtok: 12 }
    const at = (tokens: number) => ({ prompt: "0", completion: "0", ...highestPricing(listed, "2026-11-01", tokens) })
    expect(toPriceList(thresholdsOf(listed, "2026-11-01"), at)).toEqual({
      prompt: "0.000002",
      completion: "0.000012",
      overrides: [
        { min_prompt_tokens: 200_000, prompt: "0.000004" },
        { min_prompt_tokens: 500_000, prompt: "0.000008" },
      ],
    })
    expect(basePricing(listed, "2026-11-01")).toEqual({ prompt: "0.000002", completion: "0.000012" })
  })

  test("the highest price ignores past prices, and includes announced and peak prices", () => {
    const from = (start_date: string, price: number) => ({
      constraint: { type: "start_date", start_date } as const,
      prices: { input_mtok: price, output_mtok: price },
    })
    const history = [{ prices: { input_mtok: 9, output_mtok: 9 } }, from("2026-08-17", 1), from("2027-01-01", 2)]
    expect(highestPricing(history, "2026-11-01", 0)).toEqual({ prompt: "0.000002", completion: "0.000002" })
    expect(basePricing(history, "2026-11-01")).toEqual({ prompt: "0.000001", completion: "0.000001" })
    const hours = [from("2026-08-17", 1), { constraint: { type: "time_of_date" } as const, prices: { input_mtok: 3 } }]
    expect(highestPricing(hours, "2026-11-01", 0)).toEqual({ prompt: "0.000003", completion: "0.000001" })
  })
})
