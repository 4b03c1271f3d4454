import * as fc from "fast-check"
import { expect, test } from "vitest"
import { fitColumns } from "../../../src/console/ui/hooks/fit-columns.ts"

const columns = [
  { id: "name", width: "minmax(160px, 2fr)" },
  { id: "url", width: "minmax(180px, 2.4fr)", optional: 1 },
  { id: "protocol", width: "124px", optional: 2 },
  { id: "spent", width: "var(--money)" },
]
const idsAt = (available: number, money = 92) => fitColumns(columns, { available, money }).map(({ id }) => id)

test("a wide table has all its columns", () => {
  expect(idsAt(644)).toEqual(["name", "url", "protocol", "spent"])
})

test("a narrower table leaves out the columns with the highest rank first, and never those without", () => {
  expect(idsAt(643)).toEqual(["name", "url", "spent"])
  expect(idsAt(500)).toEqual(["name", "spent"])
  expect(idsAt(10)).toEqual(["name", "spent"])
})

test("exact amounts of money need more width", () => {
  expect(idsAt(644, 124)).toEqual(["name", "url", "spent"])
})

test("columns keep their order, and a wider table has at least the columns of a narrower one", () => {
  const column = fc.record({
    width: fc.constantFrom("90px", "minmax(120px, 1fr)", "var(--money)"),
    optional: fc.option(fc.integer({ min: 1, max: 4 }), { nil: 0 }),
  })
  fc.assert(
    fc.property(fc.array(column), fc.nat(1500), fc.nat(1500), (all, a, b) => {
      const at = (available: number) => fitColumns(all, { available, money: 92 })
      const [narrow, wide] = [at(Math.min(a, b)), at(Math.max(a, b))]
      expect(narrow.every((each) => wide.includes(each))).toBe(true)
      expect(all.filter((each) => narrow.includes(each))).toEqual(narrow)
      expect(narrow).toEqual(expect.arrayContaining(all.filter(({ optional }) => optional === 0)))
    }),
  )
})
