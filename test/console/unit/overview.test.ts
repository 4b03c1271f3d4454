import { expect, test } from "vitest"
import { describeCause, spendChanges } from "../../../src/console/pages/overview/causes.ts"
import { limitReachedAt } from "../../../src/console/pages/overview/forecast.ts"

const row = (model: string, requests: number, tokens: number, usage: number) => ({
  model,
  requests,
  total_tokens: tokens,
  usage,
})
const changes = (now: ReturnType<typeof row>[], before: ReturnType<typeof row>[], scale = 1) =>
  spendChanges(now, before, { dimension: "model", scale })
const causes = (now: ReturnType<typeof row>[], before: ReturnType<typeof row>[]) =>
  changes(now, before).map((change) => [change.id, describeCause(change)])

test("a change of spend has the factor that changed most as its cause", () => {
  expect(causes([row("a", 30, 3_000, 3)], [row("a", 10, 1_000, 1)])).toEqual([["a", "more calls (× 3.0)"]])
  expect(causes([row("a", 10, 4_000, 4)], [row("a", 11, 1_100, 1.1)])).toEqual([["a", "more tokens per call (× 4.0)"]])
  expect(causes([row("a", 10, 1_000, 0.5)], [row("a", 10, 1_000, 1)])).toEqual([["a", "lower price per token (−50 %)"]])
})

test("changes are ranked by amount; new and ended spend is named, and small changes are left out", () => {
  const now = [row("new", 1, 10, 2), row("same", 10, 100, 5), row("more", 20, 200, 9)]
  const before = [row("same", 10, 100, 4.9), row("more", 10, 100, 4), row("ended", 1, 10, 1)]
  expect(changes(now, before).map(({ id, kind }) => [id, kind])).toEqual([
    ["more", "grown"],
    ["new", "new"],
    ["ended", "ended"],
  ])
  // Half as long a period, with half of the spend, is no change.
  expect(changes([row("a", 10, 100, 10)], [row("a", 5, 50, 5)], 2)).toEqual([])
})

test("rows of several dimensions are summed by one", () => {
  const now = [
    { ...row("a", 1, 100, 1), app: "x" },
    { ...row("b", 2, 300, 2), app: "x" },
  ]
  const before = [{ ...row("a", 1, 100, 1), app: "x" }]
  const [change] = spendChanges(now, before, { dimension: "app", scale: 1 })
  expect(change).toMatchObject({ id: "x", delta: 2, cause: { name: "calls", factor: 3 } })
})

const HOUR = 3_600_000
const midnight = Date.UTC(2026, 10, 28)
const limit = (spent: number, more: object = {}) => ({
  limit: 10,
  spent,
  held: 0,
  left: 10 - spent,
  interval: "daily" as const,
  resets_at: new Date(midnight).toISOString(),
  ...more,
})

test("a limit is reached at the pace of its window, unless it resets before", () => {
  const noon = midnight - 12 * HOUR
  expect(limitReachedAt(limit(8), noon)).toBe(noon + 3 * HOUR)
  expect(limitReachedAt(limit(4), noon)).toBeNull()
  expect(limitReachedAt(limit(0), noon)).toBeNull()
  expect(limitReachedAt(limit(10), noon)).toBeNull()
  expect(limitReachedAt(limit(8, { interval: null, resets_at: null }), noon)).toBeNull()
  // The first minutes of a day have no pace.
  expect(limitReachedAt(limit(8), midnight - 23.9 * HOUR)).toBeNull()
})
