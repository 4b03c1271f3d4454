import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toLimitAlert } from "../../src/alerts/message.ts"
import { workspaceScope } from "../../src/ledger/scopes.ts"

const USD = 1_000_000_000
const refused = (needed: number, spent: number, limit: number) =>
  toLimitAlert(
    {
      id: "a",
      organizationId: "o",
      workspaceId: "w",
      scope: workspaceScope("w"),
      interval: "daily",
      windowStart: 0,
      threshold: null,
      limitNano: limit * USD,
      spentNano: spent * USD,
      neededNano: needed * USD,
      at: 0,
    },
    { name: "Research", workspace: "Research" },
  ).message

test("a rejection says that running requests hold the rest of a budget that is not spent", () => {
  expect(refused(1, 4, 10)).toBe(
    'Workspace "Research" rejected a call: it needed at least 1 USD, and 4 of 10 USD of its daily budget are spent; running requests hold the rest.',
  )
  expect(refused(7, 4, 10)).toMatch(/are spent\.$/)
})

test("a rejection names running requests exactly if the call fits beside what is spent", () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), fc.nat(1000), (needed, spent, limit) => {
      expect(refused(needed, spent, limit).includes("running requests")).toBe(needed + spent <= limit)
    }),
  )
})
