import * as fc from "fast-check"
import { expect, test } from "vitest"
import { addSpent, newCounters, rollForward } from "../../src/ledger/limits.ts"
import { RESET_INTERVALS, windowEnd, windowStart } from "../../src/money/windows.ts"

const at = (iso: string) => Date.parse(iso)

test.each([
  ["daily", "2026-11-21T23:59:59.999Z", "2026-11-21T00:00:00Z"],
  ["daily", "2026-11-22T00:00:00.000Z", "2026-11-22T00:00:00Z"],
  ["weekly", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z"],
  ["weekly", "2026-11-23T00:00:00.000Z", "2026-11-23T00:00:00Z"],
  ["monthly", "2026-11-30T23:59:59.999Z", "2026-11-01T00:00:00Z"],
  ["monthly", "2026-12-01T00:00:00.000Z", "2026-12-01T00:00:00Z"],
  ["monthly", "2028-02-29T12:00:00.000Z", "2028-02-01T00:00:00Z"],
] as const)("the %s window of %s began at %s", (interval, now, start) => {
  expect(windowStart(interval, at(now))).toBe(at(start))
})

test("counters reset at UTC midnight, on Monday and on the 1st, and the total never", () => {
  const amount = { spent: 5, byok: 1 }
  const saturday = addSpent(newCounters(at("2026-11-28T12:00:00Z")), amount, at("2026-11-28T12:00:00Z"))
  const spent = (now: string) => {
    const { total, daily, weekly, monthly } = rollForward(saturday, at(now))
    return [total, daily, weekly, monthly].map((window) => window.spent)
  }
  expect(spent("2026-11-28T23:59:59Z")).toEqual([5, 5, 5, 5])
  expect(spent("2026-11-29T00:00:00Z")).toEqual([5, 0, 5, 5])
  expect(spent("2026-11-30T00:00:00Z")).toEqual([5, 0, 0, 5])
  expect(spent("2026-12-01T00:00:00Z")).toEqual([5, 0, 0, 0])
})

test("a clock that steps back over midnight does not reset a window again", () => {
  const night = addSpent(newCounters(at("2026-11-29T00:00:01Z")), { spent: 5, byok: 0 }, at("2026-11-29T00:00:01Z"))
  expect(rollForward(night, at("2026-11-28T23:59:59Z")).daily.spent).toBe(5)
})

test("windows of a clock that was years ahead are reset when it is right again", () => {
  const wrong = addSpent(newCounters(at("2036-05-05T12:00:00Z")), { spent: 5, byok: 0 }, at("2036-05-05T12:00:00Z"))
  const right = addSpent(wrong, { spent: 3, byok: 0 }, at("2026-11-28T12:00:00Z"))
  expect(right).toEqual({
    total: { spent: 8, byok: 0 },
    daily: { spent: 3, byok: 0, start: at("2026-11-28T00:00:00Z") },
    weekly: { spent: 3, byok: 0, start: at("2026-11-23T00:00:00Z") },
    monthly: { spent: 3, byok: 0, start: at("2026-11-01T00:00:00Z") },
  })
})

test("windows follow each other without a gap or an overlap, in leap years and at the ends of months too", () => {
  const intervals = fc.constantFrom(...RESET_INTERVALS)
  const instants = fc.integer({ min: at("2000-01-03T00:00:00Z"), max: at("2100-12-31T00:00:00Z") })
  fc.assert(
    fc.property(intervals, instants, (interval, now) => {
      const [start, end] = [windowStart(interval, now), windowEnd(interval, now)]
      expect(start <= now && now < end).toBe(true)
      expect(windowStart(interval, end - 1)).toBe(start)
      expect(windowStart(interval, end)).toBe(end)
      expect(new Date(end).toISOString()).toMatch(interval === "monthly" ? /-01T00:00:00.000Z$/ : /T00:00:00.000Z$/)
    }),
  )
})
