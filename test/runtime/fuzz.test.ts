import { expect, test } from "vitest"
import { fuzz } from "../fuzz/fuzz.ts"

test("500 generated requests with broken bodies and providers get right answers or correct errors", async () => {
  const { requests, faults, exceptions } = await fuzz({ seed: 1, count: 500 })
  expect(faults.map(({ what, request, answer }) => `${what}\n${request}\n${answer}`)).toEqual([])
  expect(exceptions).toEqual([])
  expect(requests).toBe(500)
})
