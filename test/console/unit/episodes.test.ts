import * as fc from "fast-check"
import { expect, test } from "vitest"
import { episodesOf, type Minute } from "../../../src/console/format/episodes.ts"

const MINUTE = 60_000
const minute = (index: number, failed: number, firstToken: number | null = 300): Minute => ({
  at: index * MINUTE,
  calls: 10,
  failed,
  firstToken,
})

test("a provider that failed and recovered has one episode from its first bad to its first good minute", () => {
  const failures = [0, 0, 5, 9, 0, 4, 0, 0]
  expect(episodesOf(failures.map((failed, index) => minute(index, failed)))).toEqual([
    { kind: "failing", from: 2 * MINUTE, last: 5 * MINUTE, to: 6 * MINUTE, calls: 30, failed: 18 },
  ])
})

test("slow answers are an episode against the median, and a difference of some milliseconds is not", () => {
  const slow = [300, 300, 1_900, 2_000, 300].map((ms, index) => minute(index, 0, ms))
  expect(episodesOf(slow)).toMatchObject([{ kind: "slow", from: 2 * MINUTE, to: 4 * MINUTE }])
  const fast = [20, 20, 90, 20].map((ms, index) => minute(index, 0, ms))
  expect(episodesOf(fast)).toEqual([])
})

test("an episode without later calls lasts", () => {
  expect(episodesOf([minute(0, 0), minute(1, 10, null)])).toMatchObject([{ kind: "failing", to: null }])
})

test("episodes are in order, do not overlap and begin before they end", () => {
  const minutes = fc.array(
    fc.record({ failed: fc.integer({ min: 0, max: 10 }), ms: fc.integer({ max: 9_000, min: 1 }) }),
  )
  fc.assert(
    fc.property(minutes, (given) => {
      const episodes = episodesOf(given.map(({ failed, ms }, index) => minute(index, failed, ms)))
      for (const [index, { from, to }] of episodes.entries()) {
        if (to !== null) expect(to).toBeGreaterThan(from)
        else expect(index).toBe(episodes.length - 1)
        expect(from).toBeGreaterThanOrEqual(episodes[index - 1]?.to ?? 0)
      }
    }),
  )
})
