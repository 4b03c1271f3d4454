import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toCsv } from "../../../src/console/format/csv.ts"
import { calendarOf } from "../../../src/console/format/calendar.ts"
import { duration } from "../../../src/console/format/duration.ts"
import { batchProviders, findProvider, providerName } from "../../../src/console/format/provider.ts"
import {
  change,
  compact,
  count,
  exactUsd,
  hasExactAmounts,
  perToken,
  pricePerMillion,
  usd,
} from "../../../src/console/format/number.ts"

test("amounts show the significant digits, and never round a charge to zero", () => {
  expect([0, 0.000000001, 0.00000042, 0.0234, 0.5, 1, 1234.5].map(usd)).toEqual([
    "$0",
    "$0.000000001",
    "$0.00000042",
    "$0.0234",
    "$0.50",
    "$1.00",
    "$1,234.50",
  ])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 15 }), (nano) => {
      expect(usd(nano / 1e9)).not.toMatch(/^\$0(\.0*)?$/)
    }),
  )
})

test("the exact amount has every nano-dollar", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 14 }), (nano) => {
      expect(
        Math.round(
          Number(
            exactUsd(nano / 1e9)
              .slice(1)
              .replaceAll(",", ""),
          ) * 1e9,
        ),
      ).toBe(nano)
    }),
  )
})

test("with exact amounts, no digit of an amount is rounded", () => {
  hasExactAmounts.value = true
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 14 }), (nano) => {
      expect(usd(nano / 1e9)).toBe(exactUsd(nano / 1e9))
    }),
  )
  hasExactAmounts.value = false
  expect(exactUsd(1234567.000412501)).toBe("$1,234,567.000412501")
  expect(usd(1234567.000412501)).toBe("$1,234,567.00")
})

test("a price per million tokens converts exactly to a price per token", () => {
  expect(perToken("2.5")).toBe("0.0000025")
  expect(perToken("0")).toBe("0")
  expect(perToken("1000000")).toBe("1")
  expect(perToken("0.000001")).toBe("0.000000000001")
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 999_999 }), (dollars, micro) => {
      const digits = (text: string) => {
        const [integer = "", fraction = ""] = text.split(".")
        return BigInt(integer) * 10n ** 12n + BigInt(fraction.padEnd(12, "0"))
      }
      const text = `${dollars}.${String(micro).padStart(6, "0")}`
      expect(digits(perToken(text))).toBe(BigInt(dollars) * 10n ** 6n + BigInt(micro))
    }),
  )
  expect(pricePerMillion("0")).toBe("free")
})

test("a change from zero has no percentage", () => {
  expect(change(5, 0)).toBeNull()
  expect(change(112, 100)).toBe("+12 %")
  expect(change(50, 100)).toBe("−50 %")
})

test("a cell that begins like a formula is text in a spreadsheet", () => {
  expect(toCsv([{ app: '=HYPERLINK("http://evil.test")', usage: -1 }])).toBe(
    `app,usage\r\n"'=HYPERLINK(""http://evil.test"")",-1`,
  )
  for (const start of ["\n", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"])
    expect(toCsv([{ app: `${start}1` }])).toContain(`'${start}1`)
})

test("numbers are grouped and shortened as by Intl", () => {
  const [dollars, short] = [
    new Intl.NumberFormat("en-US"),
    new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }),
  ]
  expect([0, 999, -1_234, 12_345.678, 1_234_567].map(count)).toEqual(["0", "999", "-1,234", "12,345.678", "1,234,567"])
  expect([99_999.4, 100_000, 999_949, 999_950, 1_250_001, 3.4e12, 5.6e15].map(compact)).toEqual([
    "99,999",
    "100K",
    "999.9K",
    "1M",
    "1.3M",
    "3.4T",
    "5,600T",
  ])
  fc.assert(
    fc.property(fc.integer({ min: -(10 ** 14), max: 10 ** 14 }), (value) => {
      expect(count(value)).toBe(dollars.format(value))
      // Of the two, one rounds a half up and the other uses its binary value.
      if (Math.abs(value) >= 100_000 && value % 10 !== 0) expect(compact(value)).toBe(short.format(value))
    }),
  )
})

test("instants are formatted in their time zone as by Intl", () => {
  const options = { month: "long", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const
  const zoneOf = (offset: number) =>
    `${offset < 0 ? "-" : "+"}${[Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((each) => String(each).padStart(2, "0")).join(":")}`
  const instant = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) })
  fc.assert(
    fc.property(instant, fc.integer({ min: -48, max: 56 }), (ms, quarters) => {
      const offset = quarters * 15
      const intl = new Intl.DateTimeFormat("en-GB", {
        ...options,
        day: "numeric",
        year: "numeric",
        weekday: "long",
        timeZone: zoneOf(offset),
      })
      const expected = Object.fromEntries(intl.formatToParts(ms).map(({ type, value }) => [type, value]))
      const { zone: _, day, year, ...parts } = calendarOf(ms, offset)
      const { literal: __, month = "", ...rest } = expected
      expect({ ...parts, day: String(day), year: String(year) }).toEqual({ ...rest, month: month.slice(0, 3) })
    }),
  )
  expect([0, 60, 330, -150, -480].map((offset) => calendarOf(0, offset).zone)).toEqual([
    "UTC",
    "UTC+1",
    "UTC+5:30",
    "UTC−2:30",
    "UTC−8",
  ])
})

test("a provider reachable only with BYOK has the name that its calls have", () => {
  expect(["openai", "z-ai", "vendor-of-nobody"].map(providerName)).toEqual(["OpenAI", "Z.AI", "vendor-of-nobody"])
  const own = [{ slug: "team", name: "Team GPU" }]
  expect(findProvider("OpenAI", own)).toEqual({ slug: "openai", name: "OpenAI" })
  expect(findProvider("Team GPU", own)).toEqual({ slug: "team", name: "Team GPU" })
  expect(findProvider("constructor", own)).toEqual({ slug: "constructor", name: "constructor" })
  expect(batchProviders.map(({ slug }) => slug)).toEqual(["anthropic", "openai"])
})

test("a duration is never rounded to 60 seconds or 1000 milliseconds", () => {
  expect([999.4, 999.6, 9_994, 59_940, 59_990, 119_600, 3_599_900].map(duration)).toEqual([
    "999 ms",
    "1.00 s",
    "9.99 s",
    "59.9 s",
    "1 min 0 s",
    "2 min 0 s",
    "60 min 0 s",
  ])
})

test("an exact amount below zero has its sign before the currency", () => {
  expect([exactUsd(-5), exactUsd(-0.000000001)]).toEqual(["−$5.00", "−$0.000000001"])
})
