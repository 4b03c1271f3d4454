import { expect, test } from "vitest"
import { callsRejectedBy, windowOf } from "../../../src/console/pages/keys/limit-effect.ts"

const calls = (...costs: number[]) => costs.map((cost) => ({ cost, byok_cost: 1 }))
const spent = (amount: number) => ({ spent: amount, byok: false })

test("a limit would have refused the calls that began when it was spent", () => {
  expect(callsRejectedBy(calls(1, 1, 1), 3, spent(3))).toBe(0)
  expect(callsRejectedBy(calls(1, 1, 1), 2, spent(3))).toBe(1)
  expect(callsRejectedBy(calls(1, 1, 1), 0, spent(3))).toBe(3)
  // The oldest call, last in the list, exceeds it alone.
  expect(callsRejectedBy(calls(0.1, 5), 1, spent(5.1))).toBe(1)
  // Earlier calls of the window, which are not in the list, count.
  expect(callsRejectedBy(calls(1, 1), 10, spent(11))).toBe(1)
  expect(callsRejectedBy(calls(1, 1), 10, spent(14))).toBe(2)
  expect(callsRejectedBy(calls(0, 0), 2, { spent: 2, byok: true })).toBe(0)
  expect(callsRejectedBy(calls(0, 0), 1, { spent: 2, byok: true })).toBe(1)
})

test("a window begins where the one before ended", () => {
  const wednesday = Date.UTC(2026, 10, 25, 13)
  expect(windowOf("daily", wednesday)?.from).toBe(Date.UTC(2026, 10, 25))
  expect(windowOf("weekly", wednesday)?.from).toBe(Date.UTC(2026, 10, 23))
  expect(windowOf("monthly", wednesday)?.from).toBe(Date.UTC(2026, 10, 1))
  expect(windowOf("", wednesday)).toBeNull()
})
