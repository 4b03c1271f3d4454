import * as fc from "fast-check"
import { expect, test } from "vitest"
import { resetAt, windowOf } from "../../../src/console/format/windows.ts"
import { windowEnd, windowStart } from "../../../src/money/windows.ts"

const INTERVALS = ["daily", "weekly", "monthly"] as const

test("the calendar of a limit has the window that the gateway counts in", () => {
  const instants = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2032, 0, 1) })
  fc.assert(
    fc.property(fc.constantFrom(...INTERVALS), instants, (interval, now) => {
      const window = windowOf(interval, now)
      expect(window?.from).toBe(windowStart(interval, now))
      expect(window?.to).toBe(windowEnd(interval, now))
      expect(resetAt(interval, now)).toBe(window?.to)
    }),
  )
})

test("a month has a cell for each day, and a lifetime limit has no calendar", () => {
  expect(windowOf("monthly", Date.UTC(2028, 1, 10))?.cells).toHaveLength(29)
  expect(
    windowOf("weekly", Date.UTC(2026, 0, 4))
      ?.cells.map(({ label }) => label)
      .join(""),
  ).toBe("MTWTFSS")
  expect(windowOf("lifetime", 0)).toBeNull()
  expect(windowOf(null, 0)).toBeNull()
})
