import { expect, test } from "vitest"
import { changesOf } from "../../../src/console/api/changes.ts"
import { matchPath } from "../../../src/console/state/paths.ts"

test("a change has only the fields that differ, compared by value", () => {
  const before = { name: "a", limit: 5, models: ["x"], headers: { a: "1" } }
  expect(changesOf(before, { ...before, models: ["x"], headers: { a: "1" } })).toEqual({})
  expect(changesOf(before, { ...before, limit: 6, models: [] })).toEqual({ limit: 6, models: [] })
})

test("a path with a wrong escape matches with its text", () => {
  expect(matchPath("/keys/:hash", "/keys/100%")).toEqual({ hash: "100%" })
  expect(matchPath("/models/:id*", "/models/author/model%3Afree/%E0")).toEqual({ id: "author/model:free/%E0" })
})
