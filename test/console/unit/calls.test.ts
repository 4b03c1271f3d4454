import { expect, test } from "vitest"
import { missesCalls } from "../../../src/console/pages/calls/use-calls.ts"

const rows = (...ids: string[]) => ids.map((id) => ({ id }))

test("new calls leave a gap if their page is full and ends above the shown calls", () => {
  const page = (has_more: boolean, ...ids: string[]) => ({ has_more, data: rows(...ids) })
  expect(missesCalls(page(true, "9", "8"), rows("3", "2"))).toBe(true)
  expect(missesCalls(page(true, "4", "3"), rows("3", "2"))).toBe(false)
  expect(missesCalls(page(false, "9", "8"), rows("3", "2"))).toBe(false)
  expect(missesCalls(page(true, "9", "8"), [])).toBe(false)
})
