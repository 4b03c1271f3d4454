import { describe, expect, test } from "vitest"
import { ExpiringMap } from "../../src/support/time/expiring-map.ts"

describe("an expiring map", () => {
  test("returns an entry until it expires", () => {
    const map = new ExpiringMap<string, undefined>(10)
    map.set("a", undefined, 100)
    expect(map.get("a", 99)).toMatchObject({ value: undefined })
    expect(map.get("a", 100)).toBeUndefined()
    expect(map.get("b", 0)).toBeUndefined()
  })

  test("does not return an entry from before the clock was set back", () => {
    const map = new ExpiringMap<string, number>(10, { longestMs: 10 })
    map.set("a", 1, 110)
    expect(map.get("a", 100)).toMatchObject({ value: 1 })
    expect(map.get("a", 99)).toBeUndefined()
  })

  test("drops its oldest entries for a new one, and an entry that is set again is new", () => {
    const map = new ExpiringMap<string, number>(2)
    for (const key of ["a", "b", "a", "c"]) map.set(key, 1, 100)
    expect(["a", "b", "c"].filter((key) => map.get(key, 0))).toEqual(["a", "c"])
  })

  test("counts sizes, and keeps an entry that is larger than the map alone", () => {
    const map = new ExpiringMap<string, string>(10, { sizeOf: ({ length }) => length })
    map.set("a", "1234", 100)
    map.set("b", "123456", 100)
    map.set("a", "12", 100)
    map.set("c", "12", 100)
    expect(["a", "b", "c"].filter((key) => map.get(key, 0))).toEqual(["a", "b", "c"])
    map.set("d", "12345678901", 100)
    expect(["a", "b", "c", "d"].filter((key) => map.get(key, 0))).toEqual(["d"])
  })

  test("frees deleted, matched and expired entries", () => {
    const map = new ExpiringMap<string, number>(3)
    for (const [index, key] of ["a", "b", "c"].entries()) map.set(key, index, 100 + index)
    map.deleteWhere((value) => value === 1)
    map.prune(100)
    map.delete("unknown")
    map.set("d", 3, 200)
    map.set("e", 4, 200)
    expect(["a", "b", "c", "d", "e"].filter((key) => map.get(key, 0))).toEqual(["c", "d", "e"])
  })
})
