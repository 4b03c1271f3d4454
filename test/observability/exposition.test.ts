import * as fc from "fast-check"
import { expect, test } from "vitest"
import { BUCKETS_MS, toExposition } from "../../src/observability/metrics/exposition.ts"
import { parseExposition } from "./exposition.ts"

const count = fc.integer({ min: 0, max: 1_000_000 })
const buckets = fc.array(count, { minLength: BUCKETS_MS.length + 1, maxLength: BUCKETS_MS.length + 1 })
const series = fc.record({
  organization_id: fc.string(),
  model: fc.string(),
  provider: fc.string(),
  status: fc.integer({ min: 0, max: 599 }),
  calls: count,
  errors: count,
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  cost_nano: count,
  byok_cost_nano: count,
  duration_ms: count,
  first_token_ms: count,
  first_token_count: count,
  duration_buckets: buckets.map((all) => JSON.stringify(all)),
  first_token_buckets: buckets.map((all) => JSON.stringify(all)),
})
const selector = (row: { organization_id: string; model: string; provider: string; status: number }) =>
  JSON.stringify([row.organization_id, row.model, row.provider, row.status])

test("metrics are well-formed for any names of models and providers", () => {
  fc.assert(
    fc.property(fc.uniqueArray(series, { selector, maxLength: 5 }), (rows) => {
      const ledger = { records: 1, broadcasts: 2, holds: 3 }
      const families = parseExposition(toExposition(rows, { pending: 4, dead: 5, ledger }))
      const calls = families.get("gateway_calls_total") ?? []
      expect(calls.map(({ labels }) => labels["model"])).toEqual(rows.map(({ model }) => model))
      expect(calls.map(({ value }) => value)).toEqual(rows.map((row) => row.calls))
      expect(families.get("gateway_destination_backlog_calls")?.[0]?.value).toBe(4)
    }),
  )
})
