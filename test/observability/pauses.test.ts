import { expect, test } from "vitest"
import { afterFailure } from "../../src/observability/delivery/retry.ts"

test("a pause ends at an integer millisecond, as its column requires", () => {
  let breaker = { failures: 0, pausedUntil: 0 }
  for (let failure = 0; failure < 300; failure++) {
    breaker = afterFailure(breaker, 1_700_000_000_000, failure % 3 === 0 ? 1_234.5 : 0)
    expect(Number.isInteger(breaker.pausedUntil)).toBe(true)
  }
})
