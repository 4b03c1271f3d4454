import * as fc from "fast-check"
import { expect, test } from "vitest"
import { spread } from "../../../src/console/ui/charts/series.ts"
import { toSeries } from "../../../src/console/pages/overview/series.ts"

const times = [0, 60_000]
const date = (step: number) => new Date(times[step] ?? 0).toISOString()
const row = (model: string, step: number, values: object) => ({ model, date: date(step), ...values })
const shared = { times, dimension: "model", name: (id: string) => id }

test("sums of a step without calls are zero, and the smallest series are merged into other", () => {
  const rows = ["a", "b", "c", "d", "e", "f", "g"].map((model, index) => row(model, 0, { usage: 10 - index }))
  const series = toSeries(rows, { ...shared, metric: "usage", isRate: false })
  expect(series.map(({ label }) => label)).toEqual(["a", "b", "c", "d", "e", "other"])
  expect(series[0]?.values).toEqual([10, 0])
  expect(series.at(-1)?.values).toEqual([9, 0])
})

test("means cover the models with the most calls, are null in a step without calls, and are never added up", () => {
  const rows = ["a", "b", "c", "d", "e", "f", "g"].map((model, index) =>
    row(model, 1, { latency: 100, requests: index, usage: 0 }),
  )
  const series = toSeries(rows, { ...shared, metric: "latency", isRate: true })
  expect(series.map(({ label }) => label)).toEqual(["g", "f", "e", "d", "c"])
  expect(series[0]?.values).toEqual([null, 100])
  // Only failed calls: without a time to first token.
  const failed = toSeries([row("a", 0, { latency: 0, requests: 0 })], { ...shared, metric: "latency", isRate: true })
  expect(failed[0]?.values).toEqual([null, null])
})

test("labels beside a chart keep their order, never overlap and stay inside", () => {
  expect(spread([10, 12, 100], 18, 150)).toEqual([10, 28, 100])
  expect(spread([149, 150], 18, 150)).toEqual([132, 150])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 3 }), (tops) => {
      const placed = spread(tops, 18, 150).toSorted((a, b) => a - b)
      for (const [index, top] of placed.entries()) {
        expect(top).toBeGreaterThanOrEqual(0)
        expect(top).toBeLessThanOrEqual(150)
        if (index > 0) expect(top - (placed[index - 1] ?? 0)).toBeGreaterThanOrEqual(18)
      }
    }),
  )
})
