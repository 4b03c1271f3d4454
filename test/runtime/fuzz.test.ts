import { expect, test } from "vitest"
import { fuzzFrames } from "../fuzz/frames/run.ts"
import { fuzz } from "../fuzz/fuzz.ts"

test("500 generated requests with broken bodies and providers get correct responses or correct errors", async () => {
  const { requests, faults, exceptions } = await fuzz({ seed: 1, count: 500 })
  expect(faults.map(({ what, request, answer }) => `${what}\n${request}\n${answer}`)).toEqual([])
  expect(exceptions).toEqual([])
  expect(requests).toBe(500)
})

test("400 calls to providers with broken responses get readable streams or correct errors", async () => {
  const { calls, faults, exceptions, openHolds } = await fuzzFrames({ seed: 1, count: 400 })
  expect(faults).toEqual([])
  expect({ calls, exceptions, openHolds }).toEqual({ calls: 400, exceptions: [], openHolds: 0 })
})
