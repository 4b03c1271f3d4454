import { expect, test } from "vitest"
import { jurisdictionOf, requireDatabaseIn } from "../../src/dev/deploy/jurisdiction.ts"

test.each([
  [{ vars: {}, r2_buckets: [{}] }, undefined],
  [{ vars: { JURISDICTION: "" }, r2_buckets: [{}] }, undefined],
  [{ vars: { JURISDICTION: "eu" }, r2_buckets: [{ jurisdiction: "eu" }] }, "eu"],
])("%j deploys to %s", (config, expected) => {
  expect(jurisdictionOf(config)).toBe(expected)
})

test.each([
  [{ vars: { JURISDICTION: "eu" }, r2_buckets: [{}] }, 'r2_buckets]] must have jurisdiction = "eu"'],
  [
    { vars: { JURISDICTION: "eu" }, r2_buckets: [{ jurisdiction: "us" }] },
    'r2_buckets]] must have jurisdiction = "eu"',
  ],
  [{ vars: {}, r2_buckets: [{ jurisdiction: "us" }] }, "vars] must have JURISDICTION"],
])("%j is rejected: files and objects would be in two places", (config, message) => {
  expect(() => jurisdictionOf(config)).toThrow(message)
})

test("a database of another jurisdiction is rejected, and one of unknown jurisdiction is accepted", () => {
  expect(() => requireDatabaseIn("eu", '{"jurisdiction":null}')).toThrow(/in no jurisdiction.*cannot be moved/)
  expect(() => requireDatabaseIn(undefined, '{"jurisdiction":"us"}')).toThrow(/set JURISDICTION to us/)
  for (const [jurisdiction, printed] of [
    ["eu", '{"jurisdiction":"eu"}'],
    [undefined, '{"jurisdiction":null}'],
    ["eu", '{"name":"gateway"}'],
  ] as const) {
    requireDatabaseIn(jurisdiction, printed)
  }
})
