import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toCsv } from "../../../src/console/format/csv.ts"
import { change, exactUsd, perToken, pricePerMillion, usd } from "../../../src/console/format/number.ts"

test("amounts show the digits that matter, and never round a charge to zero", () => {
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
      expect(Math.round(Number(exactUsd(nano / 1e9).slice(1)) * 1e9)).toBe(nano)
    }),
  )
})

test("a price of a million tokens is a price of a token, exactly", () => {
  expect(perToken("2.5")).toBe("0.0000025")
  expect(perToken("0")).toBe("0")
  expect(perToken("1000000")).toBe("1")
  expect(perToken("0.000001")).toBe("0.000000000001")
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 999_999 }), (whole, micro) => {
      const digits = (text: string) => {
        const [integer = "", fraction = ""] = text.split(".")
        return BigInt(integer) * 10n ** 12n + BigInt(fraction.padEnd(12, "0"))
      }
      const text = `${whole}.${String(micro).padStart(6, "0")}`
      expect(digits(perToken(text))).toBe(BigInt(whole) * 10n ** 6n + BigInt(micro))
    }),
  )
  expect(pricePerMillion("0")).toBe("free")
})

test("a change against nothing has no percentage", () => {
  expect(change(5, 0)).toBeNull()
  expect(change(112, 100)).toBe("+12 %")
  expect(change(50, 100)).toBe("−50 %")
})

test("a cell that begins like a formula is text in a spreadsheet", () => {
  expect(toCsv([{ app: '=HYPERLINK("http://evil.test")', usage: -1 }])).toBe(
    `app,usage\r\n"'=HYPERLINK(""http://evil.test"")",-1`,
  )
})
